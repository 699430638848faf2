"""After downtime: deliveries that failed are found in GitHub's own record and asked for again, each once.

GitHub does not repeat a delivery by itself. One that is asked for again and fails again is asked for later, less and
less often. What was processed in spite of its failure comes again too, and is known by its delivery id.
Source: GitHub Docs, "Handling failed webhook deliveries".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import structlog

from handlers.ports import Asked, Chores, Clock, Deliveries, FailedDelivery, Later, Missing, Refused, Unknown

log = structlog.get_logger("seconder.recovery")

CHORE = "deliveries"
WINDOW_MS = 71 * 3600 * 1000
"""GitHub keeps deliveries for three days, and so long we know which we had; an hour is left for clocks and queues."""
OVERLAP_MS = 15 * 60 * 1000
LOST_MS = 10 * 60 * 1000
"""An attempt that we asked for and that is not listed after so long will not come any more."""
BACKOFF_MS = 5 * 60 * 1000
LONGEST_BACKOFF_MS = 3600 * 1000
MOST_TIMES = 24

Verdict = Literal["ask", "wait", "give_up"]


@dataclass(frozen=True)
class Recovered:
    """What one look came to: deliveries asked for again, still waited for, and given up."""

    asked: int = 0
    waiting: int = 0
    given_up: int = 0


def judge(delivery: FailedDelivery, asked: Asked) -> Verdict:
    """Whether a failed delivery is asked for (again) now."""
    if asked.count == 0:
        return "ask"
    if asked.count >= MOST_TIMES:
        return "give_up"
    came_back = delivery.attempts > asked.count
    wait = min(BACKOFF_MS * 2 ** (asked.count - 1), LONGEST_BACKOFF_MS) if came_back else LOST_MS
    return "ask" if asked.since_ms >= wait else "wait"


def begin_of(now: int, mark: int | None) -> int:
    """Since when deliveries are looked at: three days, or from where everything before is done for good."""
    return max(now - WINDOW_MS, mark or 0)


async def recover(deliveries: Deliveries, chores: Chores, clock: Clock) -> Recovered:
    """Look once, and ask for what is due. Raises `GitHubError` when the record cannot be read."""
    now = clock.now_ms()
    failed = await deliveries.failed(begin_of(now, await chores.mark(CHORE)))
    counts = {"ask": 0, "wait": 0, "give_up": 0}
    unsettled: list[int] = []
    limited = False
    for delivery in failed:
        asked = await chores.asked(delivery.guid)
        verdict = judge(delivery, asked)
        if verdict == "ask" and limited:
            verdict = "wait"
        elif verdict == "ask":
            try:
                verdict = await _ask(deliveries, chores, delivery, asked)
            except Later as error:
                log.warning("redeliveries_put_off", guid=delivery.guid, why=str(error)[:200])
                verdict, limited = "wait", True
        if verdict != "give_up":
            unsettled.append(delivery.first_at)
        counts[verdict] += 1
    await chores.set_mark(CHORE, min([now - OVERLAP_MS, *unsettled]))
    result = Recovered(counts["ask"], counts["wait"], counts["give_up"])
    if failed:
        log.info("deliveries_recovered", asked=result.asked, waiting=result.waiting, given_up=result.given_up)
    return result


async def _ask(deliveries: Deliveries, chores: Chores, delivery: FailedDelivery, asked: Asked) -> Verdict:
    """Book, then ask: two workers never ask for the same one, and a kill in between costs a wait, not the delivery."""
    if not await chores.ask(delivery.guid, asked.count):
        return "wait"
    try:
        await deliveries.redeliver(delivery.id)
    except Unknown as error:
        log.warning("redelivery_unknown", guid=delivery.guid, why=str(error)[:200])
        return "wait"
    except (Missing, Refused) as error:
        log.error("redelivery_refused", guid=delivery.guid, why=str(error)[:200])
        return "give_up"
    return "ask"
