"""Which blobs a run names: in its log, in its turns, and inside of blobs that stand for what was too large for them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Sequence

from infra.store.blobs import RedisBlobs
from infra.store.connection import Scripts, text
from infra.store.trail import rows

_DIGEST = re.compile(rb"[0-9a-f]{64}")


class Naming:
    """Looks for names of blobs; whatever looks like one counts as one."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs) -> None:
        self._scripts = scripts
        self._blobs = blobs

    async def tasks(self, run: str) -> Sequence[str]:
        """Every step that the run's log names, and Seconder's own."""
        found = [f"{run}/status.1", f"{run}/close.1"]
        async for _, values in rows(self._scripts, run):
            if values.get(b"t") == b"activated":
                found.append(str(json.loads(values[b"d"])["task"]))
        return found

    async def of(self, run: str) -> set[str]:
        """The digests of all blobs that the run names."""
        return await self._of_log(run) | await self.of_turns(run)

    async def of_turns(self, run: str) -> set[str]:
        """The digests of the blobs that the run's stored turns name."""
        found: set[str] = set()
        for task in await self.tasks(run):
            for turn in await self._scripts.command("LRANGE", self._scripts.key("turns", task), 0, -1):
                found |= await self._in(turn)
        return found

    async def among(self, digests: set[str], without: Collection[str] = ()) -> set[str]:
        """Those of the digests that a run names, leaving some runs out."""
        named: set[str] = set()
        runs = await self._scripts.command("ZRANGE", self._scripts.key("runs"), 0, -1) if digests else []
        for run in runs:
            if text(run) not in without and named != digests:
                named |= digests & await self.of(text(run))
        return named

    async def _of_log(self, run: str) -> set[str]:
        found: set[str] = set()
        async for _, values in rows(self._scripts, run):
            found |= await self._in(values.get(b"d", b""))
        return found

    async def _in(self, stored: bytes) -> set[str]:
        found = {text(one) for one in _DIGEST.findall(stored)}
        if stored.startswith(b'{"blob"') and len(found) == 1:
            try:
                inner = await self._blobs.get(next(iter(found)))
            except (KeyError, zlib.error):
                return found
            found |= {text(one) for one in _DIGEST.findall(inner)}
        return found
