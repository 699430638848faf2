"""The message of a commit. Markdown means nothing here, and the text may land on the default branch as it is."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from handlers.messages.neutral import one_line, plain

SUBJECT_LIMIT = 72
BODY_LIMIT = 4_000


@dataclass(frozen=True)
class CommitView:
    """A commit: the issue it belongs to, one line that says what it does, and why in some more lines.

    `signed_off` is the name and address that a sign-off line bears, where the repository asks for one.
    """

    number: int
    subject: str
    body: str = ""
    signed_off: str = ""


def split(summary: str) -> tuple[str, str]:
    """A developer's summary as subject and the rest: its first line, or its first sentence where that line is longer
    than a subject may be."""
    subject, _, rest = summary.strip().partition("\n")
    if len(subject) > SUBJECT_LIMIT:
        sentence = re.match(r"(.{8,}?[.!?])\s+(?=\S)", subject)
        if sentence is not None:
            subject, rest = sentence[1], f"{subject[sentence.end() :]}\n{rest}"
    return subject.strip(), rest.strip()


def _paragraphs(text: str) -> list[str]:
    """The text wrapped to 72 columns; lists and other short lines keep their breaks."""
    wrapped: list[str] = []
    for line in plain(text).strip().split("\n"):
        wrapped.extend(textwrap.wrap(line.rstrip(), SUBJECT_LIMIT, break_long_words=False) or [""])
    return wrapped


def _shortened(lines: list[str]) -> list[str]:
    kept: list[str] = []
    room = BODY_LIMIT
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, "(shortened)"]
        kept.append(line)
    return kept


def render(view: CommitView) -> str:
    """Subject of at most 72 characters, a blank line, the body, then `Refs #N` and, if asked for, the sign-off."""
    subject = one_line(view.subject, SUBJECT_LIMIT).rstrip(".") or f"Work on issue {view.number}"
    body = plain("\n".join(_shortened(_paragraphs(view.body)))).strip("\n")
    trailer = f"\nSigned-off-by: {view.signed_off}" if view.signed_off else ""
    return "\n\n".join(part for part in (subject, body, f"Refs #{view.number}{trailer}") if part)
