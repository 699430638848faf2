"""A work tree in memory that keeps the promises of `agents.ports.Tools`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from hashlib import sha256

from agents.ports import CommandReport, FileText, SearchHit, TestReport, ToolError, Tools


class FakeTools:
    """Files by path. `base` is the base commit, by default the same files; `report` is what a test run prints.

    `calls` lists the verbs that were used, in order.
    """

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        report: TestReport | None = None,
        base: Mapping[str, str] | None = None,
    ) -> None:
        self.files: dict[str, str] = dict(files or {})
        self.base: dict[str, str] = dict(self.files if base is None else base)
        self.report = report or TestReport("passed", ("pytest", "-q"), 0, "exit", "1 passed", 0.1, 1, 0, 0)
        self.calls: list[str] = []

    async def read(self, path: str) -> FileText:
        self.calls.append(f"read {path}")
        text = self.files.get(path)
        if text is None:
            raise ToolError(f"there is no file {path}; list_directory shows what there is")
        return FileText(path, text, text.count("\n") + (not text.endswith("\n") and bool(text)))

    async def listing(self, path: str) -> tuple[str, ...]:
        self.calls.append(f"listing {path}")
        prefix = "" if path in ("", ".") else f"{path}/"
        inside = [name.removeprefix(prefix) for name in self.files if name.startswith(prefix)]
        if not inside and prefix:
            raise ToolError(f"there is no directory {path}")
        return tuple(sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in inside}))

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        self.calls.append(f"search {pattern}")
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise ToolError(f"{pattern!r} is not a regular expression: {error}") from error
        hits = [
            SearchHit(name, number, line)
            for name, text in sorted(self.files.items())
            if not path or name == path or name.startswith(f"{path}/")
            for number, line in enumerate(text.splitlines(), 1)
            if wanted.search(line)
        ]
        return tuple(hits[:limit])

    async def write(self, path: str, text: str) -> None:
        self.calls.append(f"write {path}")
        self.files[path] = text

    async def delete(self, path: str) -> None:
        self.calls.append(f"delete {path}")
        if path not in self.files:
            raise ToolError(f"there is no file {path}")
        del self.files[path]

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        self.calls.append(f"run_tests {' '.join(selection)}".strip())
        return self.report

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        self.calls.append(f"lint {' '.join(paths)}".strip())
        return CommandReport(("ruff", "check"), 0, "exit", "All checks passed!")

    async def shell(self, command: str, seconds: float) -> CommandReport:
        self.calls.append(f"shell {command}")
        return CommandReport(("/bin/sh", "-c", command), 0, "exit", "done")

    async def diff(self) -> str:
        self.calls.append("diff")
        parts = []
        for path in sorted(self.base.keys() | self.files.keys()):
            old, new = self.base.get(path, ""), self.files.get(path, "")
            if old != new:
                lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}")
                parts.append(f"diff --git a/{path} b/{path}\n" + "".join(lines))
        return "".join(parts)

    async def fix(self) -> tuple[str, str]:
        """What a step's `fix` callback returns: a tree id and a pack digest that tell one content from another."""
        self.calls.append("fix")
        tree = sha256(repr(sorted(self.files.items())).encode()).hexdigest()
        return tree[:40], sha256(tree.encode()).hexdigest()


_CHECK: type[Tools] = FakeTools
