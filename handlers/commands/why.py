"""`/why`: where something comes from."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.lines import line_of
from handlers.messages.replies import NothingOpen, Reply, Why, WhyLine
from handlers.orders import Order
from handlers.provenance import origin

COMMAND = Command(
    verb="why",
    usage="/why [entry, or path:line]",
    summary="Show where something comes from, back to the issue.",
    who="anyone",
    examples=(
        "/why",
        "/why design",
        "/why src/calc.py:12",
    ),
)
MOST_LINES = 20


async def run(order: Order) -> Reply | None:
    """The way back to the issue, also of a run that has ended."""
    if order.run is None:
        return NothingOpen("why")
    state = await order.context.states.of(order.run.id, order.context.store.runs)
    asked = order.given.arguments.strip()
    found = origin(state, asked)
    if found is None:
        return Why(asked, (), entries=tuple(entry.id for entry in state.board.all())[-MOST_LINES:])
    chain = state.board.why(found.entry.id)
    lines = tuple(WhyLine(one.id, one.author.name, one.author.kind, line_of(one)) for one in chain)
    left_out = max(0, len(lines) - MOST_LINES)
    return Why(asked or found.entry.id, lines[: MOST_LINES - 1] + lines[-1:] if left_out else lines, found.line)
