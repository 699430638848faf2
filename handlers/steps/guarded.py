"""A workspace in which an agent cannot write what would never be pushed: it is told at once, and can do without.

This is a courtesy to the agent, not the boundary: what a command of its leaves in the tree is looked through before the
push, like everything else.
"""

from __future__ import annotations

from agents.ports import CommandReport, FileText, SearchHit, TestReport, ToolError, Tools
from gates.rules import GONE, ChangedFile, examine

_FILE, _ABSENT = "100644", "000000"


class Guarded:
    """`agents.ports.Tools` that refuses to write or delete where the rules would block the change."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def write(self, path: str, text: str) -> None:
        """Refuses what would never be pushed, with the reason."""
        before = await self._before(path)
        _refuse(ChangedFile(path, _ABSENT if before is None else _FILE, _FILE, GONE, GONE, before, text.encode()))
        await self._tools.write(path, text)

    async def delete(self, path: str) -> None:
        """Refuses what would never be pushed, with the reason."""
        _refuse(ChangedFile(path, _FILE, _ABSENT, GONE, GONE, b"", None))
        await self._tools.delete(path)

    async def _before(self, path: str) -> bytes | None:
        try:
            return (await self._tools.read(path)).text.encode()
        except ToolError:
            return None

    async def read(self, path: str) -> FileText:
        """As it is."""
        return await self._tools.read(path)

    async def listing(self, path: str) -> tuple[str, ...]:
        """As it is."""
        return await self._tools.listing(path)

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        """As it is."""
        return await self._tools.search(pattern, path, limit)

    async def diff(self) -> str:
        """As it is."""
        return await self._tools.diff()

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        """As it is."""
        return await self._tools.run_tests(selection)

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        """As it is."""
        return await self._tools.lint(paths)

    async def shell(self, command: str, seconds: float) -> CommandReport:
        """As it is: what it leaves is looked through before the push."""
        return await self._tools.shell(command, seconds)


def _refuse(change: ChangedFile) -> None:
    """Raises `ToolError` for a change that would never be pushed."""
    blocked = next((one for one in examine([change]) if one.level == "block"), None)
    if blocked is None:
        return
    line = f" (line {blocked.line})" if blocked.line is not None else ""
    raise ToolError(
        f"{change.path}{line} was left as it is: {blocked.why}. Seconder never pushes such a change. Do without it, "
        "and say in your result what a person should do by hand"
    )
