"""Rate limits: what an answer says about them, a shared cool-down, and the pace of writes.

Source: GitHub REST, "Rate limits for the REST API" and "Best practices for using the REST API".
"""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx

from handlers.ports import Later
from infra.github.timing import Time

UNTOLD_S = 60.0
"""How long to wait when GitHub does not say (or says it unreadably)."""
LONGEST_S = 3600.0
LONGEST_QUEUE_S = 20.0
LIMIT_TEXTS = ("secondary rate limit", "rate limit exceeded", "abuse detection", "submitted too quickly")


class RateLimited(Later):
    """A rate limit: everything of this installation has to wait, not only this request."""


def retry_after(value: str, now: float) -> float:
    """Seconds that a Retry-After header asks for: a number or an HTTP date; `UNTOLD_S` when it is neither."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return UNTOLD_S
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now
    return min(max(seconds, 1.0), LONGEST_S) if seconds == seconds else UNTOLD_S


def limited_for(status: int, headers: httpx.Headers, text: str, now: float) -> float | None:
    """Seconds to wait if the answer is a rate limit, else None. Both 403 and 429 may be one."""
    if status not in (403, 429):
        return None
    if (asked := headers.get("retry-after")) is not None:
        return retry_after(asked, now)
    if headers.get("x-ratelimit-remaining") == "0":
        try:
            return min(max(float(headers.get("x-ratelimit-reset", "")) - now, 1.0), LONGEST_S)
        except ValueError:
            return UNTOLD_S
    told = any(known in text.casefold() for known in LIMIT_TEXTS)
    return UNTOLD_S if status == 429 or told else None


class Cooldowns:
    """Installations that have to wait; one limit holds back all of that installation's requests."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._until: dict[int, float] = {}

    def start(self, installation: int, seconds: float) -> None:
        """Hold the installation back for so long, or longer if it is held already."""
        until = self._time.monotonic() + seconds
        self._until[installation] = max(until, self._until.get(installation, 0.0))

    def check(self, installation: int) -> None:
        """Raises `Later` while the installation has to wait."""
        left = self._until.get(installation, 0.0) - self._time.monotonic()
        if left > 0:
            raise Later(f"GitHub asked installation {installation} to wait {left:.0f} s more", left)
        self._until.pop(installation, None)


class Pace:
    """Spaces the writes of one installation, first come first served."""

    def __init__(self, time: Time, gap: float) -> None:
        self._time = time
        self._gap = gap
        self._next: dict[int, float] = {}

    async def wait(self, installation: int) -> None:
        """Wait for this write's turn. Raises `Later` when the queue is longer than `LONGEST_QUEUE_S`."""
        now = self._time.monotonic()
        turn = max(self._next.get(installation, now), now)
        if turn - now > LONGEST_QUEUE_S:
            raise Later(f"too many writes are waiting for installation {installation}", turn - now)
        self._next[installation] = turn + self._gap
        if turn > now:
            await self._time.sleep(turn - now)
