"""`/help`: the commands."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="help",
    usage="/help",
    summary="Show these commands.",
    who="anyone",
    examples=(
        "/help",
        "/seconder help",
    ),
)
