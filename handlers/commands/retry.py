"""`/retry`: a run that is stuck tries its failed step again."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.events import Event
from handlers.messages.replies import NothingOpen, NothingStuck, Reply
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say

COMMAND = Command(
    verb="retry",
    usage="/retry",
    summary="Try the step again at which the run got stuck.",
    who="write",
    examples=(
        "/retry",
        "/seconder retry",
    ),
)


async def run(order: Order) -> Reply | None:
    """The failed steps are due again, each as a new step with nothing of the old one."""
    run = order.open_run
    if run is None:
        return NothingOpen("retry")
    state = await order.context.states.of(run.id, order.context.store.runs)
    if not any(node.failed for node in state.nodes.values()):
        return NothingStuck()
    cause = order.event.id
    resumed = Event(id=f"{cause}:resumed", name="run_resumed", run=run.id, cause=cause)
    await say(order.context, run.id, Word(cause, events=(resumed,)))
    return None
