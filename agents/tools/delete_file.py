"""delete_file: remove one file."""

from __future__ import annotations

from agents.ports import Tools
from agents.tools.tool import Tool, WriteInput


class DeleteFile(WriteInput):
    """Which file."""


async def run(tools: Tools, args: DeleteFile) -> str:
    """Remove it."""
    await tools.delete(args.path)
    return f"Deleted {args.path}."


TOOL = Tool(
    name="delete_file",
    description="Remove one file. Use it for files that the change makes useless, or that you made by mistake.",
    input=DeleteFile,
    run=run,
    mutates=True,
)
