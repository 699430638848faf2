from __future__ import annotations

import json

import httpx
import pytest

from handlers.ports import LineComment, Refused
from tests.infra.github.conftest import REPO, Hub

PULL = "/repos/octo/app/pulls/1"


async def test_reviews_of_ghosts_without_commit_and_of_unknown_state(hub: Hub) -> None:
    ada = {"id": 5, "login": "ada", "type": "User"}
    listed = [
        {"id": 2, "state": "APPROVED", "user": ada, "commit_id": "a" * 40, "submitted_at": "2026-01-02T00:00:00Z"},
        {"id": 1, "state": "BRAND_NEW", "user": None, "body": None, "submitted_at": "2026-01-01T00:00:00Z"},
        {"id": 3, "state": "PENDING", "user": ada, "commit_id": None},
    ]
    hub.router.get(f"{PULL}/reviews").respond(200, json=listed)
    found = await hub.ports.reviews.list(REPO, 1)
    assert [(r.id, r.state, r.commit, r.submitted_at) for r in found] == [
        (3, "pending", None, 0),
        (1, "brand_new", None, 1_767_225_600_000),
        (2, "approved", "a" * 40, 1_767_312_000_000),
    ]
    assert found[1].author is None


async def test_a_line_that_left_the_diff(hub: Hub) -> None:
    listed = [{"id": 1, "path": "a.py", "line": None, "body": None, "user": None, "pull_request_review_id": None}]
    hub.router.get(f"{PULL}/comments").respond(200, json=listed)
    assert list(await hub.ports.reviews.line_comments(REPO, 1)) == [LineComment(1, None, "a.py", None, "", None)]


async def test_one_who_cannot_be_asked_does_not_keep_the_others_from_it(hub: Hub) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)["reviewers"]
        return httpx.Response(422 if "stranger" in asked else 201, json={"message": "Reviews may only be requested"})

    route = hub.router.post(f"{PULL}/requested_reviewers").mock(side_effect=answer)
    await hub.ports.reviews.request(REPO, 1, ["ada", "stranger", "bob"])
    asked = [json.loads(call.request.content)["reviewers"] for call in route.calls]
    assert asked == [["ada", "stranger", "bob"], ["ada"], ["stranger"], ["bob"]]


async def test_nobody_to_ask_is_no_request(hub: Hub) -> None:
    await hub.ports.reviews.request(REPO, 1, [])
    assert not hub.router.calls


async def test_a_review_is_bound_to_its_commit(hub: Hub) -> None:
    route = hub.router.post(f"{PULL}/reviews").respond(200, json={"id": 8})
    comment = LineComment(0, None, "a.py", 3, "Hm", None)
    assert await hub.ports.reviews.post(REPO, 1, "a" * 40, "Text", [comment]) == 8
    body = json.loads(route.calls[0].request.content)
    assert (body["event"], body["commit_id"]) == ("COMMENT", "a" * 40)
    assert body["comments"] == [{"path": "a.py", "line": 3, "side": "RIGHT", "body": "Hm"}]


async def test_a_line_outside_the_diff_is_refused(hub: Hub) -> None:
    answer = {"message": "Unprocessable Entity", "errors": ["Line could not be resolved"]}
    hub.router.post(f"{PULL}/reviews").respond(422, json=answer)
    with pytest.raises(Refused, match="Line could not be resolved"):
        await hub.ports.reviews.post(REPO, 1, "a" * 40, "Text", [LineComment(0, None, "a.py", 3, "Hm", None)])
