"""`/start`: the team works on an issue, or begins it again."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="start",
    usage="/start",
    summary="The team begins to work on the issue, or begins again after a run has ended.",
    who="write",
    examples=(
        "/start",
        "/seconder start",
    ),
)
