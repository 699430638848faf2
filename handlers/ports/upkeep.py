"""What upkeep needs: GitHub's record of deliveries, the App's installations, and marks that all workers share.

Times are milliseconds UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from handlers.events import RepoRef


@dataclass(frozen=True)
class FailedDelivery:
    """A webhook delivery of which no attempt was answered with success. `id` is its newest attempt's."""

    id: int
    guid: str
    attempts: int
    first_at: int
    last_at: int


class Deliveries(Protocol):
    """The App's webhook deliveries, as GitHub recorded them."""

    async def failed(self, since: int) -> Sequence[FailedDelivery]:
        """Every delivery with an attempt since then and none that succeeded, oldest first. Raises `GitHubError`."""
        ...

    async def redeliver(self, attempt: int) -> None:
        """Have GitHub deliver again what this attempt was about; it comes with the same delivery id."""
        ...


@dataclass(frozen=True)
class InstallationFacts:
    """Where the App is installed: the account's login, whether it is suspended, and what it was permitted."""

    id: int
    account: str
    suspended: bool
    permissions: Mapping[str, str] = field(default_factory=dict)


class Installations(Protocol):
    """The App's installations."""

    async def all(self) -> Sequence[InstallationFacts]:
        """All of them, every page. Raises `GitHubError`."""
        ...

    async def repositories(self, installation: int) -> Sequence[RepoRef]:
        """The repositories that an installation reaches, under their names of today. Raises `GitHubError`."""
        ...

    def forget(self, installation: int) -> None:
        """Forget what was granted to an installation: its permissions or repositories have changed."""
        ...


class OpenRuns(Protocol):
    """The runs that have not ended, of all repositories."""

    async def open(self) -> Sequence[str]:
        """Their ids, oldest first."""
        ...

    async def moved(self, repo: RepoRef) -> int:
        """A repository has another name, or is reached through another installation: note it in its open runs.

        Returns in how many it was not known yet.
        """
        ...


@dataclass(frozen=True)
class Asked:
    """How often a delivery was asked for again, and how long ago (ms) the last time was."""

    count: int
    since_ms: int


class Chores(Protocol):
    """Marks in the store by which many workers share what one of them has to do."""

    async def turn(self, chore: str, every_ms: int) -> bool:
        """True for one of all workers, once in `every_ms`."""
        ...

    async def mark(self, chore: str) -> int | None:
        """Up to when the chore is done for good; None when it never was."""
        ...

    async def set_mark(self, chore: str, at: int) -> None:
        """Note up to when the chore is done for good."""
        ...

    async def asked(self, guid: str) -> Asked:
        """Whether a delivery was asked for again."""
        ...

    async def ask(self, guid: str, count: int) -> bool:
        """Note that a delivery will be asked for again, now; False when somebody else did since it was `count`."""
        ...


class Configs(Protocol):
    """Each repository's settings as they were last found to be good, as the file's text."""

    async def get(self, repo: RepoRef) -> str | None:
        """None when none were kept."""
        ...

    async def put(self, repo: RepoRef, content: str) -> None: ...
