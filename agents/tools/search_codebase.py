"""search_codebase: lines that match a regular expression."""

from __future__ import annotations

from pydantic import Field

from agents.ports import Tools
from agents.tools.tool import RepoPath, Tool, ToolInput

MAX_HITS = 100
_MAX_LINE = 240


class SearchCodebase(ToolInput):
    """What to look for, and where."""

    pattern: str = Field(
        min_length=1, max_length=500, description="regular expression, case-sensitive; (?i) in front ignores case"
    )
    path: RepoPath = Field(default="", description="directory or file to search in; the whole repository if left out")


async def run(tools: Tools, args: SearchCodebase) -> str:
    """`path:line: text` for every matching line, indentation kept, at most 100."""
    hits = await tools.search(args.pattern, args.path, MAX_HITS + 1)
    if not hits:
        return f"No line matches {args.pattern!r} in {args.path or 'the repository'}."
    lines = [f"{hit.path}:{hit.line}: {hit.text.rstrip()[:_MAX_LINE]}" for hit in hits[:MAX_HITS]]
    if len(hits) > MAX_HITS:
        lines.append(f"[only the first {MAX_HITS}; narrow the pattern or give a path]")
    return "\n".join(lines)


TOOL = Tool(
    name="search_codebase",
    description=(
        "Search all text files for lines that match a regular expression (Rust syntax: no look-around, no "
        "back-references). Use it to find a definition, its callers, and how the repository already does something."
    ),
    input=SearchCodebase,
    run=run,
)
