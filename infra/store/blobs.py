"""Content-addressed blobs in the store: compressed, at most 8 MiB each."""

from __future__ import annotations

import hashlib
import zlib

from infra.store.connection import Scripts

LIMIT = 8 * 1024 * 1024
# Between putting a blob and committing the record that names it, no purge of another run may take it away.
HOLD_MS = 10 * 60_000


class RedisBlobs:
    """`handlers.ports.Blobs` as plain keys named by the SHA-256 of the uncompressed bytes."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def put(self, data: bytes) -> str:
        """Store bytes; returns their SHA-256 in hex. Raises ValueError over 8 MiB."""
        if len(data) > LIMIT:
            raise ValueError(f"a blob of {len(data)} bytes is over the limit of {LIMIT} bytes")
        digest = hashlib.sha256(data).hexdigest()
        async with self._scripts.client.pipeline(transaction=False) as pipe:
            pipe.set(self._scripts.key("hold", digest), b"1", px=HOLD_MS)
            pipe.set(self._scripts.key("blob", digest), zlib.compress(data, 6), nx=True)
            await pipe.execute()
        return digest

    async def get(self, digest: str) -> bytes:
        """The bytes. Raises KeyError when there is no such blob, or when it is not what its name says."""
        stored = await self._scripts.client.get(self._scripts.key("blob", digest))
        if stored is None:
            raise KeyError(f"no blob {digest} in the store")
        data = zlib.decompress(stored)
        if hashlib.sha256(data).hexdigest() != digest:
            raise KeyError(f"blob {digest} is damaged in the store")
        return data
