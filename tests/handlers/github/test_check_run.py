from __future__ import annotations

import pytest

from handlers.github import translate
from tests.handlers.github.payloads import ADA, APP, AROUND, HEAD, REF, US, events, names

RUN: dict[str, object] = {
    "id": 8,
    "name": "seconder/security",
    "head_sha": HEAD,
    "external_id": "security:r1",
    "app": {"id": 77},
    "pull_requests": [],
}
PRESS: dict[str, object] = {
    "action": "requested_action",
    "check_run": RUN,
    "requested_action": {"identifier": "approve"},
}


def test_a_button() -> None:
    (event,) = events("check_run", PRESS)
    assert event.name == "gate_button_pressed"
    assert event.data == {
        "repo": REF,
        "sender": ADA,
        "head": HEAD,
        "check_name": "seconder/security",
        "check_run_id": 8,
        "external_id": "security:r1",
        "button": "approve",
    }


def test_asked_for_again() -> None:
    (event,) = events("check_run", {"action": "rerequested", "check_run": RUN})
    assert (event.name, event.data["head"], event.data["name"]) == ("checks_rerequested", HEAD, "seconder/security")


@pytest.mark.parametrize("payload", [PRESS, {"action": "rerequested", "check_run": RUN}])
def test_what_repeats_byte_for_byte_is_not_recognised_by_its_body(payload: dict[str, object]) -> None:
    assert translate("check_run", {**AROUND, **payload}, "d-1", APP).dedupe_body is False


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({**PRESS, "action": "completed"}, id="our own result"),
        pytest.param({**PRESS, "action": "created"}, id="our own start"),
        pytest.param({**PRESS, "check_run": {**RUN, "app": {"id": 78}}}, id="another App's button"),
        pytest.param({**PRESS, "check_run": {**RUN, "app": None}}, id="null app"),
        pytest.param({**PRESS, "check_run": {**RUN, "head_sha": None}}, id="null commit"),
        pytest.param({**PRESS, "check_run": {**RUN, "name": None}}, id="null name"),
        pytest.param({**PRESS, "check_run": None}, id="null check run"),
        pytest.param({**PRESS, "requested_action": None}, id="null button"),
        pytest.param({**PRESS, "requested_action": {"identifier": ""}}, id="nameless button"),
        pytest.param({**PRESS, "sender": US}, id="ourselves"),
        pytest.param({**PRESS, "installation": None}, id="null installation"),
    ],
)
def test_what_is_no_event(payload: dict[str, object]) -> None:
    translation = translate("check_run", {**AROUND, **payload}, "d-1", APP)
    assert (names("check_run", payload), translation.dedupe_body) == ([], True)
