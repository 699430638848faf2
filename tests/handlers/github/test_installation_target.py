from __future__ import annotations

import pytest

from tests.handlers.github.payloads import events, names

RENAMED: dict[str, object] = {
    "action": "renamed",
    "account": {"id": 4, "login": "new-name"},
    "changes": {"login": {"from": "old-name"}},
    "installation": {"id": 3},
    "repository": None,
}


def test_the_account_has_its_new_name() -> None:
    (event,) = events("installation_target", RENAMED)
    assert (event.name, event.data["action"], event.data["account"]) == ("installation_changed", "renamed", "new-name")


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({**RENAMED, "action": "something_new"}, id="unread action"),
        pytest.param({**RENAMED, "installation": None}, id="null installation"),
    ],
)
def test_what_is_no_event(payload: dict[str, object]) -> None:
    assert names("installation_target", payload) == []
