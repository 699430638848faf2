"""Showing texts to a model: within a length, and marked as data where somebody else wrote them."""

from __future__ import annotations

import re

_NOT_IN_LABEL = re.compile(r'[\s"<>]+')
_DELIMITER = re.compile(r"[A-Za-z0-9]{8,64}")


def check_delimiter(delimiter: str) -> str:
    """The delimiter itself. Raises `ValueError` when it is so short or odd that a text could hold it by chance."""
    if not _DELIMITER.fullmatch(delimiter):
        raise ValueError(f"a delimiter is 8 to 64 letters and digits, drawn at random for each run; not {delimiter!r}")
    return delimiter


def quote(text: str, delimiter: str, label: str) -> str:
    """`text` as data between two lines that bear the run's delimiter.

    The delimiter cannot occur inside; `label` may come from outside too (a path, a login) and stays on its line.
    """
    inner = text.replace(delimiter, "[delimiter]").strip("\n")
    shown = _NOT_IN_LABEL.sub(" ", label.replace(delimiter, "[delimiter]"))[:200]
    return f'<data-{delimiter} from="{shown}">\n{inner}\n</data-{delimiter}>'


def cut(text: str, limit: int, hint: str = "", tail: int = 0) -> str:
    """At most `limit` characters of `text`, and a note of what was left out.

    `hint` says how to see the rest. With `tail`, so many of the characters come from the end and the gap is inside.
    """
    if len(text) <= limit:
        return text
    missing = len(text) - limit
    note = f"[… {missing:,} characters left out{'; ' + hint if hint else ''}]"
    head = text[: limit - tail]
    return f"{head}\n{note}\n{text[len(text) - tail :]}" if tail else f"{head}\n{note}"
