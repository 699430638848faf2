"""Connections to Redis or Valkey that survive a server's restart, and the registered Lua scripts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import redis
import redis.asyncio
import structlog
from redis.exceptions import ConnectionError, OutOfMemoryError, ReadOnlyError, RedisError, ResponseError, TimeoutError

from handlers.ports import StoreDown

log = structlog.get_logger("seconder.store")

PREFIX = "{s}:"
SCRIPTS = (
    "ingest",
    "start",
    "activate",
    "claim",
    "renew",
    "reserve",
    "ledger",
    "turn",
    "commit",
    "vote",
    "cancel",
    "attempt",
    "receipt",
    "due",
    "later",
    "purge",
    "drop",
    "tidy",
    "age",
    "first",
    "ask",
    "moved",
)

# Errors that pass by themselves, or when somebody sees to the server: it is starting, a replica, full, or has no disk.
PASSING = (ConnectionError, TimeoutError, OutOfMemoryError, ReadOnlyError, OSError)
PASSING_WORDS = ("MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "UNBLOCKED")
LONGEST_PAUSE_S = 1.0


@dataclass(frozen=True)
class Patience:
    """How long is waited for the store, in seconds.

    `timeout` for one answer (a half-dead server must not hang a caller for ever; blocking reads stay below it),
    `connect` for a connection, `total` until a command that failed is not sent again.
    """

    timeout: float = 10.0
    connect: float = 5.0
    total: float = 60.0


PATIENT = Patience()
BRIEF = Patience(timeout=4.0, connect=2.0, total=2.0)
"""For whoever has somebody waiting: an answer or an error within about five seconds."""


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


class PatientClient(redis.asyncio.Redis):
    """A client that sends a command again while the store cannot be reached or takes no writes.

    Every write of ours is safe to repeat. Raises `StoreDown` when the store's absence outlasts its patience.
    """

    patience = PATIENT
    _away_since: float | None = None

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send a command until it is answered. The first repeat comes at once: an idle connection may be stale."""
        began, pause = time.monotonic(), 0.0
        while True:
            try:
                answer = await super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
            except (RedisError, OSError) as error:
                if not passes(error):
                    raise
                if time.monotonic() - began >= self.patience.total:
                    raise StoreDown(f"the store does not do what it is asked: {_said(error)}") from error
                if pause:
                    self._noted(error)
                await asyncio.sleep(pause)
                pause = min(max(2 * pause, 0.05), LONGEST_PAUSE_S)
            else:
                self._back()
                return answer

    def _noted(self, error: Exception) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            log.warning("store_away", why=_said(error))

    def _back(self) -> None:
        if self._away_since is not None:
            log.info("store_back", after_s=round(time.monotonic() - self._away_since, 1))
            self._away_since = None


def passes(error: Exception) -> bool:
    """Whether an error says that the store is away for now, and not that the command is wrong."""
    return isinstance(error, PASSING) or (isinstance(error, ResponseError) and str(error).startswith(PASSING_WORDS))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def connect(address: Address, patience: Patience = PATIENT) -> redis.asyncio.Redis:
    """An asyncio client; nothing is sent before the first command."""
    options: dict[str, Any] = {
        "decode_responses": False,
        "socket_timeout": patience.timeout,
        "socket_connect_timeout": patience.connect,
        "health_check_interval": 15,
    }
    if address.url is not None:
        client: PatientClient = PatientClient.from_url(address.url, **options)
    else:
        client = PatientClient(**address.arguments(), **options)
    client.patience = patience
    return client


def connect_blocking(address: Address, timeout_s: float) -> redis.Redis:
    """A blocking client for the thread that renews leases; it gives up early, since a lease does not wait."""
    options: dict[str, Any] = {
        "decode_responses": False,
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
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
        """Run a script. Raises `StoreDown` when the store does not answer."""
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
