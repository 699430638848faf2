from __future__ import annotations

import pytest

from tests.handlers.github.payloads import ADA, HEAD, REF, events, names

GROUP: dict[str, object] = {
    "head_sha": HEAD,
    "head_ref": "refs/heads/gh-readonly-queue/x",
    "base_ref": "refs/heads/main",
}


def test_a_queue_that_waits() -> None:
    (event,) = events("merge_group", {"action": "checks_requested", "merge_group": GROUP})
    assert event.name == "merge_group_requested"
    assert event.data == {"repo": REF, "sender": ADA, "head": HEAD, "base_ref": "main"}


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"action": "destroyed", "merge_group": GROUP}, id="gone again"),
        pytest.param({"action": "checks_requested", "merge_group": None}, id="null group"),
        pytest.param({"action": "checks_requested", "merge_group": {"head_sha": None}}, id="null commit"),
        pytest.param({"action": "checks_requested", "merge_group": GROUP, "installation": None}, id="no installation"),
    ],
)
def test_what_is_no_event(payload: dict[str, object]) -> None:
    assert names("merge_group", payload) == []
