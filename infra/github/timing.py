"""Time as the adapter needs it, so that tests own it."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Time(Protocol):
    """Seconds: the wall clock (UTC), a clock that never jumps, and a pause."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemTime:
    """The machine's own clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
