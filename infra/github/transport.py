"""One connection pool for all tokens, and answers that githubkit can digest."""

from __future__ import annotations

import math

import httpx

from infra.github.limits import UNTOLD_S, retry_after
from infra.github.options import Options
from infra.github.timing import Time


class SharedTransport(httpx.AsyncBaseTransport):
    """Passes requests to one pool that outlives the client of a single call.

    githubkit makes and closes a client around every call, which would close the pool with it. It also reads
    Retry-After and X-RateLimit-Reset with `int()` and lets the ValueError escape without the answer, so both are made
    whole numbers here.
    """

    def __init__(self, pool: httpx.AsyncBaseTransport, time: Time) -> None:
        self._pool = pool
        self._time = time

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; limits that the answer states in forms githubkit cannot read become whole seconds."""
        response = await self._pool.handle_async_request(request)
        headers = response.headers
        if (asked := headers.get("retry-after")) is not None:
            headers["retry-after"] = str(math.ceil(retry_after(asked, self._time.now())))
        reset = headers.get("x-ratelimit-reset")
        if reset is not None and not (reset.isascii() and reset.isdigit() and len(reset) < 12):
            headers["x-ratelimit-reset"] = str(math.ceil(self._time.now() + UNTOLD_S))
        return response

    async def aclose(self) -> None:
        """Keeps the pool open; `close` ends it."""

    async def close(self) -> None:
        """Close the pool's connections."""
        await self._pool.aclose()


def pool(options: Options) -> httpx.AsyncHTTPTransport:
    """A connection pool with as many connections as calls at a time."""
    limits = httpx.Limits(max_connections=options.concurrency * 2, max_keepalive_connections=options.concurrency)
    return httpx.AsyncHTTPTransport(limits=limits, proxy=options.proxy)
