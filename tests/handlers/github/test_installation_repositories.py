from __future__ import annotations

import pytest

from tests.handlers.github.payloads import REF, events, names

CHANGE: dict[str, object] = {
    "installation": {"id": 3, "account": {"id": 4, "login": "o"}},
    "repository": None,
    "repositories_added": [{"id": 1, "full_name": "o/r"}],
    "repositories_removed": [],
}


@pytest.mark.parametrize(
    ("action", "repositories"),
    [pytest.param("added", [REF], id="added"), pytest.param("removed", [], id="removed")],
)
def test_the_repositories_concerned(action: str, repositories: list[object]) -> None:
    (event,) = events("installation_repositories", {**CHANGE, "action": action})
    assert event.name == "installation_changed"
    assert (event.data["action"], event.data["account"], event.data["repositories"]) == (action, "o", repositories)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(
            {**CHANGE, "action": "added", "repositories_added": None}, ["installation_changed"], id="null list"
        ),
        pytest.param({**CHANGE, "action": "something_new"}, [], id="unread action"),
        pytest.param({**CHANGE, "action": "added", "installation": None}, [], id="null installation"),
    ],
)
def test_nulls_and_unread_actions(payload: dict[str, object], expected: list[str]) -> None:
    assert names("installation_repositories", payload) == expected
