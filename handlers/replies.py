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
    if await _answers(context, repo, number, cause):
        return
    try:
        made = await context.github.issues.comment(repo, number, message.render(reply, cause))
    except Unknown as error:
        # It may be there, and not yet in the list: looked for too soon, it would be posted twice.
        raise Later(str(error), context.options.settle_ms / 1000) from error
    # A worker that was frozen between its look and its post finds on waking that another one has answered.
    if min(await _answers(context, repo, number, cause), default=made) < made:
        await context.github.issues.delete_comment(repo, made)


async def _answers(context: Context, repo: RepoRef, number: int, cause: str) -> list[int]:
    """The ids of our answers to `cause`."""
    mark = message.marker(cause)
    comments = await context.github.issues.comments(repo, number)
    return [comment.id for comment in comments if comment.by_us and mark in comment.body]
