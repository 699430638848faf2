"""`/steer`: tell the team something while it works."""

from __future__ import annotations

from agents.board import Entry, HumanNote
from handlers.commands.record import Command
from handlers.events import Event
from handlers.messages.replies import NothingOpen, Reply, Usage
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say

COMMAND = Command(
    verb="steer",
    usage="/steer your words",
    summary="Tell the team something; it reads it before its next step.",
    who="write",
    examples=(
        "/steer use the existing parser",
        "/steer\nKeep the old flag as an alias.\nAnd add a test for it.",
    ),
)


async def run(order: Order) -> Reply | None:
    """The words go on the board. An agent at work reads them before its next turn; else the developer is woken."""
    run = order.open_run
    if run is None:
        return NothingOpen("steer")
    words = f"{order.given.arguments}\n{order.given.words}".strip()
    if not words:
        return Usage(COMMAND.usage, COMMAND.examples[0], "There were no words for the team.")
    context, cause = order.context, order.event.id
    state = await context.states.of(run.id, context.store.runs)
    roles = {name for name, node in context.workflows[str(run.workflow["name"])].nodes.items() if node.role is not None}
    at_work = any(step.node in roles for step in state.open_steps())
    entry = Entry(
        id=f"human_note.{cause}",
        kind="human_note",
        value=HumanNote(text=words, via="steer", url=order.given.url).model_dump(mode="json"),
        author=order.author,
        at=context.clock.now_ms(),
    )
    via = "running" if at_work else "steer"
    event = Event(id=f"{cause}:steered", name="steered", run=run.id, cause=cause, data={"via": via, "entry": entry.id})
    await say(context, run.id, Word(cause, entries=(entry,), events=(event,), steers=(words,) if at_work else ()))
    return None
