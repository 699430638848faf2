"""A workspace as a model may use it: files under `paths.never_read` are neither shown nor touched.

What the tests print is not looked through: a test that prints such a file shows it.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from agents.ports import CommandReport, FileText, SearchHit, TestReport, ToolError, Tools
from handlers.configs import Veil

_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(r"^(?:---|\+\+\+|rename from|rename to) (?:[ab]/)?(.+?)\t?$", re.MULTILINE)


class Veiled:
    """`agents.ports.Tools` with a veil over some paths."""

    def __init__(self, tools: Tools, veil: Veil) -> None:
        self._tools = tools
        self._veil = veil

    async def read(self, path: str) -> FileText:
        """Refuses a hidden file."""
        self._check(path)
        return await self._tools.read(path)

    async def listing(self, path: str) -> tuple[str, ...]:
        """Leaves hidden names out."""
        self._check(path)
        return tuple(name for name in await self._tools.listing(path) if not self._hides(posixpath.join(path, name)))

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        """Leaves hidden files out."""
        self._check(path)
        return tuple(hit for hit in await self._tools.search(pattern, path, limit) if not self._hides(hit.path))

    async def write(self, path: str, text: str) -> None:
        """Refuses a hidden file."""
        self._check(path)
        await self._tools.write(path, text)

    async def delete(self, path: str) -> None:
        """Refuses a hidden file."""
        self._check(path)
        await self._tools.delete(path)

    async def diff(self) -> str:
        """Leaves hidden files out."""
        return shown_diff(await self._tools.diff(), self._veil)

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        """As it is: the sandbox sees the whole tree."""
        return await self._tools.run_tests(selection)

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        """Refuses hidden files, and leaves out the lines about those in a folder."""
        for path in paths:
            self._check(path)
        report = await self._tools.lint(paths)
        lines = report.output.splitlines(keepends=True)
        shown = "".join(line for line in lines if not self._hides(line.split(":", 1)[0].strip()))
        return replace(report, output=shown)

    async def shell(self, command: str, seconds: float) -> CommandReport:
        """Refuses: a command could show any file."""
        raise ToolError(
            "this repository keeps paths from you (paths.never_read), so there is no shell; use other tools"
        )

    def _hides(self, path: str) -> bool:
        """Whether a path is hidden; a folder is when everything in it would be."""
        clean = posixpath.normpath(path.lstrip("/")) if path.strip("/") else "."
        return clean != "." and (self._veil.hides(clean) or self._veil.hides(f"{clean}/*"))

    def _check(self, path: str) -> None:
        if self._hides(path):
            raise ToolError(f"{path} is kept from you by this repository's settings (paths.never_read); do without it")


def shown_diff(diff: str, veil: Veil) -> str:
    """A unified diff without the files that are hidden."""
    kept = []
    for section in _SECTION.split(diff):
        names = _NAME.findall(section.split("\n@@", 1)[0])
        if not any(veil.hides(name) for name in names):
            kept.append(section)
    return "".join(kept)
