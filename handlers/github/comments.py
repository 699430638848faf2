"""A comment, wherever it was made: words of a person, or a command."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from handlers.events import CommandGiven, CommentAdded
from handlers.github.fields import Account, Envelope, Fields, Via, actor, is_us, milliseconds
from handlers.github.translation import AppIdentity, Found
from handlers.grammar import EDITED, REFUSED, Command, parse

KEPT_BYTES = 16 * 1024


class Comment(Fields):
    """An issue comment, a line comment or a review, as far as it is a comment."""

    id: int | None = None
    body: str | None = None
    user: Account | None = None
    html_url: str | None = None
    created_at: str | None = None
    submitted_at: str | None = None
    performed_via_github_app: Via | None = None


class Before(Fields):
    """What a text was before it was edited. GitHub's name for it is a word that Python keeps for itself."""

    text: str | None = Field(default=None, alias="from")


class Changes(Fields):
    """What an edit changed; without `body` it changed no text, as when a comment is hidden."""

    body: Before | None = None


class Spoken(Fields):
    """A comment with its place."""

    number: int
    on_pull_request: bool
    where: Literal["issue", "review", "line"]
    comment: Comment
    text: str | None = None


def heard(envelope: Envelope, spoken: Spoken, app: AppIdentity) -> tuple[Found, ...]:
    """`comment_added`, or `command_given` when its author, a person, gave one; nothing for bots, ourselves and silence.

    A command that cannot be followed is `command_given` with the verb `refused`, the reason as its arguments and
    the explanation as its words.
    """
    comment, repo = spoken.comment, envelope.repo()
    author = actor(comment.user)
    if repo is None or comment.id is None or author.type != "User" or not (comment.body or "").strip():
        return ()
    if is_us(app, comment.user, comment.performed_via_github_app) or is_us(app, envelope.sender):
        return ()
    body, cut = kept(comment.body or "")
    added = CommentAdded(
        repo=repo,
        sender=envelope.who(),
        number=spoken.number,
        on_pull_request=spoken.on_pull_request,
        where=spoken.where,
        comment_id=comment.id,
        author=author,
        body=body,
        url=comment.html_url or "",
        cut=cut,
    )
    return (
        Found(_command(added, spoken.text, app) or added, milliseconds(comment.created_at or comment.submitted_at)),
    )


def edited(envelope: Envelope, spoken: Spoken, changes: Changes | None, app: AppIdentity) -> tuple[Found, ...]:
    """`command_given` with the verb `refused` where an author has edited a command into their comment: it is not
    followed, and they are told so. The arguments are `edited`, the words the verb. Nothing for any other edit.
    """
    before = changes.body.text if changes is not None and changes.body is not None else None
    found = heard(envelope, spoken, app) if before is not None else ()
    for record, at in found:
        if isinstance(record, CommandGiven) and record.verb != REFUSED:
            was = parse(kept(before or "")[0], app.short_commands)
            if not isinstance(was, Command) or (was.verb, was.arguments) != (record.verb, record.arguments):
                said = {"verb": REFUSED, "arguments": EDITED, "words": record.verb}
                return (Found(record.model_copy(update=said), at),)
    return ()


def _command(added: CommentAdded, text: str | None, app: AppIdentity) -> CommandGiven | None:
    """The command in a comment, if its sender is its author, a person."""
    if added.sender.type != "User" or added.sender.id != added.author.id:
        return None
    given = parse(added.body, app.short_commands)
    if given is None:
        return None
    if isinstance(given, Command):
        said = {"verb": given.verb, "arguments": given.arguments, "words": given.words}
    else:
        said = {"verb": REFUSED, "arguments": given.reason, "words": given.explanation}
    return CommandGiven.model_validate(added.model_dump() | said | {"text": text})


def kept(body: str) -> tuple[str, bool]:
    """The first 16 KiB of a body, whole characters only, and whether that was not all."""
    raw = body.encode("utf-8", "replace")
    return raw[:KEPT_BYTES].decode("utf-8", "ignore"), len(raw) > KEPT_BYTES
