"""GitHub's `repository`: it was renamed, moved, archived, brought back or deleted."""

from __future__ import annotations

from handlers.events import RepositoryMoved
from handlers.github.fields import Envelope, read
from handlers.github.translation import AppIdentity, Found, Payload

ACTIONS = frozenset({"renamed", "transferred", "archived", "unarchived", "deleted"})


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`repository_moved` with GitHub's own word for the action; the repository is as it is now."""
    given = read(Envelope, "repository", payload)
    repo, action = given.repo(), given.action or ""
    if repo is None or action not in ACTIONS:
        return ()
    return (Found(RepositoryMoved(repo=repo, sender=given.who(), action=action)),)
