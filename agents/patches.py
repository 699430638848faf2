"""Unified diffs as models write them: parsed, and applied to a text exactly.

The numbers in a hunk's header only say where to look first: what counts is that every kept and removed line stands in
the file as it is given. Format: GNU diffutils, Detailed Unified; git-diff(1) for the headers around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.ports import ToolError

_HUNK = re.compile(r"@@(?: -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@)?.*")
_REFUSED = {
    "rename from": "renaming is not possible in a patch: write the new file and delete the old one",
    "copy from": "copying is not possible in a patch: write the new file",
    "old mode": "a file's mode cannot be changed in a patch",
    "GIT binary patch": "binary files cannot be patched",
    "Binary files": "binary files cannot be patched",
}
_SHOWN = 6


@dataclass(frozen=True)
class Hunk:
    """A passage before and after; `start` is the line (from 1) where the header says it begins, None if it does not.

    `ends` are whether the old and the new passage end without a newline at the end of the file.
    """

    start: int | None
    old: tuple[str, ...]
    new: tuple[str, ...]
    ends: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class FilePatch:
    """What happens to one file: `kind` is change, create or delete."""

    path: str
    kind: str
    hunks: tuple[Hunk, ...]


def parse(patch: str) -> tuple[FilePatch, ...]:
    """The files that a patch changes, paths as given. Raises `ValueError` saying what is wrong and what would work."""
    lines = patch.replace("\r\n", "\n").split("\n")
    found = tuple(_files(lines))
    if not found:
        raise ValueError("no file header was found: each file begins with `--- a/path` and `+++ b/path`")
    return found


def _files(lines: list[str]) -> Iterator[FilePatch]:
    at = 0
    while at < len(lines):
        line = lines[at]
        problem = next((why for words, why in _REFUSED.items() if line.startswith(words)), None)
        if problem is not None:
            raise ValueError(f"line {at + 1}: {problem}")
        if not _is_header(lines, at):
            if line.startswith("@@"):
                raise ValueError(f"line {at + 1}: a hunk before any `--- a/path` and `+++ b/path`")
            at += 1
            continue
        old, new = _name(line), _name(lines[at + 1])
        hunks, at = _hunks(lines, at + 2)
        yield _file(old, new, hunks)


def _is_header(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _name(header: str) -> str:
    """The path of a header: without its mark, its a/ or b/, and a date behind a tab; empty for /dev/null."""
    path = header[4:].split("\t", 1)[0].strip().strip('"')
    return "" if path == "/dev/null" else re.sub(r"^[ab]/", "", path)


def _file(old: str, new: str, hunks: tuple[Hunk, ...]) -> FilePatch:
    path = new or old
    if not path:
        raise ValueError("both sides of a file header are /dev/null")
    if old and new and old != new:
        raise ValueError(f"{old} would become {new}: {_REFUSED['rename from']}")
    if not hunks:
        raise ValueError(f"{path} has no hunk: each begins with a line like `@@ -1,3 +1,4 @@`")
    kind = "create" if not old else "delete" if not new else "change"
    if kind == "create" and any(hunk.old for hunk in hunks):
        raise ValueError(f"{path} is to be created, but lines of an old file are given")
    if kind == "delete" and any(hunk.new for hunk in hunks):
        raise ValueError(f"{path} is to be deleted, but lines are kept or added")
    if all(hunk.old == hunk.new and hunk.ends[0] == hunk.ends[1] for hunk in hunks) and kind == "change":
        raise ValueError(f"the hunks for {path} change nothing")
    return FilePatch(path, kind, hunks)


def _hunks(lines: list[str], at: int) -> tuple[tuple[Hunk, ...], int]:
    found = []
    while at < len(lines) and (header := _HUNK.fullmatch(lines[at])) and lines[at].startswith("@@"):
        first, at = at + 1, at + 1
        while at < len(lines) and not lines[at].startswith(("@@", "diff --git ")) and not _is_header(lines, at):
            at += 1
        body = lines[first:at]
        while body and not body[-1].strip():  # blank lines between hunks, and behind the last, belong to neither
            body.pop()
        found.append(_hunk(int(header[1]) if header[1] else None, body, first))
    return tuple(found), at


def _hunk(start: int | None, body: list[str], first: int) -> Hunk:
    old: list[str] = []
    new: list[str] = []
    ends = [False, False]
    for number, line in enumerate(body, first + 1):
        sign, text = line[:1] or " ", line[1:]  # an empty line is a kept empty line whose blank was trimmed
        if sign == "\\":
            before = body[number - first - 2][:1] if number - first >= 2 else ""
            ends = [ends[0] or before in "- ", ends[1] or before in "+ "]
        elif sign not in " +-":
            raise ValueError(f"line {number}: {line[:60]!r} begins with none of blank, + and -")
        else:
            old += [text] * (sign != "+")
            new += [text] * (sign != "-")
    return Hunk(start, tuple(old), tuple(new), (ends[0], ends[1]))


def apply(one: FilePatch, text: str | None) -> str | None:
    """The file's new text; None when it is deleted. `text` is the present one, None where there is no file.

    A file with CRLF line ends keeps them. Raises `ToolError`, naming the hunk and showing the lines that stand there.
    """
    if one.kind == "create":
        if text is not None:
            raise ToolError(f"{one.path} is there already: patch it from what it holds")
        return _joined([line for hunk in one.hunks for line in hunk.new], "\n", one.hunks[-1].ends[1])
    if text is None:
        raise ToolError(f"there is no {one.path} to patch; a new file's old side is /dev/null")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n") if newline == "\r\n" else text.split("\n")
    open_end = bool(lines) and lines[-1] != ""
    lines = lines if open_end else lines[:-1]
    shift = at = 0
    for number, hunk in enumerate(one.hunks, 1):
        place = _place(lines, hunk, (at, shift), f"hunk {number} of {one.path}")
        lines[place : place + len(hunk.old)] = hunk.new
        at, shift = place + len(hunk.new), shift + len(hunk.new) - len(hunk.old)
        if at >= len(lines):
            open_end = hunk.ends[1] or (open_end and not hunk.ends[0] and hunk.new[-1:] == hunk.old[-1:])
    if one.kind == "delete":
        if lines:
            raise ToolError(f"{one.path} is to be deleted, but {len(lines)} of its lines do not stand in the patch")
        return None
    return _joined(lines, newline, open_end)


def _joined(lines: list[str], newline: str, open_end: bool) -> str:
    return newline.join(lines) + ("" if open_end or not lines else newline)


def _place(lines: list[str], hunk: Hunk, after: tuple[int, int], what: str) -> int:
    """Where the old passage stands: where the header says, or the one place behind the hunk before."""
    least, shift = after
    old = list(hunk.old)
    said = None if hunk.start is None else hunk.start - 1 + shift
    if not old:
        if hunk.start is None:
            raise ToolError(f"{what} only adds lines: keep a line before or behind them, so that their place is known")
        return min(max(least, hunk.start + shift), len(lines))
    if said is not None and said >= least and lines[said : said + len(old)] == old:
        return said
    places = [at for at in range(least, len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if len(places) == 1:
        return places[0]
    if places:
        where = ", ".join(str(at + 1) for at in places[:10])
        raise ToolError(f"the lines of {what} stand at several places ({where}): keep more lines around the change")
    at = min(max(0, said if said is not None else least), max(0, len(lines) - 1))
    shown = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines[at : at + _SHOWN], at + 1))
    raise ToolError(
        f"{what} does not fit: its kept and removed lines do not stand in the file one after the other. "
        f"Nothing was changed. There it reads:\n{shown}"
    )
