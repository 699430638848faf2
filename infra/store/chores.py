"""Marks by which many workers share upkeep: `handlers.ports.Chores`."""

from __future__ import annotations

from handlers.ports import Asked
from infra.store.connection import Scripts

ASKED_KEEP_MS = 8 * 24 * 3600 * 1000


class RedisChores:
    """One key per chore and per delivery."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def turn(self, chore: str, every_ms: int) -> bool:
        """True for one of all workers, once in `every_ms`. Source: Redis, SET with NX and PX."""
        key = self._scripts.key("turn", chore)
        return await self._scripts.command("SET", key, "1", "NX", "PX", every_ms) is not None

    async def mark(self, chore: str) -> int | None:
        """Up to when the chore is done for good, ms UTC."""
        found = await self._scripts.command("GET", self._scripts.key("mark", chore))
        return None if found is None else int(found)

    async def set_mark(self, chore: str, at: int) -> None:
        """Note up to when the chore is done for good."""
        await self._scripts.command("SET", self._scripts.key("mark", chore), at)

    async def asked(self, guid: str) -> Asked:
        """How often a delivery was asked for again, and how long ago."""
        count, since = await self._scripts.run("ask", guid, "", ASKED_KEEP_MS)
        return Asked(int(count), int(since))

    async def ask(self, guid: str, count: int) -> bool:
        """Note that a delivery is asked for again; False when it is not `count` any more.

        After a lost answer the repeat says False: the delivery is then asked for a good while later.
        """
        return int((await self._scripts.run("ask", guid, count, ASKED_KEEP_MS))[0]) != -1
