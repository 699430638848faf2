"""A look at the store for a check-up. Sources: Redis, "INFO", "CONFIG GET" and "TIME"."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from redis.exceptions import ResponseError

from handlers.ports import StoreHealth
from infra.store.bus import ROUTER
from infra.store.connection import Scripts, fields, text

SETTINGS = ("appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy")


async def look(scripts: Scripts) -> StoreHealth:
    """What the store says of itself. Raises `StoreDown` when it does not answer."""
    info = _info(await scripts.client.info("everything"))
    began = time.time()
    seconds, micro = await scripts.command("TIME")
    here = (began + time.time()) / 2
    server = info.get("server_name") or ("valkey" if "valkey_version" in info else "redis")
    return StoreHealth(
        server=server,
        version=info.get("valkey_version") or info.get("redis_version", ""),
        replica=info.get("role") == "slave",
        settings=await _settings(scripts),
        memory=int(info.get("used_memory", "0")),
        ahead_ms=round((int(seconds) + int(micro) / 1e6 - here) * 1000),
        aside=int(await scripts.command("XLEN", scripts.key("parked", ROUTER))),
    )


async def _settings(scripts: Scripts) -> Mapping[str, str] | None:
    """The settings that matter; None where a hosted server does not show them."""
    found: dict[str, str] = {}
    try:
        for name in SETTINGS:
            answer = await scripts.command("CONFIG", "GET", name)
            found |= fields(answer)
    except ResponseError:
        return None
    return found


def _info(answer: Mapping[Any, Any]) -> dict[str, str]:
    return {text(name): str(value) for name, value in answer.items()}
