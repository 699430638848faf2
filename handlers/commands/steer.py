"""`/steer`: tell the team something while it works."""

from __future__ import annotations

from agents.board import Entry, HumanNote
from handlers.commands.record import Command
from handlers.events import Event
from handlers.messages.replies import NothingOpen, Reply, Usage
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say
from handlers.workflow import Workflow

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
    """The words go on the board. While the team asks something they are the answer; an agent at work reads them before
    its next turn; else the developer is woken."""
    run = order.open_run
    if run is None:
        return NothingOpen("steer")
    words = f"{order.given.arguments}\n{order.given.words}".strip()
    if not words:
        return Usage(COMMAND.usage, COMMAND.examples[0], "There were no words for the team.")
    context, cause = order.context, order.event.id
    state = await context.states.of(run.id, context.store.runs)
    nodes = Workflow.model_validate(run.workflow).nodes
    open_nodes = [nodes[step.node] for step in state.open_steps() if step.node in nodes]
    asked = any(node.action == "ask" for node in open_nodes)
    at_work = any(node.role is not None for node in open_nodes)
    entry = Entry(
        id=f"human_note.{cause}",
        kind="human_note",
        value=HumanNote(text=words, via="answer" if asked else "steer", url=order.given.url).model_dump(mode="json"),
        author=order.author,
        at=context.clock.now_ms(),
    )
    if asked:
        # The step that asked finds its answer on the board, and says who is to read it.
        await say(context, run.id, Word(cause, entries=(entry,)))
        return None
    via = "running" if at_work else "steer"
    event = Event(id=f"{cause}:steered", name="steered", run=run.id, cause=cause, data={"via": via, "entry": entry.id})
    await say(context, run.id, Word(cause, entries=(entry,), events=(event,), steers=(words,) if at_work else ()))
    return None
