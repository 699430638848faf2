"""Who somebody is and what they may do.

Source: GitHub REST, "Get a user using their ID", "Get repository permissions for a user", "List repository
collaborators".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from handlers.events import Actor, RepoRef
from handlers.ports import Standing
from infra.github.client import GitHubClient
from infra.github.models import Account, Collaborator, PermissionAnswer, parse
from infra.github.wire import Call, log, path

READ = {"metadata": "read"}

Level = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: dict[str, tuple[Level, str]] = {
    "admin": ("admin", "admin"),
    "maintain": ("maintain", "write"),
    "write": ("write", "write"),
    "triage": ("triage", "read"),
    "read": ("read", "read"),
    "none": ("none", "none"),
}
"""Each built-in role with the base permission that GitHub reports beside it."""
BASES: dict[str, Level] = {"admin": "admin", "write": "write", "read": "read"}
FLAGS: tuple[tuple[str, Level], ...] = (
    ("admin", "admin"),
    ("maintain", "maintain"),
    ("push", "write"),
    ("triage", "triage"),
    ("pull", "read"),
)


class GitHubPeople:
    """`handlers.ports.People` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def standing(self, repo: RepoRef, who: Actor) -> Standing:
        """What `who.id` may do now; `none` for whoever is gone, renamed in between, or oddly described.

        The login is looked up by the id first, since the permission endpoint knows logins only and a login can be
        registered anew by somebody else. Raises `GitHubError` when GitHub cannot be asked.
        """
        if who.id <= 0:
            return Standing(who, "none")
        call = Call("GET", path("user", who.id))
        reply = await self._client.send(repo, READ, call, allow={404})
        if reply.status == 404:
            return Standing(who, "none")
        account = parse(call, reply, Account)
        if account.id != who.id:
            return self._doubt(who, "the user's id is another one")
        now = account.actor()
        call = Call("GET", path("repos", repo.full_name, "collaborators", now.login, "permission"))
        reply = await self._client.send(repo, READ, call, allow={404})
        if reply.status == 404:
            return Standing(now, "none")
        answer = parse(call, reply, PermissionAnswer)
        if answer.user is None or answer.user.id != who.id:
            return self._doubt(now, "the permission is another user's")
        if (level := level_of(answer)) is None:
            return self._doubt(now, f"role {answer.role_name!r} with permission {answer.permission!r}")
        return Standing(now, level)

    async def with_write(self, repo: RepoRef) -> Sequence[Standing]:
        """Everyone with write or better, by login. Raises `GitHubError`."""
        call = Call("GET", path("repos", repo.full_name, "collaborators"), {"affiliation": "all"})
        found = await self._client.pages(repo, READ, call, Collaborator)
        standings = (Standing(made.actor(), _highest(made.permissions or {})) for made in found)
        return sorted((s for s in standings if s.at_least("write")), key=lambda s: s.user.login.casefold())

    async def bot(self) -> Actor:
        """The App's own bot user. Raises `GitHubError`."""
        return await self._client.bot()

    def _doubt(self, who: Actor, why: str) -> Standing:
        log.warning("standing_in_doubt", user=who.id, login=who.login, why=why)
        return Standing(who, "none")


def level_of(answer: PermissionAnswer) -> Level | None:
    """The level that role and permission agree on; None when they contradict each other or are not known.

    An organisation's own roles have names of their own; they count as the base permission that they build on.
    """
    if answer.role_name in ROLES:
        level, base = ROLES[answer.role_name]
        return level if answer.permission in (base, answer.role_name) else None
    return "none" if answer.permission == "none" else BASES.get(answer.permission or "")


def _highest(flags: dict[str, bool]) -> Level:
    return next((level for flag, level in FLAGS if flags.get(flag)), "none")
