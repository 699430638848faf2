"""The two servers that are compared, each a process of its own: ours, and the least that could be called a receiver.

`python -m tests.bench.servers ours|bare URL` prints its address and serves until it is killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import sys

from starlette.types import ASGIApp, Receive, Scope, Send

from bot.logs import configure
from bot.serving import serve
from bot.wiring import Hub, open_hub, web_app
from handlers.github.translation import AppIdentity
from infra.store.connection import Address
from tests.bench.deliveries import APP_ID, SECRET


def bare(hub: Hub) -> ASGIApp:
    """A bare ASGI application: the body, its HMAC, one XADD, 202. No limits, no repeats, no translation."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        given = dict(scope["headers"]).get(b"x-hub-signature-256", b"")
        wanted = b"sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest().encode()
        status = 401
        if hmac.compare_digest(given, wanted):
            await hub.scripts.command("XADD", hub.scripts.key("bare"), "*", "body", body)
            status = 202
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    return application


async def main(which: str, url: str) -> None:
    """Serve one of the two until killed."""
    configure(level=logging.ERROR)
    async with open_hub(Address(url=url)) as hub:
        ours = web_app(hub, AppIdentity(APP_ID, None, "seconder"), (SECRET,))
        async with serve(ours if which == "ours" else bare(hub)) as address:
            print(address, flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
