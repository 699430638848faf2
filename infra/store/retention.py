"""What goes by itself when a run has been over for long: transcripts, and the blobs that only they name.

The store keeps everything in memory, and transcripts are most of it. Board, votes, bill and trail stay until somebody
erases them (`infra.store.purge`).
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from infra.store.blobs import RedisBlobs
from infra.store.connection import Scripts, text
from infra.store.naming import Naming

log = structlog.get_logger("seconder.store")

PAGE = 500
DAY_MS = 24 * 3600 * 1000
AT_ONCE = 50


@dataclass(frozen=True)
class Aged:
    """What went: the transcripts of so many runs, and so many blobs."""

    runs: int = 0
    blobs: int = 0


class RedisRetention:
    """`tidy` is safe to repeat, also after it was cut off half-way."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs, keep_days: int) -> None:
        self._scripts = scripts
        self._naming = Naming(scripts, blobs)
        self._keep_ms = keep_days * DAY_MS

    async def tidy(self) -> Aged:
        """Let go of the transcripts of runs that ended `keep_days` ago, at most `AT_ONCE` of them."""
        waiting = self._scripts.key("aging")
        aged = 0
        for run in await self._old():
            named = await self._naming.of_turns(run)
            if named:
                await self._scripts.command("SADD", waiting, *sorted(named))
            aged += int(await self._scripts.run("age", run, self._keep_ms, *await self._naming.tasks(run)))
        left = {text(one) for one in await self._scripts.command("SMEMBERS", waiting)}
        dropped = 0
        for digest in sorted(left - await self._naming.among(left)):
            dropped += int(await self._scripts.run("drop", digest))
        if left:
            await self._scripts.command("SREM", waiting, *sorted(left))
        if aged:
            log.info("transcripts_aged", runs=aged, blobs=dropped)
        return Aged(aged, dropped)

    async def _old(self) -> list[str]:
        """Runs that ended long enough ago and still have their transcripts, oldest first."""
        seconds, _ = await self._scripts.command("TIME")
        latest = int(seconds) * 1000 - self._keep_ms
        found: list[str] = []
        start = 0
        while len(found) < AT_ONCE:
            page = await self._scripts.command(
                "ZRANGEBYSCORE", self._scripts.key("runs"), "-inf", latest, "LIMIT", start, PAGE
            )
            for run in map(text, page):
                key = self._scripts.key("run", run)
                ended, aged = await self._scripts.command("HMGET", key, "ended_at", "aged_at")
                if ended is not None and int(ended) <= latest and aged is None:
                    found.append(run)
            if len(page) < PAGE:
                break
            start += PAGE
        return found[:AT_ONCE]
