"""`/status`: how far the work is."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="status",
    usage="/status",
    summary="Bring the status comment up to date.",
    who="anyone",
    examples=(
        "/status",
        "/seconder status",
    ),
)
