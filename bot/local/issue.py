"""An issue from a text file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LONGEST_TITLE = 256


class BadIssue(ValueError):
    """A file that holds no issue; the text says why and what one looks like."""


@dataclass(frozen=True)
class IssueText:
    """Title and body as they are filed."""

    title: str
    body: str


def read_issue(path: Path) -> IssueText:
    """The first line that is not blank is the title, without a heading's marks; the rest is the body.

    Raises `BadIssue`.
    """
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadIssue(f"The issue {path} cannot be read as text: {error}.") from error
    title, _, body = text.partition("\n")
    title = title.lstrip("# ").strip()
    if not title:
        raise BadIssue(f"The issue {path} is empty: its first line is the title, the rest the body.")
    return IssueText(title[:LONGEST_TITLE], body.strip())
