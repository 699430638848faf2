from __future__ import annotations

import json
from dataclasses import replace

import pytest

from handlers.ports import Annotation, Button, CheckState, Refused
from tests.infra.github.conftest import APP_ID, REPO, Hub

HEAD = "a" * 40
STATE = CheckState("seconder/quality", HEAD, "q:1", None, "Waits", "For two")


def run(number: int, **fields: object) -> dict[str, object]:
    usual = {"name": "seconder/quality", "head_sha": HEAD, "status": "completed", "app": {"id": APP_ID}}
    return {"id": number, **usual, **fields}


async def test_only_our_own_runs_of_that_name(hub: Hub) -> None:
    listed = [
        run(1, conclusion="some_new_word", external_id="", output=None),
        run(2, app={"id": 8}),
        run(3, app=None),
        run(4, name="Seconder/Quality"),
        run(5, status="brand_new", external_id="q:1", output={"title": "T", "summary": None}),
    ]
    body = {"total_count": 5, "check_runs": listed}
    route = hub.router.get(f"/repos/octo/app/commits/{HEAD}/check-runs").respond(200, json=body)
    found = await hub.ports.checks.find(REPO, HEAD, "seconder/quality")
    assert [(c.id, c.external_id, c.title) for c in found] == [(5, "q:1", "T"), (1, None, None)]
    assert (found[0].status, found[1].conclusion) == ("brand_new", "some_new_word")
    query = dict(route.calls[0].request.url.params)
    assert query == {"check_name": "seconder/quality", "app_id": "7", "filter": "all", "per_page": "100"}


async def test_an_update_takes_old_buttons_away(hub: Hub) -> None:
    route = hub.router.patch("/repos/octo/app/check-runs/3").respond(200, json=run(3))
    await hub.ports.checks.update(REPO, 3, STATE)
    body = json.loads(route.calls[0].request.content)
    assert (body["status"], body["actions"]) == ("in_progress", [])
    assert "conclusion" not in body


async def test_annotations_are_sent_once_with_a_new_check(hub: Hub) -> None:
    """GitHub adds those of an update to the ones that are there."""
    made = hub.router.post("/repos/octo/app/check-runs").respond(201, json=run(3))
    changed = hub.router.patch("/repos/octo/app/check-runs/3").respond(200, json=run(3))
    state = replace(STATE, annotations=(Annotation("src/auth.py", 3, "warning", "word.auth", "Why."),))
    await hub.ports.checks.create(REPO, state)
    await hub.ports.checks.update(REPO, 3, state)
    assert json.loads(made.calls[0].request.content)["output"]["annotations"] == [
        {
            "path": "src/auth.py",
            "start_line": 3,
            "end_line": 3,
            "annotation_level": "warning",
            "title": "word.auth",
            "message": "Why.",
        }
    ]
    assert "annotations" not in json.loads(changed.calls[0].request.content)["output"]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        pytest.param(replace(STATE, summary="x" * 65_536), "summary", id="a long summary"),
        pytest.param(replace(STATE, text="x" * 65_536), "text", id="a long text"),
        pytest.param(replace(STATE, title="x" * 256), "title", id="a long title"),
        pytest.param(replace(STATE, buttons=(Button("a", "b", "c"),) * 4), "4 buttons", id="four buttons"),
        pytest.param(
            replace(STATE, annotations=(Annotation("a", 1, "notice", "b", "c"),) * 51), "51 ann", id="51 annotations"
        ),
        pytest.param(replace(STATE, buttons=(Button("x" * 21, "b", "c"),)), "label", id="a long label"),
        pytest.param(replace(STATE, buttons=(Button("a", "x" * 41, "c"),)), "description", id="a long description"),
        pytest.param(replace(STATE, buttons=(Button("a", "b", "x" * 21),)), "identifier", id="a long identifier"),
    ],
)
async def test_what_does_not_fit_is_never_sent(hub: Hub, state: CheckState, said: str) -> None:
    with pytest.raises(Refused, match=said):
        await hub.ports.checks.create(REPO, state)
    assert not hub.router.calls
