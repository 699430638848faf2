"""shell: a command in the sandbox, on a copy of the work tree that is taken over afterwards."""

from __future__ import annotations

from pydantic import Field

from agents.ports import Tools
from agents.tools.run_linter import report_text
from agents.tools.tool import Tool, ToolInput

_NAMES = 40


class Shell(ToolInput):
    """What to run."""

    command: str = Field(
        min_length=1, max_length=8_000, description="for /bin/sh, in the repository's root; it cannot ask anything"
    )
    seconds: int = Field(default=60, ge=1, le=300, description="how long it may take")


def _listed(title: str, names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"{title}: {', '.join(names[:_NAMES])}{more}" if names else ""


async def run(tools: Tools, args: Shell) -> str:
    """What it printed, and what it did to the files."""
    report = await tools.shell(args.command, float(args.seconds))
    parts = (
        report_text(report),
        _listed("changed", report.changed),
        _listed("deleted", report.deleted),
        _listed("not taken over", report.left),
    )
    return "\n".join(part for part in parts if part)


TOOL = Tool(
    name="shell",
    description=(
        "Run a command in a sandbox without network, in a copy of the work tree. Files that it creates, changes or "
        "deletes are taken over; links are not. Use it to try the code out or to generate files; for reading, "
        "searching, editing and tests the other tools are better."
    ),
    input=Shell,
    run=run,
    mutates=True,
    anywhere=True,
)
