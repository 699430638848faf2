"""Runs and their logs in memory, as far as somebody who looks on needs them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from handlers.events import Actor, RepoRef
from handlers.ports import LogRecord, RecordType, RunFacts


def run_facts(run: str = "r1") -> RunFacts:
    """A run at work."""
    return RunFacts(
        id=run,
        repo=RepoRef(id=1, full_name="o/r", installation=3),
        issue=4,
        attempt=1,
        status="working",
        requester=Actor(id=5, login="ada"),
        base_sha="a" * 40,
        default_branch="main",
        workflow={},
        delimiter="0123456789abcdef",
        budget=5_000_000,
        spent=1_234_567,
        reserved=0,
        unconfirmed=0,
        length=0,
        started_at=0,
    )


@dataclass
class WatchedRuns:
    """`facts` and `read` of `handlers.ports.RunLog`, and `handlers.ports.Events`. Tests `add` records.

    `following` is how many follow a log now. Set `broken` to make every call fail with it.
    """

    known: dict[str, RunFacts] = field(default_factory=lambda: {"r1": run_facts()})
    records: list[LogRecord] = field(default_factory=list)
    broken: Exception | None = None
    following: int = 0
    closed: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, data: Mapping[str, object], kind: RecordType = "event", at: int = 0) -> None:
        """Append a record to the log of run `r1`."""
        self.records.append(LogRecord(len(self.records) + 1, kind, data, at))
        self.known["r1"] = replace(self.known["r1"], length=len(self.records))
        self._changed.set()

    def end(self) -> None:
        """Nothing will be added any more."""
        self.closed = True
        self._changed.set()

    async def facts(self, run: str) -> RunFacts | None:
        self._check()
        return self.known.get(run)

    async def read(self, run: str, after: int) -> Sequence[LogRecord]:
        self._check()
        return self.records[after:]

    async def follow(self, run: str, after: int) -> AsyncIterator[LogRecord]:
        self.following += 1
        try:
            while True:
                for record in self.records[after:]:
                    after = record.position
                    yield record
                if self.closed:
                    return
                self._changed.clear()
                await self._changed.wait()
        finally:
            self.following -= 1

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken
