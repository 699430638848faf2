"""Connections to Redis or Valkey that survive a server's restart, and the registered Lua scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, TimeoutError
from redis.retry import Retry

PREFIX = "{s}:"
SCRIPTS = (
    "ingest",
    "start",
    "activate",
    "claim",
    "renew",
    "reserve",
    "turn",
    "commit",
    "vote",
    "cancel",
    "attempt",
    "receipt",
    "due",
)

# A half-dead server must not hang a caller for ever; blocking reads stay below this.
SOCKET_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Address:
    """Where the store is: a Redis URL, or a unix socket with a password."""

    url: str | None = None
    socket: str | None = None
    password: str | None = field(default=None, repr=False)

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for a connection pool."""
        if self.socket is not None:
            return {"unix_socket_path": self.socket, "password": self.password}
        return {}


def connect(address: Address) -> redis.asyncio.Redis:
    """An asyncio client; every write of ours is safe to repeat, so it retries connection errors for a while."""
    retry = AsyncRetry(ExponentialBackoff(cap=1.0, base=0.05), 8)
    options: dict[str, Any] = {
        "decode_responses": False,
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_connect_timeout": 5.0,
        "health_check_interval": 15,
        "retry": retry,
        "retry_on_error": [ConnectionError, TimeoutError, BusyLoadingError],
    }
    if address.url is not None:
        client: redis.asyncio.Redis = redis.asyncio.Redis.from_url(address.url, **options)
        return client
    return redis.asyncio.Redis(**address.arguments(), **options)


def connect_blocking(address: Address) -> redis.Redis:
    """A blocking client for the thread that renews leases; it gives up early, since a lease does not wait."""
    options: dict[str, Any] = {
        "decode_responses": False,
        "socket_timeout": 2.0,
        "socket_connect_timeout": 2.0,
        "retry": Retry(ExponentialBackoff(cap=0.2, base=0.05), 3),
        "retry_on_error": [ConnectionError, TimeoutError, BusyLoadingError],
    }
    if address.url is not None:
        return redis.Redis.from_url(address.url, **options)
    return redis.Redis(**address.arguments(), **options)


def script_source(name: str) -> str:
    """The text of a script with the shared prelude in front."""
    folder = files("infra.store") / "lua"
    return (folder / "prelude.lua").read_text() + (folder / f"{name}.lua").read_text()


class Scripts:
    """The Lua scripts of the store, by name. `prefix` holds the hash tag under which all keys stand."""

    def __init__(self, client: redis.asyncio.Redis, prefix: str = PREFIX) -> None:
        self.client = client
        self.prefix = prefix
        self._scripts: Mapping[str, Any] = {name: client.register_script(script_source(name)) for name in SCRIPTS}

    async def run(self, name: str, *arguments: str | bytes | int | float) -> Any:
        """Run a script. Raises redis.exceptions.RedisError when the store does not answer."""
        return await self._scripts[name](keys=[self.prefix], args=list(arguments))

    async def command(self, *arguments: str | bytes | int | float) -> Any:
        """A plain command, for reads."""
        return await self.client.execute_command(*arguments)  # type: ignore[no-untyped-call]

    def key(self, *parts: str | int) -> str:
        """A key under the prefix: `key("run", "7-1-1")` is `{s}:run:7-1-1`."""
        return self.prefix + ":".join(str(part) for part in parts)


def text(value: bytes | str | None) -> str:
    """Text of what the store answered; None becomes an empty text."""
    if value is None:
        return ""
    return value.decode() if isinstance(value, bytes) else value


def fields(flat: Sequence[bytes] | Mapping[bytes, bytes]) -> dict[str, str]:
    """A hash's answer as text by text."""
    if isinstance(flat, Mapping):
        return {text(k): text(v) for k, v in flat.items()}
    return {text(k): text(v) for k, v in zip(flat[::2], flat[1::2], strict=True)}
