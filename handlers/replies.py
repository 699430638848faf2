"""Answers outside a step: to a command, or to an issue that cannot be worked on. Found again by their hidden marker."""

from __future__ import annotations

from handlers.context import Context
from handlers.events import RepoRef
from handlers.messages import replies as message


async def reply_once(context: Context, repo: RepoRef, number: int, cause: str, reply: message.Reply) -> None:
    """Post one answer to `cause`, unless it is there already (the same event can arrive twice)."""
    mark = message.marker(cause)
    for comment in await context.github.issues.comments(repo, number):
        if comment.by_us and mark in comment.body:
            return
    await context.github.issues.comment(repo, number, message.render(reply, cause))
