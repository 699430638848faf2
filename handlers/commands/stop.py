"""`/stop`: end a run."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.messages.replies import NothingOpen, Reply
from handlers.orders import Order

COMMAND = Command(
    verb="stop",
    usage="/stop [reason]",
    summary="Stop the work. Nothing is deleted.",
    who="write",
    examples=(
        "/stop",
        "/stop we do this by hand",
    ),
)


async def run(order: Order) -> Reply | None:
    """Cancel the open run; the status comment then says who stopped it and why."""
    run = order.open_run
    if run is None:
        return NothingOpen("stop")
    words = " ".join((order.given.arguments, order.given.words)).strip()
    reason = f"{order.given.author.login} stopped it" + (f": {words[:500]}" if words else "")
    await order.context.store.runs.cancel(run.id, order.event.id, reason)
    return None
