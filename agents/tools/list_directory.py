"""list_directory: the names in a directory."""

from __future__ import annotations

from pydantic import Field

from agents.ports import Tools
from agents.tools.tool import RepoPath, Tool, ToolInput

MAX_NAMES = 500


class ListDirectory(ToolInput):
    """Which directory; the repository's root when left out."""

    path: RepoPath = Field(default="", description="directory relative to the repository's root; the root if left out")


async def run(tools: Tools, args: ListDirectory) -> str:
    """Names, one a line, directories with a slash at the end."""
    names = await tools.listing(args.path)
    place = args.path or "the root"
    if not names:
        return f"{place} is empty."
    more = f"\n[… {len(names) - MAX_NAMES} more; list a subdirectory]" if len(names) > MAX_NAMES else ""
    return f"{len(names)} names in {place}\n" + "\n".join(names[:MAX_NAMES]) + more


TOOL = Tool(
    name="list_directory",
    description="List the names in one directory. Directories end in a slash. Ignored files are not shown.",
    input=ListDirectory,
    run=run,
)
