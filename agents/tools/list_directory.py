"""list_directory: the names in a directory."""

from __future__ import annotations

import fnmatch

from pydantic import Field

from agents.ports import ToolError, Tools
from agents.tools.tool import RepoPath, Tool, ToolInput

MAX_NAMES = 500


class ListDirectory(ToolInput):
    """Which directory; the repository's root when left out."""

    path: RepoPath = Field(default="", description="directory relative to the repository's root; the root if left out")
    match: str = Field(default="", max_length=200, description="only names like this, as *.py or test_*; else all")
    start: int = Field(default=1, ge=1, description="the first name to show, to go on with a long list")


async def run(tools: Tools, args: ListDirectory) -> str:
    """Names, one a line, directories with a slash at the end."""
    names = await tools.listing(args.path)
    place = args.path or "the root"
    if not names:
        return f"{place} is empty."
    if args.match:
        names = tuple(name for name in names if fnmatch.fnmatchcase(name.rstrip("/"), args.match))
        place = f"{place} like {args.match}"
    if args.start > max(1, len(names)):
        raise ToolError(f"there are {len(names):,} names in {place}, so there is no name {args.start}")
    shown = names[args.start - 1 : args.start - 1 + MAX_NAMES]
    left = len(names) - (args.start - 1) - len(shown)
    more = f"\n[… {left:,} more; go on with start={args.start + len(shown)}, or use match]" if left else ""
    return f"{len(names):,} names in {place}\n" + "\n".join(shown) + more


TOOL = Tool(
    name="list_directory",
    description="List the names in one directory. Directories end in a slash. Ignored files are not shown.",
    input=ListDirectory,
    run=run,
)
