"""`/merge`: merge the approved pull request."""

from __future__ import annotations

from agents.board import Entry, Vote
from handlers.commands.record import Command
from handlers.messages.replies import HeadMoved, NothingOpen, Reply
from handlers.orders import Order
from handlers.ports import Word
from handlers.pulls import say

COMMAND = Command(
    verb="merge",
    usage="/merge [commit]",
    summary="Merge the pull request as it stands, once it is approved.",
    who="maintain",
    examples=(
        "/merge",
        "/merge 0123abc",
    ),
)


async def run(order: Order) -> Reply | None:
    """A vote at the merge gate on the present head; before the approval it waits for it, bound to this head."""
    run = order.open_run
    if run is None or run.pull is None:
        return NothingOpen("merge")
    pull = await order.context.github.pulls.get(order.given.repo, run.pull)
    asked = order.given.arguments.strip().lower()
    if asked and not pull.head_sha.startswith(asked):
        return HeadMoved("merge", asked, pull.head_sha)
    vote = Vote(gate="merge", digest=pull.head_sha, word="yes", via="command", url=order.given.url)
    entry = Entry(
        id=f"vote.merge.{order.event.id}",
        kind="vote",
        value=vote.model_dump(mode="json"),
        author=order.author,
        at=order.context.clock.now_ms(),
    )
    await say(order.context, run.id, Word(order.event.id, entries=(entry,)))
    return None
