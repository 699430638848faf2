"""The bus: one Redis stream with consumer groups. Reads what a consumer left unacknowledged before anything new.

Sources: Redis Streams introduction (pending entries lists, XAUTOCLAIM), XREADGROUP.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from pydantic import ValidationError
from redis.exceptions import ResponseError

from handlers.events import Event
from handlers.ports import Delivery
from infra.store.connection import Scripts, text

DEDUPE_MS = 3 * 24 * 3600 * 1000
ROUTER = "router"
OTHERS_KEEP_MS = 24 * 3600 * 1000
# A consumer that lives says so several times in this time (`keep`).
ORPHANED_MS = 10_000
FORGET_AFTER_MS = 3600 * 1000
PAGE = 500


class RedisBus:
    """`handlers.ports.Bus` on a stream. A group is made at its first read, from the beginning of what is kept.

    What a consumer has not acknowledged, nor said that it lives, for `orphaned_ms` is given to another one.
    """

    def __init__(self, scripts: Scripts, orphaned_ms: int = ORPHANED_MS) -> None:
        self._scripts = scripts
        self._orphaned_ms = orphaned_ms
        self._client = scripts.client
        self._stream = scripts.key("bus")
        self._given: dict[tuple[str, str], set[str]] = {}
        self._recovering: set[tuple[str, str]] = set()

    async def ingest(self, delivery: Delivery) -> bool:
        """Store a delivery's events once; False for a repeat."""
        events = [event.model_dump_json() for event in delivery.events]
        done = await self._scripts.run("ingest", delivery.id, delivery.body_digest or "", DEDUPE_MS, *events)
        return int(done) == 1

    async def read(
        self, group: str, consumer: str, count: int, block_ms: int, held: Collection[str] = ()
    ) -> Sequence[tuple[str, Event]]:
        """What this consumer was given, has not acknowledged and does not hold; when there is none, new events.

        A consumer that reads again and does not hold what it was given has lost it, with its process or connection.
        """
        try:
            events = await self._next(group, consumer, count, block_ms, held)
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            # The store came back without what it held: the group is made anew by the next read.
            self._given.pop((group, consumer), None)
            return []
        self._given[group, consumer] = {stream_id for stream_id, _ in events}.union(held)
        return events

    async def _next(
        self, group: str, consumer: str, count: int, block_ms: int, held: Collection[str]
    ) -> Sequence[tuple[str, Event]]:
        key = (group, consumer)
        known = self._given.get(key)
        if known is None:
            await self._make(group)
        if known is None or known.difference(held) or key in self._recovering:
            self._recovering.add(key)
            pending = await self._pending(group, consumer, count, held)
            if pending:
                return pending
            self._recovering.discard(key)
        orphans = await self._adopt(group, consumer, count, held)
        return orphans or await self._read(group, consumer, ">", count, block_ms)

    async def _pending(
        self, group: str, consumer: str, count: int, held: Collection[str]
    ) -> Sequence[tuple[str, Event]]:
        """What was given and is not held: pages may be full of what is."""
        start = "0"
        while True:
            rows = await self._rows(group, consumer, start, count, None)
            lost = await self._events(group, [row for row in rows if text(row[0]) not in held])
            if lost or not rows:
                return lost
            start = text(rows[-1][0])

    def _done(self, group: str, ids: Sequence[str]) -> None:
        for (known, _), given in self._given.items():
            if known == group:
                given.difference_update(ids)

    async def _make(self, group: str) -> None:
        try:
            await self._client.xgroup_create(self._stream, group, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def keep(self, group: str, consumer: str) -> None:
        """Say that this consumer lives: nobody takes what it has not acknowledged. Source: XCLAIM (idle, JUSTID)."""
        start = "-"
        while rows := await self._client.xpending_range(self._stream, group, start, "+", PAGE, consumername=consumer):
            mine = [row["message_id"] for row in rows]
            await self._client.xclaim(self._stream, group, consumer, 0, mine, justid=True)
            start = f"({text(mine[-1])}"

    async def _adopt(self, group: str, consumer: str, count: int, held: Collection[str]) -> Sequence[tuple[str, Event]]:
        """Events that another consumer took and has not acknowledged for a while: its process is gone."""
        answer = await self._client.xautoclaim(
            self._stream, group, consumer, min_idle_time=self._orphaned_ms, start_id="0-0", count=count
        )
        return await self._events(group, [row for row in answer[1] if text(row[0]) not in held])

    async def _read(
        self, group: str, consumer: str, start: str, count: int, block_ms: int | None
    ) -> Sequence[tuple[str, Event]]:
        return await self._events(group, await self._rows(group, consumer, start, count, block_ms))

    async def _rows(
        self, group: str, consumer: str, start: str, count: int, block_ms: int | None
    ) -> Sequence[tuple[bytes, dict[bytes, bytes]]]:
        answer = await self._client.xreadgroup(group, consumer, {self._stream: start}, count=count, block=block_ms)
        return answer[0][1] if answer else []

    async def _events(self, group: str, rows: Sequence[tuple[bytes, dict[bytes, bytes]]]) -> list[tuple[str, Event]]:
        """The rows as events; what cannot be read as one is put aside, so that it hides nothing that comes after it."""
        events: list[tuple[str, Event]] = []
        for row, values in rows:
            if not values:
                continue
            try:
                events.append((text(row), Event.model_validate_json(values[b"e"])))
            except ValidationError as error:
                await self._aside(group, text(row), values[b"e"], f"no event: {error}")
        return events

    async def first(self, group: str, lane: str, ids: Sequence[str]) -> str:
        """Note that a consumer was given these events of a lane; the oldest one in it that any consumer of the group
        has in hand, '' when there is none. What is acknowledged, or lost with the group, holds up nobody."""
        return text(await self._scripts.run("first", group, lane, OTHERS_KEEP_MS, *ids))

    async def ack(self, group: str, ids: Sequence[str]) -> None:
        """Acknowledge events by their stream ids."""
        if ids:
            await self._client.xack(self._stream, group, *ids)
            self._done(group, ids)

    async def park(self, group: str, stream_id: str, event: Event, reason: str) -> None:
        """Put a poison event aside in a stream of its own, and acknowledge it."""
        await self._aside(group, stream_id, event.model_dump_json(), reason)

    async def _aside(self, group: str, stream_id: str, event: str | bytes, reason: str) -> None:
        async with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(
                self._scripts.key("parked", group),
                {"id": stream_id, "e": event, "why": reason[:2000]},
                maxlen=1000,
            )
            pipe.xack(self._stream, group, stream_id)
            await pipe.execute()
        self._done(group, [stream_id])

    async def tidy(self, group: str, idle_ms: int = FORGET_AFTER_MS) -> int:
        """Forget consumers that were not heard of for so long and hold no event. Returns how many.

        Whoever holds one is kept until it is adopted: with a consumer its unacknowledged events would go.
        """
        return int(await self._scripts.run("tidy", group, idle_ms))

    async def trim(self) -> int:
        """Drop what the router has finished and what is older than the window of other groups. Returns how many."""
        groups = {text(g["name"]): g for g in await self._client.xinfo_groups(self._stream)}
        if ROUTER not in groups:
            return 0
        pending = await self._client.xpending(self._stream, ROUTER)
        oldest = text(pending["min"] or groups[ROUTER]["last-delivered-id"])
        await self.tidy(ROUTER)
        window = f"{int(time.time() * 1000) - OTHERS_KEEP_MS}-0"
        return int(await self._client.xtrim(self._stream, minid=min(oldest, window, key=_position), approximate=True))


def _position(stream_id: str) -> tuple[int, int]:
    ms, _, sequence = stream_id.partition("-")
    return int(ms), int(sequence or 0)
