"""write_file: create a file, or replace all of one."""

from __future__ import annotations

from pydantic import Field

from agents.ports import ToolError, Tools
from agents.tools.read_file import lines_of
from agents.tools.tool import Tool, WriteInput

MAX_CHARS = 500_000


class WriteFile(WriteInput):
    """Where, and the whole text."""

    text: str = Field(description="the whole text of the file, with a newline at its end")


async def run(tools: Tools, args: WriteFile) -> str:
    """Write the file; one with CRLF line ends keeps them."""
    if len(args.text) > MAX_CHARS:
        raise ToolError(f"the text has {len(args.text):,} characters; a file may have {MAX_CHARS:,}")
    before = await _before(tools, args.path)
    text = args.text
    if before is not None and "\r\n" in before and "\r" not in text:
        text = text.replace("\n", "\r\n")
    if before == text:
        raise ToolError(f"{args.path} holds exactly this text already, so nothing would change")
    await tools.write(args.path, text)
    done = "Created" if before is None else "Replaced"
    return f"{done} {args.path} ({len(lines_of(text))} lines)."


async def _before(tools: Tools, path: str) -> str | None:
    """The file's text, or None when there is no text file to read; what may not be replaced, `write` refuses."""
    try:
        return (await tools.read(path)).text
    except ToolError:
        return None


TOOL = Tool(
    name="write_file",
    description=(
        "Create a file, directories included, or replace the whole text of one. For a change to an existing file use "
        "edit_file."
    ),
    input=WriteFile,
    run=run,
    mutates=True,
)
