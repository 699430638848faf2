from __future__ import annotations

import pytest

from handlers.github import translate
from tests.handlers.github.payloads import ADA, APP, AROUND, HEAD, REF, US, WHEN, WHEN_MS, events, names

CI: dict[str, object] = {"id": 15368, "slug": "github-actions", "name": "GitHub Actions"}


def suite(conclusion: object = "success", action: str = "completed", app: object = CI) -> dict[str, object]:
    """A check suite on the head."""
    given = {"head_sha": HEAD, "conclusion": conclusion, "updated_at": WHEN, "app": app, "pull_requests": []}
    return {"action": action, "check_suite": given}


def test_a_result_names_its_app() -> None:
    (event,) = events("check_suite", suite())
    assert (event.name, event.at) == ("ci_passed", WHEN_MS)
    assert event.data == {"repo": REF, "sender": ADA, "head": HEAD, "name": "GitHub Actions", "app_id": 15368}


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(suite("success"), ["ci_passed"], id="success"),
        pytest.param(suite("neutral"), ["ci_passed"], id="neutral counts as passing"),
        pytest.param(suite("skipped"), ["ci_passed"], id="skipped counts as passing"),
        pytest.param(suite("failure"), ["ci_failed"], id="failure"),
        pytest.param(suite("timed_out"), ["ci_failed"], id="timed out"),
        pytest.param(suite("startup_failure"), ["ci_failed"], id="could not start"),
        pytest.param(suite("cancelled"), [], id="cancelled is no result"),
        pytest.param(suite("action_required"), [], id="waits for a person"),
        pytest.param(suite("stale"), [], id="stale"),
        pytest.param(suite("a word of next year"), [], id="unknown conclusion"),
        pytest.param(suite(None), [], id="null conclusion"),
        pytest.param(suite("success", "requested"), [], id="not finished"),
        pytest.param(suite("success", app={"id": 77}), [], id="our own suite"),
        pytest.param(suite("success", app=None), [], id="null app"),
        pytest.param(suite("success", app={"id": None}), ["ci_passed"], id="nameless app"),
        pytest.param(suite(None, "rerequested", {"id": 77}), ["checks_rerequested"], id="ours asked for again"),
        pytest.param(suite(None, "rerequested"), [], id="another App's asked for again"),
        pytest.param({**suite(None, "rerequested", {"id": 77}), "sender": US}, [], id="ourselves"),
        pytest.param({"action": "completed", "check_suite": None}, [], id="null suite"),
        pytest.param({"action": "completed", "check_suite": {"head_sha": None, "app": CI}}, [], id="null commit"),
        pytest.param({**suite(), "installation": None}, [], id="null installation"),
    ],
)
def test_what_becomes_of_a_suite(payload: dict[str, object], expected: list[str]) -> None:
    assert names("check_suite", payload) == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(suite(None, "rerequested", {"id": 77}), False, id="asked for again"),
        pytest.param(suite(), True, id="a result"),
    ],
)
def test_only_requests_repeat_byte_for_byte(payload: dict[str, object], expected: bool) -> None:
    assert translate("check_suite", {**AROUND, **payload}, "d-1", APP).dedupe_body is expected
