"""A run's checkpoint in the store: one value per run, replaced as a whole."""

from __future__ import annotations

import json
import zlib

from handlers.ports import Checkpoint
from infra.store.blobs import LIMIT
from infra.store.connection import Scripts


class RedisCheckpoints:
    """`handlers.ports.Checkpoints`: a JSON header, a line break, and the compressed content."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def load(self, run: str) -> Checkpoint | None:
        """What is stored, also when it is damaged: then its digest does not fit. None when there is nothing."""
        stored = await self._scripts.client.get(self._key(run))
        if stored is None:
            return None
        head, _, packed = bytes(stored).partition(b"\n")
        try:
            known = json.loads(head)
            content = zlib.decompress(packed)
            return Checkpoint(known["position"], known["chain"], known["schema"], known["digest"], content)
        except (ValueError, KeyError, TypeError, zlib.error):
            return Checkpoint(0, "", 0, "", bytes(stored))

    async def save(self, run: str, checkpoint: Checkpoint) -> bool:
        """Replace the run's checkpoint; False when its content is over 8 MiB and nothing was stored."""
        if len(checkpoint.content) > LIMIT:
            return False
        head = {
            "position": checkpoint.position,
            "chain": checkpoint.chain,
            "schema": checkpoint.schema,
            "digest": checkpoint.digest,
        }
        packed = zlib.compress(checkpoint.content, 1)
        await self._scripts.client.set(self._key(run), json.dumps(head).encode() + b"\n" + packed)
        return True

    def _key(self, run: str) -> str:
        return self._scripts.key("checkpoint", run)
