"""Which entry of the board something goes back to: an entry, a kind, or a line of the change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.board import Entry
from handlers.state import RunState

NEWEST = ("summary", "pull_request", "test_results", "code", "design", "requirements", "issue")
_PLACE = re.compile(r"(?P<path>[^\s:]+)(?::(?P<line>[1-9]\d{0,6}))?")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Origin:
    """The entry that something goes back to; `line` is the text of the line that was asked for."""

    entry: Entry
    line: str = ""


def origin(state: RunState, asked: str) -> Origin | None:
    """What `asked` goes back to: an entry by id, the live one of a kind, the code that brought a path or a line of it;
    without words, the newest result. None where this run has nothing of the kind."""
    board = state.board
    if not asked:
        entry = next((found for kind in NEWEST if (found := board.live(kind)) is not None), None)
    else:
        entry = board.get(asked) or board.live(asked)
    if entry is not None:
        return Origin(entry)
    place = _PLACE.fullmatch(asked.strip("`"))
    if place is None:
        return None
    return _of_line(state, place["path"], int(place["line"])) if place["line"] else _of_path(state, place["path"])


def _of_path(state: RunState, path: str) -> Origin | None:
    """The first code, or tests, that changed a path."""
    for entry in (*state.entries("code"), *state.entries("tests")):
        files = entry.value.get("files")
        if any(str(change.get("path")) == path for change in (files if isinstance(files, list | tuple) else ())):
            return Origin(entry)
    return None


def _of_line(state: RunState, path: str, number: int) -> Origin | None:
    """The first entry that brought the line which stands at a place of the newest change."""
    changes = (*state.entries("code"), *state.entries("test_results"))
    newest = max(changes, key=lambda entry: entry.at, default=None)
    line = added_lines(str(newest.value.get("diff", "")), path).get(number) if newest is not None else None
    if line is None:
        return None
    for entry in changes:
        if line in added_lines(str(entry.value.get("diff", "")), path).values():
            return Origin(entry, line)
    return None


def added_lines(diff: str, path: str) -> dict[int, str]:
    """The lines that a unified diff adds to `path`: number on the new side, text."""
    added: dict[int, str] = {}
    current, number, left = "", 0, 0
    for line in diff.split("\n"):
        if left and line.startswith("+"):
            if current == path:
                added[number] = line[1:]
            number, left = number + 1, left - 1
        elif left and line.startswith(" "):
            number, left = number + 1, left - 1
        elif hunk := _HUNK.match(line):
            number, left = int(hunk[1]), int(hunk[2] or 1)
        elif not left and line.startswith("+++ "):
            current = line[4:].removeprefix("b/")
    return added
