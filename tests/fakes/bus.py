"""A bus in memory that keeps the promises of `handlers.ports.Bus`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from handlers.events import Event
from handlers.ports import Delivery


@dataclass
class FakeBus:
    """`deliveries` and `parked` are for tests to look at; set `broken` to make the next calls fail with it.

    `read` never blocks, and hands a group's unacknowledged events to their consumer again once `restart` was called,
    as a new process would read them.
    """

    deliveries: list[Delivery] = field(default_factory=list)
    parked: list[tuple[str, Event, str]] = field(default_factory=list)
    broken: Exception | None = None
    _seen: set[str] = field(default_factory=set)
    _stream: list[tuple[str, Event]] = field(default_factory=list)
    _given: dict[str, dict[str, str]] = field(default_factory=dict)
    _acked: dict[str, set[str]] = field(default_factory=dict)
    _lanes: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _recovering: set[tuple[str, str]] = field(default_factory=set)

    async def ingest(self, delivery: Delivery) -> bool:
        self._check()
        keys = {f"id:{delivery.id}"} | ({f"body:{delivery.body_digest}"} if delivery.body_digest else set())
        if keys & self._seen:
            return False
        self._seen |= keys
        self.deliveries.append(delivery)
        for event in delivery.events:
            self._stream.append((f"{len(self._stream) + 1}-0", event))
        return True

    async def read(
        self, group: str, consumer: str, count: int, block_ms: int, held: Collection[str] = ()
    ) -> Sequence[tuple[str, Event]]:
        self._check()
        given, acked = self._given.setdefault(group, {}), self._acked.setdefault(group, set())
        if (group, consumer) in self._recovering:
            mine = [
                (row, event)
                for row, event in self._stream
                if given.get(row) == consumer and row not in acked and row not in held
            ]
            if mine:
                return mine[:count]
            self._recovering.discard((group, consumer))
        new = [(row, event) for row, event in self._stream if row not in given][:count]
        given.update({row: consumer for row, _ in new})
        return new

    async def keep(self, group: str, consumer: str) -> None:
        self._check()

    async def first(self, group: str, lane: str, ids: Sequence[str]) -> str:
        self._check()
        lined = self._lanes.setdefault((group, lane), set())
        lined.update(ids)
        lined -= self._acked.setdefault(group, set())
        return min(lined, key=lambda row: int(row.partition("-")[0]), default="")

    async def ack(self, group: str, ids: Sequence[str]) -> None:
        self._check()
        self._acked.setdefault(group, set()).update(ids)

    async def park(self, group: str, stream_id: str, event: Event, reason: str) -> None:
        self._check()
        self.parked.append((stream_id, event, reason))
        await self.ack(group, [stream_id])

    def restart(self, group: str, consumer: str) -> None:
        """From now on `read` first gives this consumer what it has not acknowledged."""
        self._recovering.add((group, consumer))

    @property
    def events(self) -> list[Event]:
        """All events so far, oldest first."""
        return [event for _, event in self._stream]

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken
