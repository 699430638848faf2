"""A clock and a wake-up that tests own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from handlers.ports import Clock, Wake


@dataclass
class FakeClock:
    """Begins at today's time, since the store's own clock cannot be set; each look is a millisecond later."""

    now: int = field(default_factory=lambda: int(time.time() * 1000))

    def now_ms(self) -> int:
        self.now += 1
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


@dataclass
class FakeWake:
    """Keeps what it was asked to wake, and wakes nothing: a lost hint has to change nothing."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    async def wake(self, due: Sequence[tuple[str, str]]) -> None:
        self.asked.extend(due)


_CHECK: tuple[type[Clock], type[Wake]] = (FakeClock, FakeWake)
