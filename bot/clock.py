"""The time of this machine."""

from __future__ import annotations

import time


class SystemClock:
    """`handlers.ports.Clock` of this machine."""

    def now_ms(self) -> int:
        """Milliseconds UTC."""
        return int(time.time() * 1000)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
