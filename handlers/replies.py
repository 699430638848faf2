"""Answers outside a step: to a command, or to an issue that cannot be worked on. Found again by their hidden marker."""

from __future__ import annotations

from handlers.context import Context
from handlers.events import RepoRef
from handlers.messages import replies as message
from handlers.ports import Later, Unknown


async def reply_once(context: Context, repo: RepoRef, number: int, cause: str, reply: message.Reply) -> None:
    """Post one answer to `cause`, unless it is there already (the same event can arrive twice).

    Raises `Later` where it is not known whether it was posted.
    """
    mark = message.marker(cause)
    for comment in await context.github.issues.comments(repo, number):
        if comment.by_us and mark in comment.body:
            return
    try:
        await context.github.issues.comment(repo, number, message.render(reply, cause))
    except Unknown as error:
        # It may be there, and not yet in the list: looked for too soon, it would be posted twice.
        raise Later(str(error), context.options.settle_ms / 1000) from error
