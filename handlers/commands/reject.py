"""`/reject`: say no at a gate."""

from __future__ import annotations

from handlers.ballots import Ballot, facing, refuse, weigh
from handlers.commands.record import Command
from handlers.messages.replies import NothingOpen, Reply, Usage
from handlers.orders import Order
from handlers.votes import RULES, OpenGate, Spoken

COMMAND = Command(
    verb="reject",
    usage="/reject [gate] reason",
    summary="Say no at a gate: the work ends with your reason, and my pull request is closed.",
    who="write",
    examples=(
        "/reject we do not want this after all",
        "/reject security the token would end up in the log",
    ),
)


async def run(order: Order) -> Reply | None:
    """A no at the gate that is meant, with its reason."""
    run = order.open_run
    if run is None:
        return NothingOpen("reject")
    first, _, rest = order.given.arguments.strip().partition(" ")
    gate_name = first.lower() if first.lower() in RULES else None
    reason = f"{rest if gate_name else order.given.arguments}\n{order.given.words}".strip()
    if not reason:
        return Usage(COMMAND.usage, COMMAND.examples[1], "A no needs its reason, so that everybody can see why.")
    found = await facing(order.context, run)
    gate = weigh(found, Spoken("no", gate_name, at=order.event.at), "reject")
    if not isinstance(gate, OpenGate):
        return gate
    ballot = Ballot(gate, "no", reason, "command", order.author, order.event.id, order.given.url)
    await refuse(order.context, found, ballot)
    return None
