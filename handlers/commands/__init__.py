"""The commands people give in comments, each a record and a function; `MODULES` is the list, written out once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from handlers.commands import approve, budget, help, merge, modify, reject, retry, start, status, steer, stop, why
from handlers.commands.record import WHO_IN_WORDS, Command
from handlers.messages.replies import Reply
from handlers.orders import Entitled, Order


class Module(Protocol):
    """What a file of this folder holds."""

    COMMAND: Command

    async def run(self, order: Order, /) -> Reply | None: ...


MODULES: tuple[Module, ...] = (
    start,
    status,
    steer,
    stop,
    retry,
    approve,
    reject,
    modify,
    budget,
    merge,
    why,
    help,
)
COMMANDS: tuple[Command, ...] = tuple(module.COMMAND for module in MODULES)
ENTITLED: Mapping[str, Entitled] = {module.COMMAND.verb: Entitled(module.COMMAND.who, module.run) for module in MODULES}


def table() -> str:
    """All commands as a Markdown table: for the README and for `/help`."""
    rows = (f"| `{one.usage}` | {one.summary} | {WHO_IN_WORDS[one.who]} |" for one in COMMANDS)
    return "\n".join(["| command | what it does | who |", "|---|---|---|", *rows])


__all__ = ["COMMANDS", "ENTITLED", "Command", "table"]
