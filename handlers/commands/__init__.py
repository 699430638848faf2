"""The commands people give in comments; `COMMANDS` is the list, written out once."""

from __future__ import annotations

from handlers.commands import budget, help, merge, start, status, steer, stop
from handlers.commands.record import WHO_IN_WORDS, Command

COMMANDS: tuple[Command, ...] = (
    start.COMMAND,
    status.COMMAND,
    steer.COMMAND,
    stop.COMMAND,
    budget.COMMAND,
    merge.COMMAND,
    help.COMMAND,
)


def table() -> str:
    """All commands as a Markdown table: for the README and for `/help`."""
    rows = (f"| `{one.usage}` | {one.summary} | {WHO_IN_WORDS[one.who]} |" for one in COMMANDS)
    return "\n".join(["| command | what it does | who |", "|---|---|---|", *rows])


__all__ = ["COMMANDS", "Command", "table"]
