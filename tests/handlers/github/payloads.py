"""Parts of deliveries, as small as GitHub's own could be read, and the shared ways to translate them."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.events import Event
from handlers.github import AppIdentity, translate

APP = AppIdentity(app_id=77, bot_id=700, slug="seconder")
ADA: dict[str, object] = {"id": 5, "login": "ada", "type": "User"}
BOB: dict[str, object] = {"id": 6, "login": "bob", "type": "User"}
US: dict[str, object] = {"id": 700, "login": "seconder[bot]", "type": "Bot"}
US_BY_NAME: dict[str, object] = {"id": 701, "login": "Seconder[bot]", "type": "Bot"}
OTHER_BOT: dict[str, object] = {"id": 800, "login": "dependabot[bot]", "type": "Bot"}
IMPOSTOR: dict[str, object] = {"id": 9, "login": "seconder[bot]", "type": "User"}
GHOST: dict[str, object] = {"id": 0, "login": "ghost", "type": ""}
REPO: dict[str, object] = {"id": 1, "full_name": "o/r", "default_branch": "main"}
REF: dict[str, object] = {"id": 1, "full_name": "o/r", "installation": 3}
AROUND: dict[str, object] = {"repository": REPO, "installation": {"id": 3}, "sender": ADA}
WHEN = "2026-11-03T10:11:12Z"
WHEN_MS = 1793700672000
HEAD = "a" * 40


def events(name: str, payload: Mapping[str, object], app: AppIdentity = APP) -> list[Event]:
    """The events of a delivery `d-1` with this payload inside the usual surroundings."""
    return list(translate(name, {**AROUND, **payload}, "d-1", app).events)


def names(name: str, payload: Mapping[str, object], app: AppIdentity = APP) -> list[str]:
    """Only the events' names."""
    return [event.name for event in events(name, payload, app)]
