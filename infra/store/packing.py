"""JSON of entries and turns as it is stored: what is over 16 KiB becomes a blob, named by its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping

from infra.store.blobs import RedisBlobs

INLINE = 16 * 1024


async def pack(data: Mapping[str, object], blobs: RedisBlobs) -> str:
    """JSON text of `data`, or `{"blob": digest}` when it is too long to keep inline."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if len(plain) <= INLINE:
        return plain
    return json.dumps({"blob": await blobs.put(plain.encode())})


async def unpack(stored: str | bytes, blobs: RedisBlobs) -> dict[str, object]:
    """The reverse of `pack`. Raises KeyError when the blob is gone, ValueError for what is no JSON object."""
    data = json.loads(stored)
    if isinstance(data, dict) and set(data) == {"blob"}:
        data = json.loads(await blobs.get(str(data["blob"])))
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    return data
