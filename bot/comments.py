"""`seconder commands parse`: what a comment would do, without doing it."""

from __future__ import annotations

from handlers.github.comments import kept
from handlers.grammar import Command, parse


def parsed(raw: bytes, short_commands: bool = True) -> dict[str, str | None]:
    """A comment's command as `verb` and `arguments`; or the reason of its `refusal`. All null: it is not for us.

    In: the comment in UTF-8, of which the first 16 KiB are read, as of every comment.
    """
    body, _ = kept(raw.decode("utf-8", "replace"))
    found = parse(body, short_commands)
    if found is None:
        return {"verb": None, "arguments": None, "refusal": None}
    if isinstance(found, Command):
        return {"verb": found.verb, "arguments": found.arguments, "refusal": None}
    return {"verb": None, "arguments": None, "refusal": found.explanation}
