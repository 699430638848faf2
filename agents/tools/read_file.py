"""read_file: a file's text with line numbers."""

from __future__ import annotations

from pydantic import Field

from agents.ports import ToolError, Tools
from agents.tools.tool import RepoPath, Tool, ToolInput

MAX_LINES = 400
MAX_CHARS = 30_000
_MAX_LINE = 2_000


class ReadFile(ToolInput):
    """Which file, and optionally which lines of it (counted from 1, both ends included)."""

    path: RepoPath
    start_line: int = Field(default=1, ge=1, description="first line to show; 1 when left out")
    end_line: int | None = Field(default=None, ge=1, description="last line to show; as far as fits when left out")


def lines_of(text: str) -> list[str]:
    """The lines as editors and compilers count them: only newlines part them, a form feed does not."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(lines: list[str], first: int) -> str:
    """Lines with their numbers, as every tool shows them: number, tab, text."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


async def run(tools: Tools, args: ReadFile) -> str:
    """The lines asked for, at most 400 of them and 30,000 characters, with a note on how to read on."""
    file = await tools.read(args.path)
    lines = lines_of(file.text)
    if not lines:
        return f"{args.path} is empty."
    if args.start_line > len(lines):
        raise ToolError(f"{args.path} has {len(lines)} lines, so there is no line {args.start_line}")
    if args.end_line is not None and args.end_line < args.start_line:
        raise ToolError(f"end_line {args.end_line} comes before start_line {args.start_line}")
    wanted_last = min(args.end_line or len(lines), len(lines))
    last = min(wanted_last, args.start_line + MAX_LINES - 1)
    shown: list[str] = []
    size = 0
    for line in lines[args.start_line - 1 : last]:
        text = line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} [… line of {len(line):,} characters cut]"
        size += len(text) + 8
        if shown and size > MAX_CHARS:
            break
        shown.append(text)
    end = args.start_line + len(shown) - 1
    head = f"{args.path}, lines {args.start_line} to {end} of {len(lines)}"
    more = f"\n[cut here; read on with start_line={end + 1}]" if end < wanted_last else ""
    return f"{head}\n{numbered(shown, args.start_line)}{more}"


TOOL = Tool(
    name="read_file",
    description=(
        "Read a text file. Lines come with their numbers and a tab, which are not part of the file. At most "
        f"{MAX_LINES} lines come at once; ask for a range to see more. Read a file before you change it."
    ),
    input=ReadFile,
    run=run,
)
