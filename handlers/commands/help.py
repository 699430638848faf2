"""`/help`: the commands."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.messages.replies import Help, Reply
from handlers.orders import Order

COMMAND = Command(
    verb="help",
    usage="/help",
    summary="Show these commands.",
    who="anyone",
    examples=(
        "/help",
        "/seconder help",
    ),
)


async def run(order: Order) -> Reply | None:
    """The table of all commands."""
    return Help(order.help)
