"""`/stop`: end a run."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="stop",
    usage="/stop [reason]",
    summary="Stop the work. Nothing is deleted.",
    who="write",
    examples=(
        "/stop",
        "/stop we do this by hand",
    ),
)
