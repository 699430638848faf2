"""show_diff: what the work tree changes against the base commit."""

from __future__ import annotations

import re

from pydantic import Field

from agents.diffs import numbered_diff
from agents.ports import ToolError, Tools
from agents.quoting import cut
from agents.tools.tool import RepoPath, Tool, ToolInput

MAX_CHARS = 30_000
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)


class ShowDiff(ToolInput):
    """One file's part of the diff, or all of it."""

    path: RepoPath = Field(default="", description="show only this file's changes; all if left out")


def parts(diff: str) -> list[str]:
    """A unified diff cut into one text per file."""
    return [part for part in _FILE.split(diff) if part.strip()]


async def run(tools: Tools, args: ShowDiff) -> str:
    """The unified diff against the base commit, with the line numbers of the new file."""
    diff = await tools.diff()
    if not diff.strip():
        return "Nothing differs from the base commit."
    if args.path:
        mine = [part for part in parts(diff) if args.path in part.split("\n", 1)[0]]
        if not mine:
            raise ToolError(f"{args.path} is not changed; leave the path out to see what is")
        return cut(numbered_diff("".join(mine)), MAX_CHARS, "read the file to see the rest")
    return cut(numbered_diff(diff), MAX_CHARS, "give a path to see one file's changes whole")


TOOL = Tool(
    name="show_diff",
    description=(
        "Show the unified diff of the work tree against the commit on which this work started. The numbers on the left "
        "count lines of the new file and are not part of it; removed lines have none."
    ),
    input=ShowDiff,
    run=run,
)
