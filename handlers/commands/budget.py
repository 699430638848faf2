"""`/budget`: let a paused run go on."""

from __future__ import annotations

import re
from decimal import Decimal

from handlers.commands.record import Command
from handlers.events import Event
from handlers.messages.replies import Failed, NothingOpen, Reply, Usage
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say

_AMOUNT = re.compile(r"\+?\$?([0-9]{1,7}(?:\.[0-9]{1,6})?)")

COMMAND = Command(
    verb="budget",
    usage="/budget +N",
    summary="Give the run N dollars more; a run that is paused for money goes on.",
    who="write",
    examples=(
        "/budget +5",
        "/budget +2.50",
    ),
)


async def run(order: Order) -> Reply | None:
    """Raise the run's limit, as far as the operator's ceiling; a run that is paused for money goes on."""
    run = order.open_run
    if run is None:
        return NothingOpen("budget")
    amount = micro_dollars(order.given.arguments)
    if amount is None:
        return Usage(COMMAND.usage, COMMAND.examples[0], "That is no amount of dollars.")
    ceiling = order.context.options.ceiling
    if run.budget + amount > ceiling:
        return _too_much(run.budget + amount, ceiling)
    cause = order.event.id
    resumed = Event(id=f"{cause}:resumed", name="run_resumed", run=run.id, cause=cause, data={"budget": amount})
    if not await say(order.context, run.id, Word(cause, events=(resumed,), budget=amount, ceiling=ceiling)):
        # Known already, over, or somebody else raised it in this very moment.
        now = await order.context.store.runs.facts(run.id)
        if now is not None and now.status == "open" and now.budget + amount > ceiling:
            return _too_much(now.budget + amount, ceiling)
    return None


def _too_much(asked: int, ceiling: int) -> Reply:
    limit = f"whoever hosts me lets one run have at most ${ceiling / 1_000_000:,.2f}"
    return Failed("raise the limit that far", f"It would come to ${asked / 1_000_000:,.2f}, and {limit}.")


def micro_dollars(text: str) -> int | None:
    """`+5`, `2.50` or `$3` as micro-dollars; None for anything else, for less than a cent and for more than $1,000."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    amount = Decimal(match[1])
    if not Decimal("0.01") <= amount <= 1_000:
        return None
    return int(amount * 1_000_000)
