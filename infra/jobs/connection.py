"""arq's connection to the store, with msgpack, not pickle: who can write to the store must not run code here."""

from __future__ import annotations

from typing import Any

import msgpack
from arq.connections import ArqRedis
from redis.asyncio import BlockingConnectionPool, ConnectionPool, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, TimeoutError

QUEUE = "{s}:arq"


def pack(value: dict[str, Any]) -> bytes:
    """arq's serializer."""
    packed: bytes = msgpack.packb(value, default=repr)
    return packed


def unpack(data: bytes) -> dict[str, Any]:
    """arq's deserializer."""
    value: dict[str, Any] = msgpack.unpackb(data, raw=False)
    return value


def connect(url: str | None, socket: str | None, password: str | None) -> ArqRedis:
    """arq's client for a Redis URL or a unix socket; rides out a restart of the server."""
    options: dict[str, Any] = {
        "retry": Retry(ExponentialBackoff(cap=1.0, base=0.1), 30),
        "retry_on_error": [ConnectionError, TimeoutError, BusyLoadingError],
        "socket_timeout": 10.0,
        "socket_connect_timeout": 5.0,
    }
    if url is not None:
        pool: ConnectionPool = BlockingConnectionPool.from_url(url, timeout=30, max_connections=50, **options)
    else:
        pool = BlockingConnectionPool(
            connection_class=UnixDomainSocketConnection,
            path=socket,
            password=password,
            timeout=30,
            max_connections=50,
            **{k: v for k, v in options.items() if k != "socket_connect_timeout"},
        )
    return ArqRedis(pool, job_serializer=pack, job_deserializer=unpack, default_queue_name=QUEUE)
