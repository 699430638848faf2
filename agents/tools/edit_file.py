"""edit_file: replace one passage of a file, found by its exact text."""

from __future__ import annotations

import difflib
import re

from pydantic import Field

from agents.ports import ToolError, Tools
from agents.tools.read_file import lines_of, numbered
from agents.tools.tool import Tool, WriteInput

_NUMBERED = re.compile(r"\s*\d+\t")
_CONTEXT = 2
_ECHO = 16
_ECHO_END = 4
_MAX_NEAREST = 3
_MAX_COMPARED = 20_000


class EditFile(WriteInput):
    """A passage as it stands in the file, and what takes its place."""

    old: str = Field(
        description="the passage exactly as it stands in the file, without line numbers; it must occur once"
    )
    new: str = Field(description="what takes its place; an empty text removes the passage")


def replace_once(path: str, text: str, old: str, new: str) -> tuple[str, int]:
    """`text` with the one occurrence of `old` replaced by `new`, and the character at which that is.

    A file with CRLF line ends keeps them: a passage given with bare newlines is taken to mean them. Raises
    `ToolError`, with what would help, when the passage is empty, the same as the new one, not there, or there more
    than once.
    """
    if not old:
        raise ToolError("`old` is empty: give the passage to replace, or use write_file for a whole new file")
    if "\r\n" in text and "\r" not in old + new:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    if old == new:
        raise ToolError("`old` and `new` are the same, so nothing would change")
    starts = _occurrences(text, old)
    if not starts:
        raise ToolError(_not_found(path, text, old))
    if len(starts) > 1:
        lines = ", ".join(str(_line_of(text, start)) for start in starts[:10])
        raise ToolError(
            f"the passage occurs {len(starts)} times in {path}, from lines {lines}: "
            "include more lines around the one you mean"
        )
    return text[: starts[0]] + new + text[starts[0] + len(old) :], starts[0]


def _occurrences(text: str, old: str) -> list[int]:
    """Where `old` begins, overlapping ones included: an edit is unambiguous only if there is one in every reading."""
    starts: list[int] = []
    at = text.find(old)
    while at >= 0:
        starts.append(at)
        at = text.find(old, at + 1)
    return starts


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _not_found(path: str, text: str, old: str) -> str:
    wanted = lines_of(old.strip("\r\n")) or [old]
    problem = f"the passage was not found in {path}"
    if all(_NUMBERED.match(line) for line in wanted if line.strip()) and old.strip():
        return f"{problem}: it begins with line numbers, which are not part of the file. Leave them out"
    lines = lines_of(text)
    if not lines:
        return f"{problem}: the file is empty. Use write_file"
    same = _same_but_for_space(lines, wanted)
    if same is not None:
        shown = numbered(lines[same : same + len(wanted)], same + 1)
        return f"{problem}, but these lines differ from it only in white space. Copy them exactly:\n{shown}"
    nearest = _nearest(lines, wanted)
    if not nearest:
        return f"{problem}, nor anything like it. Read the file again; it may have changed, or it is another file"
    shown = "\n".join(numbered(lines[at : at + len(wanted[:12])], at + 1) for at in nearest)
    return f"{problem}. The nearest lines are:\n{shown}\nCopy the passage exactly as it stands, indentation included"


def _same_but_for_space(lines: list[str], wanted: list[str]) -> int | None:
    target = ["".join(line.split()) for line in wanted]
    squeezed = ["".join(line.split()) for line in lines]
    for at in range(len(lines) - len(target) + 1):
        if squeezed[at : at + len(target)] == target:
            return at
    return None


def _nearest(lines: list[str], wanted: list[str]) -> list[int]:
    """Indexes of the lines most like the longest wanted line, moved to where the passage would begin."""
    offset = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    candidates = [line.strip()[:200] for line in lines[:_MAX_COMPARED]]
    matches = difflib.get_close_matches(wanted[offset].strip()[:200], candidates, n=_MAX_NEAREST, cutoff=0.6)
    found = {index for match in dict.fromkeys(matches) for index in [candidates.index(match)]}
    return sorted(max(0, index - offset) for index in found)


async def run(tools: Tools, args: EditFile) -> str:
    """Make the edit and show the lines around it as they are now."""
    file = await tools.read(args.path)
    text, start = replace_once(args.path, file.text, args.old, args.new)
    await tools.write(args.path, text)
    first = _line_of(text, start)
    last = first + args.new.count("\n")
    return f"Edited {args.path}. It now reads:\n{_echo(lines_of(text), first, last)}"


def _echo(lines: list[str], first: int, last: int) -> str:
    """The lines from `first` to `last` (from 1) and a few around them; the middle of many is left out and counted."""
    begin, end = max(1, first - _CONTEXT), min(len(lines), last + _CONTEXT)
    shown = numbered(lines[begin - 1 : end], begin).split("\n")
    if len(shown) <= _ECHO:
        return "\n".join(shown)
    missing = len(shown) - _ECHO
    return "\n".join([*shown[: _ECHO - _ECHO_END], f"… ({missing} more lines)", *shown[-_ECHO_END:]])


TOOL = Tool(
    name="edit_file",
    description=(
        "Replace one passage of an existing file. `old` must be copied exactly from the file, indentation included and "
        "line numbers left out, and occur exactly once; take in a few lines around it if need be. Prefer this to "
        "write_file for existing files: it keeps the change small."
    ),
    input=EditFile,
    run=run,
    mutates=True,
)
