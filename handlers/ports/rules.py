"""What GitHub itself asks of a pull request: the branch's rules, the files that it changes, who owns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from handlers.events import Actor, RepoRef


@dataclass(frozen=True)
class BranchRules:
    """Rulesets and classic protection of a branch taken together, the stricter of each.

    `approvals`: approving reviews that a merge needs; `code_owners`: whether owners have to be among them; `checks`:
    names of the checks that have to succeed.
    """

    approvals: int = 0
    code_owners: bool = False
    checks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ChangedFile:
    """A file that a pull request changes; `previous` is the name that a rename took it from."""

    path: str
    previous: str | None = None


MOST_FILES = 3_000
"""GitHub lists no more of a pull request's files."""


class Rules(Protocol):
    """What a merge is held to. Every verb raises `GitHubError`."""

    async def of_branch(self, repo: RepoRef, branch: str) -> BranchRules: ...

    async def changed(self, repo: RepoRef, number: int) -> Sequence[ChangedFile]:
        """The files of a pull request, every page; with `MOST_FILES` of them there may be more that are not listed."""
        ...

    async def file(self, repo: RepoRef, ref: str, path: str) -> bytes | None:
        """A file's content at a commit or branch; None where there is none, or something else has the name."""
        ...

    async def team(self, repo: RepoRef, organisation: str, slug: str) -> Sequence[Actor] | None:
        """A team's members, those of its child teams too; None unless the team itself has write on the repository."""
        ...
