"""The names of our branches: a function of issue, title and attempt, in a handful of safe characters."""

from __future__ import annotations

import re
import unicodedata

PREFIX = "seconder/issue-"
_LONGEST_SLUG = 40


def slug(title: str) -> str:
    """The title in lower-case ASCII letters, digits and hyphens, at most 40; empty when nothing is left of it."""
    ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").lower()
    words = re.findall(r"[a-z0-9]+", ascii_only)
    text = "-".join(words)
    if len(text) <= _LONGEST_SLUG:
        return text
    cut = text[: _LONGEST_SLUG + 1]
    return cut.rpartition("-")[0] if "-" in cut else text[:_LONGEST_SLUG]


def branch_name(number: int, title: str, attempt: int = 1) -> str:
    """`seconder/issue-12-add-a-flag`; a later attempt gets its number at the end. The same input gives the same name.

    Raises `ValueError` for an issue or attempt number below one.
    """
    if number < 1 or attempt < 1:
        raise ValueError(f"issue and attempt count from 1, not {number} and {attempt}")
    parts = [f"{PREFIX}{number}", slug(title), str(attempt) if attempt > 1 else ""]
    return "-".join(part for part in parts if part)
