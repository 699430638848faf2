"""`/start`: the team works on an issue, or begins it again."""

from __future__ import annotations

from handlers.commands.record import Command
from handlers.events import ENDINGS
from handlers.intake import Wish, begin
from handlers.messages.replies import AlreadyOpen, Failed, Reply
from handlers.orders import Order

COMMAND = Command(
    verb="start",
    usage="/start",
    summary="The team begins to work on the issue, or begins again after a run has ended.",
    who="write",
    examples=(
        "/start",
        "/seconder start",
    ),
)


async def run(order: Order) -> Reply | None:
    """Start a run on the issue (also from its pull request), asked for by whoever gave the command."""
    if order.run is not None and order.run.status not in ENDINGS:
        return AlreadyOpen()
    given = order.given
    number = order.run.issue if order.run is not None else given.number
    issue = await order.context.github.issues.get(given.repo, number)
    if issue.is_pull_request:
        return Failed("begin here", "This is a pull request, and not one of mine. `/start` stands on an issue.")
    if issue.state != "open":
        return Failed("begin", "The issue is closed. Reopen it first.")
    shown = given.text if given.number == number and not given.on_pull_request else None
    await begin(order.context, Wish(given.repo, number, given.author, order.event.id, shown))
    return None
