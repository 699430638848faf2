"""`/merge`: merge the approved pull request."""

from __future__ import annotations

from handlers.commands.record import Command

COMMAND = Command(
    verb="merge",
    usage="/merge [commit]",
    summary="Merge the pull request as it stands, once it is approved.",
    who="maintain",
    examples=(
        "/merge",
        "/merge 0123abc",
    ),
)
