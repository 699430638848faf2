from __future__ import annotations

import pytest

from tests.handlers.github.payloads import ADA, GHOST, REF, events, names

INSTALLATION: dict[str, object] = {"id": 3, "account": {"id": 4, "login": "o", "type": "Organization"}}


def change(action: str | None = "created", **more: object) -> dict[str, object]:
    """What happened to the installation."""
    return {"action": action, "installation": INSTALLATION, "repository": None, **more}


def test_installed_on_repositories() -> None:
    repositories = [{"id": 1, "full_name": "o/r"}, {"id": None, "full_name": "o/unreadable"}]
    (event,) = events("installation", change(repositories=repositories))
    assert event.name == "installation_changed"
    assert event.data == {
        "installation": 3,
        "action": "created",
        "account": "o",
        "sender": ADA,
        "repositories": [REF],
    }


@pytest.mark.parametrize("action", ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"])
def test_the_action_is_githubs_word(action: str) -> None:
    (event,) = events("installation", change(action))
    assert event.data["action"] == action


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(change("something_new"), id="unread action"),
        pytest.param(change(None), id="null action"),
        pytest.param({**change(), "installation": None}, id="null installation"),
        pytest.param({**change(), "installation": {"id": None}}, id="installation without a number"),
    ],
)
def test_what_is_no_event(payload: dict[str, object]) -> None:
    assert names("installation", payload) == []


def test_nulls_are_tolerated() -> None:
    payload = change(repositories=None, sender=None, requester=None) | {"installation": {"id": 3, "account": None}}
    (event,) = events("installation", payload)
    assert (event.data["account"], event.data["sender"], event.data["repositories"]) == ("ghost", GHOST, [])
