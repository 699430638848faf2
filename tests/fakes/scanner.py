"""A scanner in memory: it finds what the test says, and remembers what it was asked to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from handlers.ports import Danger, Scanned, Source


@dataclass
class FakeScanner:
    """`handlers.ports.Scanner`. `dangers` and `problems` are by path; a problem of `unreadable` is the file's own."""

    dangers: dict[str, tuple[Danger, ...]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def scan(self, sources: Sequence[Source]) -> Sequence[Scanned]:
        self.asked += [one.path for one in sources]
        return [self._one(one.path) for one in sources]

    def _one(self, path: str) -> Scanned:
        problem = self.problems.get(path, "")
        return Scanned(path, () if problem else self.dangers.get(path, ()), problem, path not in self.unreadable)
