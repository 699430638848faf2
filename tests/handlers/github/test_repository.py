from __future__ import annotations

import pytest

from tests.handlers.github.payloads import ADA, REF, events, names


@pytest.mark.parametrize("action", ["renamed", "transferred", "archived", "unarchived", "deleted"])
def test_a_repository_moved(action: str) -> None:
    (event,) = events("repository", {"action": action})
    assert (event.name, event.data) == ("repository_moved", {"repo": REF, "sender": ADA, "action": action})


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"action": "created"}, id="created"),
        pytest.param({"action": "edited"}, id="edited"),
        pytest.param({"action": "renamed", "repository": None}, id="null repository"),
        pytest.param({"action": "renamed", "installation": None}, id="null installation"),
    ],
)
def test_what_is_no_event(payload: dict[str, object]) -> None:
    assert names("repository", payload) == []
