"""Erases what a finished run said and wrote; its trail stays, and its chain can still be computed."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from infra.store.blobs import HOLD_MS, RedisBlobs
from infra.store.connection import Scripts, text
from infra.store.naming import Naming
from infra.store.packing import unpack
from infra.store.records import content_digest, split
from infra.store.trail import rows

TRIES = 3


class CannotPurge(Exception):
    """The run cannot be purged now; the text says why and what to do."""


@dataclass(frozen=True)
class Purged:
    """What was erased: records whose content went, blobs that went, and blobs that stay since others use them too."""

    records: int
    blobs: int
    shared: int


class RedisPurge:
    """`purge` is safe to repeat, also after it was cut off half-way."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs, settle_ms: int = HOLD_MS) -> None:
        self._scripts = scripts
        self._client = scripts.client
        self._blobs = blobs
        self._settle_ms = settle_ms
        self._naming = Naming(scripts, blobs)

    async def purge(self, run: str) -> Purged:
        """Erase a finished run's content. Raises `CannotPurge`.

        Votes, receipts, ids, authors, parents, digests, times and what was paid stay. Blobs go where no other run
        names them. Copies of events on the bus go with its window of a day.
        """
        await self._check(run)
        waiting = self._scripts.key("purge", run)
        named = await self._naming.of(run)
        if named:
            await self._scripts.command("SADD", waiting, *sorted(named))
        records = await self._log(run)
        left = {text(one) for one in await self._scripts.command("SMEMBERS", waiting)}
        shared = await self._naming.among(left, without=(run,))
        dropped = 0
        for digest in sorted(left - shared):
            dropped += int(await self._scripts.run("drop", digest))
        await self._client.delete(waiting)
        return Purged(records, dropped, len(shared))

    async def _check(self, run: str) -> None:
        stored = await self._scripts.command("HMGET", self._scripts.key("run", run), "status", "ended_at")
        status, ended = text(stored[0]), int(stored[1] or 0)
        if not status:
            raise CannotPurge(f"There is no run {run}. `seconder runs list` shows those that there are.")
        if status in ("open", "cancelling"):
            raise CannotPurge(
                f"Run {run} has not ended ({status}). Stop it first: `seconder runs cancel {run}`, then purge it."
            )
        seconds, micro = await self._scripts.command("TIME")
        left = ended + self._settle_ms - (int(seconds) * 1000 + int(micro) // 1000)
        if left > 0:
            minutes = -(-left // 60_000)
            raise CannotPurge(f"Run {run} ended a moment ago and may still be written to. Purge it in {minutes} min.")

    async def _log(self, run: str) -> int:
        """Put the log without content in its place; returns how many records lost something."""
        fresh = self._scripts.key("purging", run)
        for _ in range(TRIES):
            await self._client.delete(fresh)
            count = erased = 0
            async for position, values in rows(self._scripts, run):
                without = await self._without(values)
                flat = (part for pair in without.items() for part in pair)
                await self._scripts.command("XADD", fresh, f"{position}-0", *flat)
                count, erased = count + 1, erased + (without is not values)
            answer = int(await self._scripts.run("purge", run, count, *await self._naming.tasks(run)))
            if answer == 1:
                return erased
            if answer == -2:
                raise CannotPurge(f"Run {run} is open again.")
        raise CannotPurge(
            f"The log of run {run} does not hold as many records as were written: `seconder runs verify {run}` shows "
            f"which are missing."
        )

    async def _without(self, values: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """The record without its content and salt; what cannot be read is erased whole, and goes on to be found."""
        if b"c" in values:
            return values
        try:
            kept, erased = split(text(values[b"t"]), await unpack(values[b"d"], self._blobs))
            content = content_digest(erased, text(values[b"s"]))
        except (KeyError, ValueError, zlib.error):
            kept, content = {}, "unreadable"
        rest = {name: value for name, value in values.items() if name not in (b"d", b"s")}
        return {**rest, b"d": json.dumps(kept, separators=(",", ":")).encode(), b"c": content.encode()}
