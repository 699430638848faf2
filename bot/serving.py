"""An ASGI application served inside this process, on this machine, for as long as a context is open."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import uvicorn


class _Quiet(uvicorn.Server):
    """A server that leaves the process's signals alone: whoever opened the context decides when it ends."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serve(app: Any, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve an ASGI application; yields its base URL. Raises OSError when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        # Accepted connections inherit it; without it every small answer waits for the peer's delayed acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(app, log_config=None, log_level="warning", timeout_graceful_shutdown=3)
        server = _Quiet(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not server.started:
                if running.done():
                    await running
                    raise OSError("the web server did not start")
                await asyncio.sleep(0.01)
            shown = f"[{host}]" if family == socket.AF_INET6 else host
            yield f"http://{shown}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running
