"""Lines that a person types, read without blocking the event loop or leaving a thread behind."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Keys:
    """Lines of standard input, as they come; None at its end."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._rest = b""

    async def line(self) -> str | None:
        """The next line without its end, or None when there are no more."""
        return await self._lines.get()

    def feed(self, data: bytes) -> None:
        """Bytes from the terminal; none of them means the end."""
        if not data:
            self._lines.put_nowait(None)
            return
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._lines.put_nowait(line.decode("utf-8", "replace").strip())


@asynccontextmanager
async def open_keys() -> AsyncIterator[Keys]:
    """Listen to standard input while the context is open."""
    keys, loop, descriptor = Keys(), asyncio.get_running_loop(), sys.stdin.fileno()

    def ready() -> None:
        data = os.read(descriptor, 4096)
        if not data:
            loop.remove_reader(descriptor)
        keys.feed(data)

    loop.add_reader(descriptor, ready)
    try:
        yield keys
    finally:
        loop.remove_reader(descriptor)
