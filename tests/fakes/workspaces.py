"""Workspaces in memory, for tests of what happens around them: files in dicts, trees named as by git, packs of JSON."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from agents.board import FileChange
from agents.ports import CommandReport, FileText, SearchHit, TestReport, ToolError
from handlers.events import RepoRef
from handlers.ports import Missing, Sides, Snapshot, Survey, TreeEdit, Workspace
from tests.fakes.git_objects import object_sha, tree_sha

Files = Mapping[str, str]
RunTests = Callable[[Files, tuple[str, ...]], TestReport]


def all_pass(files: Files, selection: tuple[str, ...]) -> TestReport:
    """A test run in which everything passes."""
    return TestReport(
        "passed", ("python", "-m", "pytest", "-q", *selection), 0, "exit", "1 passed", 0.1, 1, 0, 0, "fake"
    )


def tree_id(files: Files) -> str:
    """The id that git gives a tree of these files."""
    return tree_sha({path: ("100644", text.encode()) for path, text in files.items()})


@dataclass
class FakeWorkspace:
    """A work tree in a dict; `files` may be looked at and changed by the test."""

    files: dict[str, str]
    base: dict[str, str]
    answer: RunTests
    once: RunTests

    async def read(self, path: str) -> FileText:
        text = self.files.get(_clean(path))
        if text is None:
            raise ToolError(f"there is no {path}; list its directory to see what there is")
        return FileText(path, text, text.count("\n") + (0 if text.endswith("\n") or not text else 1))

    async def listing(self, path: str) -> tuple[str, ...]:
        prefix = "" if path in ("", ".") else f"{_clean(path).rstrip('/')}/"
        below = [name.removeprefix(prefix) for name in self.files if name.startswith(prefix)]
        if not below and prefix:
            raise ToolError(f"there is no directory {path}")
        return tuple(sorted({name if "/" not in name else name.split("/")[0] + "/" for name in below}))

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ToolError(f"the search failed: {error}") from None
        prefix = "" if path in ("", ".") else _clean(path)
        hits = [
            SearchHit(name, number, line)
            for name, text in sorted(self.files.items())
            if not prefix or name == prefix or name.startswith(f"{prefix.rstrip('/')}/")
            for number, line in enumerate(text.splitlines(), 1)
            if compiled.search(line)
        ]
        return tuple(hits[:limit])

    async def write(self, path: str, text: str) -> None:
        self.files[_clean(path)] = text

    async def delete(self, path: str) -> None:
        if self.files.pop(_clean(path), None) is None:
            raise ToolError(f"there is no {path}; list its directory to see what there is")

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        return self.answer(dict(self.files), selection)

    async def run_suite(self, first: tuple[str, ...]) -> TestReport:
        return self.answer(dict(self.files), ())

    async def run_once(self, selection: tuple[str, ...]) -> TestReport:
        return self.once(dict(self.files), selection)

    async def put(self, edits: Sequence[TreeEdit]) -> None:
        for edit in edits:
            if edit.content is None:
                await self.delete(edit.path)
            else:
                await self.write(edit.path, edit.content.decode())

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        return CommandReport(("ruff", "check"), 0, "exit", "All checks passed!")

    async def shell(self, command: str, seconds: float) -> CommandReport:
        return CommandReport(("/bin/sh", "-c", command), 0, "exit", "done")

    async def diff(self) -> str:
        parts = []
        for change in _changes(self.base, self.files):
            old, new = self.base.get(change.path), self.files.get(change.path)
            before = "/dev/null" if old is None else f"a/{change.path}"
            after = "/dev/null" if new is None else f"b/{change.path}"
            lines = difflib.unified_diff(
                (old or "").splitlines(keepends=True), (new or "").splitlines(keepends=True), before, after
            )
            parts.append(f"diff --git a/{change.path} b/{change.path}\n{''.join(lines)}")
        return "".join(parts)

    async def snapshot(self) -> Snapshot:
        is_changed = self.files != self.base
        pack = json.dumps(self.files, sort_keys=True).encode() if is_changed else b""
        return Snapshot(tree_id(self.files), pack, _changes(self.base, self.files), await self.diff())


@dataclass
class FakeWorkspaces:
    """Repositories as files by commit. `opened` records (base, tree) of every work tree that was made.

    `commits` maps a commit's SHA to its files; `answer` is what a test run says about a set of files, `once` what a
    plain one does.
    """

    commits: dict[str, dict[str, str]]
    answer: RunTests = all_pass
    once: RunTests = all_pass
    test_command: tuple[str, ...] | None = ("python", "-m", "pytest", "-q")
    opened: list[tuple[str, str | None]] = field(default_factory=list)
    outline: tuple[tuple[str, str], ...] = ()

    def open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AbstractAsyncContextManager[Workspace]:
        return self._open(repo, base_sha, tree, packs)

    @asynccontextmanager
    async def _open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AsyncIterator[Workspace]:
        base = self.base_files(repo, base_sha)
        self.opened.append((base_sha, tree))
        yield FakeWorkspace(dict(self._files(base, tree, packs)), base, self.answer, self.once)

    async def survey(self, repo: RepoRef, base_sha: str) -> Survey:
        files = self.base_files(repo, base_sha)
        guides = tuple((name, files[name]) for name in ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md") if name in files)
        source = "fake" if self.test_command is not None else ""
        listed = tuple(sorted(files)[:2_000])
        return Survey(listed, len(files), guides, self.test_command, source, outline=self.outline)

    async def contents(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[TreeEdit]:
        base = self.base_files(repo, base_sha)
        files = self._files(base, tree, packs)
        return tuple(
            TreeEdit(change.path, files[change.path].encode() if change.path in files else None)
            for change in _changes(base, files)
        )

    async def compare(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[Sides]:
        base = self.base_files(repo, base_sha)
        files = self._files(base, tree, packs)
        return tuple(
            Sides(
                path=change.path,
                old_mode=change.old_mode,
                new_mode=change.new_mode,
                old_oid=_blob(base.get(change.path)),
                new_oid=_blob(files.get(change.path)),
                old=base[change.path].encode() if change.path in base else None,
                new=files[change.path].encode() if change.path in files else None,
            )
            for change in _changes(base, files)
        )

    def base_files(self, repo: RepoRef, sha: str) -> dict[str, str]:
        """A commit's files. Raises `Missing`."""
        if sha not in self.commits:
            raise Missing(f"{repo.full_name}: there is no commit {sha}")
        return dict(self.commits[sha])

    def _files(self, base: dict[str, str], tree: str | None, packs: Sequence[bytes]) -> dict[str, str]:
        if tree is None or tree == tree_id(base):
            return base
        for pack in packs:
            files: dict[str, str] = json.loads(pack) if pack else {}
            if tree_id(files) == tree:
                return files
        raise Missing(f"no pack holds the tree {tree}")


def _blob(text: str | None) -> str:
    return "0" * 40 if text is None else object_sha("blob", text.encode())


def _clean(path: str) -> str:
    plain = path.removeprefix("./")
    parts = plain.split("/")
    if plain.startswith("/") or ".." in parts or any(part.lower() == ".git" for part in parts) or "\0" in plain:
        raise ToolError(f"the path {path!r} is refused. Paths are relative to the repository's root")
    return plain


def _changes(base: Files, files: Files) -> tuple[FileChange, ...]:
    found = []
    for path in sorted(base.keys() | files.keys()):
        old, new = base.get(path), files.get(path)
        if old == new:
            continue
        lines = list(difflib.ndiff((old or "").splitlines(), (new or "").splitlines()))
        found.append(
            FileChange(
                path=path,
                status="A" if old is None else "D" if new is None else "M",
                old_mode="000000" if old is None else "100644",
                new_mode="000000" if new is None else "100644",
                additions=sum(line.startswith("+ ") for line in lines),
                deletions=sum(line.startswith("- ") for line in lines),
            )
        )
    return tuple(found)
