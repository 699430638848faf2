"""What makes a change one for the security gate. Each rule is a pure function from changed files to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gates.rules import files, hidden, paths, secret_text, weakened, words
from gates.rules.change import ChangedFile
from gates.rules.finding import GONE, Finding, digest, in_order

Rule = Callable[[ChangedFile], Iterable[Finding]]

RULES: tuple[Rule, ...] = (paths.examine, words.examine, files.examine, hidden.examine, secret_text.examine)
"""The rules that look at one file at a time."""

__all__ = ["GONE", "RULES", "ChangedFile", "Finding", "digest", "examine", "in_order"]


def examine(changes: Sequence[ChangedFile]) -> tuple[Finding, ...]:
    """Everything that the rules find in a change, the gravest first, each once."""
    found = [finding for change in changes for rule in RULES for finding in rule(change)]
    return in_order([*found, *weakened.examine(changes)])
