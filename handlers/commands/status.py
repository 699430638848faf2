"""`/status`: how far the work is."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.messages.replies import NothingOpen, Reply
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say

COMMAND = Command(
    verb="status",
    usage="/status",
    summary="Bring the status comment up to date.",
    who="anyone",
    examples=(
        "/status",
        "/seconder status",
    ),
)


async def run(order: Order) -> Reply | None:
    """Wake the status comment, and whatever waits, to look at the facts again."""
    if order.open_run is None:
        return NothingOpen("status")
    await say(order.context, order.open_run.id, Word(order.event.id))
    return None
