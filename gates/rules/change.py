"""A changed file as the rules see it: both sides whole, and the lines that the change adds."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from gates.rules.finding import GONE, Finding, Level

MOST_COMPARED = 4_000_000
"""Old times new lines up to which a changed region is compared line by line; a larger one counts as added whole."""


@dataclass(frozen=True)
class ChangedFile:
    """One path on both sides. Modes are git's octal strings, `000000` where the path is not; blobs are git's ids.

    `old` and `new` are contents, None where there is none to read: an absent path, a link's or a submodule's side.
    `is_test` says that the path is a test by the customs of its language.
    """

    path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    old: bytes | None
    new: bytes | None
    is_test: bool = False

    @property
    def removed(self) -> bool:
        """Whether the change takes the path away."""
        return self.new_mode == "000000"

    @property
    def added(self) -> bool:
        """Whether the path is new."""
        return self.old_mode == "000000"

    @cached_property
    def old_text(self) -> str | None:
        """The old content as text, None where it is none."""
        return _text(self.old)

    @cached_property
    def new_text(self) -> str | None:
        """The new content as text, None where it is none."""
        return _text(self.new)

    @cached_property
    def added_lines(self) -> tuple[tuple[int, str], ...]:
        """Number and text of each line of the new side that the change brings. A line feed ends a line, nothing else.
        Of a file that was no text before, every line is new."""
        if self.new_text is None:
            return ()
        return _added((self.old_text or "").split("\n"), self.new_text.split("\n"))

    def finding(self, rule: str, level: Level, why: str, line: int | None = None) -> Finding:
        """A finding on this path, bound to its new content."""
        return Finding(
            rule=rule, level=level, path=self.path, line=line, blob=GONE if self.removed else self.new_blob, why=why
        )


def _text(content: bytes | None) -> str | None:
    """UTF-8 without NUL, or None."""
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _added(old: list[str], new: list[str]) -> tuple[tuple[int, str], ...]:
    """What stands in `new` beyond what it shares with `old`, numbered from 1."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < min(len(old), len(new)) - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[start : len(old) - tail], new[start : len(new) - tail]
    if len(before) * len(after) > MOST_COMPARED:
        spans = [(0, len(after))]
    else:
        codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        spans = [(low, high) for tag, _, _, low, high in codes if tag in ("insert", "replace")]
    return tuple((start + place + 1, after[place]) for low, high in spans for place in range(low, high))
