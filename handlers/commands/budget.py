"""`/budget`: let a paused run go on."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="budget",
    usage="/budget +N",
    summary="Give the run N dollars more; a run that is paused for money goes on.",
    who="write",
    examples=(
        "/budget +5",
        "/budget +2.50",
    ),
)
