"""What a code scanner found, as findings: only where the change adds a line, and gravely enough to need a person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding

_ONLY_STYLE = frozenset({"B101"})
"""`assert`, which tests are made of."""


@dataclass(frozen=True)
class Danger:
    """What a scanner says about the lines from `line` to `last`; `severity` is `low`, `medium` or `high`."""

    line: int
    last: int
    test: str
    severity: str
    text: str


def is_python(change: ChangedFile) -> bool:
    """Whether the new side is Python: by its name, or by its first line."""
    if change.new is None:
        return False
    first = change.new[:200].split(b"\n", 1)[0]
    return change.path.lower().endswith((".py", ".pyw", ".pyi")) or (first.startswith(b"#!") and b"python" in first)


def examine(change: ChangedFile, dangers: Iterable[Danger]) -> Iterable[Finding]:
    """A finding for each danger that touches an added line. A low one is a note, and none at all in a test."""
    added = {number for number, _ in change.added_lines}
    for one in dangers:
        low = one.severity == "low"
        if one.test in _ONLY_STYLE or (low and change.is_test) or not added & set(range(one.line, one.last + 1)):
            continue
        first = min(added & set(range(one.line, one.last + 1)))
        yield change.finding(f"code.{one.test}", "note" if low else "approve", one.text, first)


def not_scanned(change: ChangedFile, problem: str, readable: bool) -> Finding:
    """What could not be looked at: a file that is no Python is for a person to judge, a scanner that failed blocks."""
    if readable:
        return change.finding("code.not_scanned", "block", f"it could not be scanned for dangerous code: {problem}")
    return change.finding(
        "code.unreadable", "approve", f"its name says Python, but it cannot be read as such: {problem}"
    )
