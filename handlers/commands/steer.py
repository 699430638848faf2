"""`/steer`: tell the team something while it works."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="steer",
    usage="/steer your words",
    summary="Tell the team something; it reads it before its next step.",
    who="write",
    examples=(
        "/steer use the existing parser",
        "/steer\nKeep the old flag as an alias.\nAnd add a test for it.",
    ),
)
