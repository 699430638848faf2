"""GitHub's record of webhook deliveries, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from handlers.ports import Deliveries, FailedDelivery, GitHubError, Missing


@dataclass
class FakeDelivery:
    """One delivery: when each attempt was made (ms UTC), by its id, and whether it succeeded."""

    guid: str
    attempts: dict[int, tuple[int, bool]] = field(default_factory=dict)


@dataclass
class FakeDeliveries:
    """`handlers.ports.Deliveries`. `working` says whether the webhook answers what is delivered from now on.

    `asked` lists the guids that were asked for again. `errors` are raised by the next redeliveries, `broken` by each
    look. What is asked for again comes at once, or at `arrive()` when `slow`.
    """

    now_ms: int = 1_800_000_000_000
    working: bool = True
    slow: bool = False
    known: dict[str, FakeDelivery] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    errors: list[GitHubError] = field(default_factory=list)
    broken: GitHubError | None = None
    looks: list[int] = field(default_factory=list)
    _coming: list[str] = field(default_factory=list)
    _ids: int = 0

    def deliver(self, guid: str) -> int:
        """An attempt, now; returns its id."""
        self._ids += 1
        self.known.setdefault(guid, FakeDelivery(guid)).attempts[self._ids] = (self.now_ms, self.working)
        return self._ids

    def arrive(self) -> None:
        """What was asked for again is delivered."""
        coming, self._coming = self._coming, []
        for guid in coming:
            self.deliver(guid)

    async def failed(self, since: int) -> Sequence[FailedDelivery]:
        if self.broken is not None:
            raise self.broken
        self.looks.append(since)
        found = []
        for guid, delivery in self.known.items():
            tries = {number: made for number, made in delivery.attempts.items() if made[0] >= since}
            if tries and not any(good for _, good in tries.values()):
                times = [at for at, _ in tries.values()]
                found.append(FailedDelivery(max(tries), guid, len(tries), min(times), max(times)))
        return sorted(found, key=lambda one: one.first_at)

    async def redeliver(self, attempt: int) -> None:
        if self.errors:
            raise self.errors.pop(0)
        guid = next((one.guid for one in self.known.values() if attempt in one.attempts), None)
        if guid is None:
            raise Missing(f"GitHub: no delivery {attempt}")
        self.asked.append(guid)
        self._coming.append(guid)
        if not self.slow:
            self.arrive()


_CHECK: type[Deliveries] = FakeDeliveries
