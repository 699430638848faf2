"""`/budget`: let a paused run go on."""

from __future__ import annotations

from handlers.ballots import Ballot
from handlers.commands.record import Command
from handlers.messages.replies import NothingOpen, Reply, Usage
from handlers.money import accept, micro_dollars, raise_limit
from handlers.orders import Order
from handlers.votes import open_cost

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
    """Raise the run's limit, as far as the operator's ceiling. Where the cost gate waits, that is a yes there."""
    run = order.open_run
    if run is None:
        return NothingOpen("budget")
    amount = micro_dollars(order.given.arguments)
    if amount is None:
        return Usage(COMMAND.usage, COMMAND.examples[0], "That is no amount of dollars.")
    context, cause = order.context, order.event.id
    gate = open_cost(await context.states.of(run.id, context.store.runs))
    if gate is None:
        return await raise_limit(context, run, cause, amount)
    return await accept(context, run, Ballot(gate, "yes", "", "command", order.author, cause, order.given.url), amount)
