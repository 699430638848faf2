"""Workspaces on this machine: a work tree of its own for every step, gone when the step ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agents.ports import CommandReport, FileText, SearchHit, TestReport, ToolError
from handlers.events import RepoRef
from handlers.ports import Sides, Snapshot, Survey, TreeEdit, Workspace
from infra.workspace import atlas, commands, customs, detect, lint, trees
from infra.workspace.files import Files
from infra.workspace.needs import Entry, Environments, GitHost, Place, Provided, TestPlace
from infra.workspace.search import find_ripgrep, search
from infra.workspace.shelf import Shelf
from infra.workspace.suites import Base, Suite
from infra.workspace.testing import Ground

MAX_LISTED = 2_000
MAX_OUTLINE = 12_000
MAX_GUIDANCE_BYTES = 16 << 10
MAX_HITS = 500
_GUIDANCE = ("agents.md", "claude.md", "contributing.md", ".github/pull_request_template.md")
_READ_BYTES = 1 << 20
_MANIFEST_BYTES = 8 << 20
_NO_COMMAND = TestReport("not_run", reason="no test command was found; set one in the repository's configuration")


@dataclass(frozen=True)
class WorkspaceSettings:
    """Where work trees are made, the configured test command if there is one, and the ripgrep to search with.

    Without `ripgrep` the wheel's is used. Agents run a whole suite only where it takes less than `quick_s` seconds.
    """

    data_dir: Path
    test_command: tuple[str, ...] | None = None
    ripgrep: Path | None = None
    quick_s: float = 120.0


class LocalWorkspace:
    """One work tree. See `handlers.ports.Workspace` for the verbs."""

    def __init__(self, desk: trees.Desk, files: Files, owner: LocalWorkspaces, base: Base) -> None:
        self._desk = desk
        self._files = files
        self._owner = owner
        self._base = base
        # Git's index has one writer at a time, and a snapshot must not see half a change.
        self._lock = asyncio.Lock()

    async def read(self, path: str) -> FileText:
        """A text file. Raises `ToolError`."""
        return await asyncio.to_thread(self._files.read, path)

    async def listing(self, path: str) -> tuple[str, ...]:
        """Names in a directory. Raises `ToolError`."""
        return await asyncio.to_thread(self._files.listing, path)

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        """Lines that match a regular expression, at most `limit` (and 500). Raises `ToolError`."""
        if limit < 1:
            raise ToolError("a search needs a limit of at least 1")
        checked = await asyncio.to_thread(self._files.check, path)
        return await search(self._owner.ripgrep, self._desk.tree, pattern, checked, min(limit, MAX_HITS))

    async def write(self, path: str, text: str) -> None:
        """Create or replace a text file. Raises `ToolError`."""
        async with self._lock:
            await asyncio.to_thread(self._files.write, path, text)

    async def delete(self, path: str) -> None:
        """Remove one file. Raises `ToolError`."""
        async with self._lock:
            await asyncio.to_thread(self._files.delete, path)

    async def put(self, edits: Sequence[TreeEdit]) -> None:
        """Write or remove files, bytes and modes as given. Raises `ToolError`."""
        async with self._lock:
            for edit in edits:
                if edit.content is None:
                    await asyncio.to_thread(self._files.delete, edit.path)
                else:
                    await asyncio.to_thread(self._files.put, edit.path, edit.content, edit.mode == "100755")

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        """Run the tests on a copy of the tree; they can change nothing here. Raises `ToolError`."""
        async with self._lock:
            suite = await self._suite()
            if suite is None:
                return _NO_COMMAND
            is_base = await self._is_base()
            return await suite.for_agent(self._desk.tree, is_base, selection, self._owner.settings.quick_s)

    async def run_suite(self, first: tuple[str, ...]) -> TestReport:
        """Run all tests, as a verdict on the tree."""
        async with self._lock:
            suite = await self._suite()
            return _NO_COMMAND if suite is None else await suite.verdict(self._desk.tree, await self._is_base(), first)

    async def run_once(self, selection: tuple[str, ...]) -> TestReport:
        """Run tests once, and look no further. Raises `ToolError`."""
        async with self._lock:
            suite = await self._suite()
            return _NO_COMMAND if suite is None else await suite.once(self._desk.tree, selection)

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        """Run the configured linter on a copy of the tree. Raises `ToolError`."""
        async with self._lock:
            there = await asyncio.to_thread(_walk, self._desk.tree)
            linters = lint.configured(there, self._texts(name for name in lint.WANTED if name in there))
            git, desk = self._owner.git, self._desk
            changes = () if paths else await trees.file_changes(git, desk, await trees.fix(git, desk))
            changed = tuple(change.path for change in changes if change.status != "D")
            return await commands.lint(self._workplace("python"), lint.words_for(linters, paths, changed))

    async def shell(self, command: str, seconds: float) -> CommandReport:
        """Run a command on a copy of the tree, then take over what it changed. Raises `ToolError`."""
        async with self._lock:
            found = await asyncio.to_thread(self._command)
            kind = found.kind if found is not None else "configured"
            return await commands.shell(self._workplace(kind), command, seconds)

    async def diff(self) -> str:
        """The unified diff against the base commit. Raises `ToolError`."""
        async with self._lock:
            git = self._owner.git
            return await trees.diff_text(git, self._desk, await trees.fix(git, self._desk))

    async def snapshot(self) -> Snapshot:
        """Fix the tree as it stands. Raises `ToolError`."""
        async with self._lock:
            git, desk = self._owner.git, self._desk
            tree = await trees.fix(git, desk)
            files = await trees.file_changes(git, desk, tree)
            return Snapshot(tree, await trees.pack(git, desk, tree), files, await trees.diff_text(git, desk, tree))

    async def _suite(self) -> Suite | None:
        command = await asyncio.to_thread(self._command)
        if command is None:
            return None
        return Suite(command, self._ground(command.kind), self._base, self._owner.shelf)

    def _ground(self, kind: str) -> Ground:
        owner = self._owner
        prepared = partial(owner.prepared, kind) if owner.environments is not None else None
        return Ground(owner.sandbox, owner.plain, prepared)

    def _workplace(self, kind: str) -> commands.Workplace:
        desk = self._desk
        return commands.Workplace(self._owner.sandbox, self._ground(kind), desk.tree, self._files, desk.home / "shell")

    async def _is_base(self) -> bool:
        return await trees.fix(self._owner.git, self._desk) == self._desk.base_tree

    def _command(self) -> detect.TestCommand | None:
        configured = self._owner.settings.test_command
        if configured:
            return detect.TestCommand("configured", configured, "configuration")
        paths = _walk(self._desk.tree)
        return detect.detect(paths, self._texts(detect.wanted(paths)))

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        texts = {}
        for path in paths:
            with contextlib.suppress(ToolError):
                texts[path] = self._files.read(path).text
        return texts


@dataclass(frozen=True)
class TreeTexts:
    """`infra.workspace.needs.Manifests` over a work tree; no link is followed."""

    paths: frozenset[str]
    files: Files

    def read(self, path: str) -> str | None:
        """The text of one file of at most 8 MiB; None for anything else."""
        try:
            return self.files.read(path, _MANIFEST_BYTES).text
        except ToolError:
            return None


class LocalWorkspaces:
    """Makes work trees below `data_dir`. See `handlers.ports.Workspaces` for the verbs.

    `plain` runs tests without any isolation where the sandbox cannot work; leave it out, and they are not run there.
    `environments` makes what the tests need; leave it out, and they have the sandbox's own toolchain.
    """

    def __init__(
        self,
        settings: WorkspaceSettings,
        git: GitHost,
        sandbox: Place,
        plain: TestPlace | None = None,
        environments: Environments | None = None,
    ) -> None:
        self.settings = settings
        self.git = git
        self.sandbox = sandbox
        self.plain = plain
        self.environments = environments
        self.ripgrep = settings.ripgrep if settings.ripgrep is not None else find_ripgrep()
        self.shelf = Shelf(settings.data_dir / "found")
        self._root = settings.data_dir / "work"
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(self._root, 0o700)

    def open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AbstractAsyncContextManager[Workspace]:
        """A work tree of `base_sha`, or of `tree` whose new objects are in `packs`.

        Entering raises `TooBig`, or `GitHubError` for a missing commit or broken objects.
        """
        return self._open(repo, base_sha, tree, packs)

    async def survey(self, repo: RepoRef, base_sha: str) -> Survey:
        """What the repository looks like at a commit. Raises `TooBig` or `GitHubError`."""
        git_dir = await self.git.fetch(repo, base_sha)
        everything = await self.git.entries(git_dir, base_sha)
        entries = {entry.path: entry for entry in everything if entry.is_file}
        paths = sorted(entries)
        guides = [path for path in paths if path.lower() in _GUIDANCE]
        looked_at = (*guides, *detect.wanted(paths), *(path for path in customs.FILES if path in entries))
        read = await self._texts(git_dir, [entries[path] for path in looked_at])
        guidance = {path: read[path] for path in guides if path in read}
        configured = self.settings.test_command
        found = (
            detect.TestCommand("configured", configured, "configuration") if configured else detect.detect(paths, read)
        )
        return Survey(
            paths=tuple(paths[:MAX_LISTED]),
            files=len(paths),
            guidance=tuple((path, _cut(text)) for path, text in guidance.items()),
            test_command=found.words if found is not None else None,
            test_command_source=found.source if found is not None else "",
            outline=await self._outline(git_dir, base_sha, list(entries.values())),
            customs=customs.customs(paths, guidance, read),
            unseen=customs.not_followed(everything, read),
            sign_off=customs.sign_off(paths, guidance),
        )

    async def _outline(self, git_dir: Path, base_sha: str, entries: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
        """What the code defines; kept by the tree's id, so that a commit is looked through once."""
        key = ("outline", atlas.VERSION, await trees.base_tree_of(self.git, git_dir, base_sha))
        known = self.shelf.get(*key)
        if isinstance(known, list):
            return tuple((str(path), str(text)) for path, text in known)
        texts = await self._texts(git_dir, atlas.chosen(entries))
        made = await asyncio.to_thread(atlas.outline, texts, MAX_OUTLINE)
        self.shelf.put(made, *key)
        return made

    async def contents(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[TreeEdit]:
        """The edits from `base_sha` to `tree`, with contents. Raises `GitHubError` or `TooBig`."""
        async with self._desk(repo, base_sha, packs) as desk:
            await self.git.entries(desk.git_dir, tree, desk.objects)
            return await trees.edits(self.git, desk, tree)

    @contextlib.asynccontextmanager
    async def prepared(self, kind: str, tree: Path) -> AsyncIterator[Provided]:
        """What the tests of a work tree need, by its manifests, for a test command of `kind`."""
        if self.environments is None:
            raise ValueError("nothing here makes environments")
        paths = frozenset(await asyncio.to_thread(_walk, tree))
        texts = TreeTexts(paths, Files(tree, self.git.path_problem, frozenset()))
        async with self.environments.provided(kind, texts) as given:
            yield given

    async def compare(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[Sides]:
        """What differs between `base_sha` and `tree`, on both sides. Raises `GitHubError` or `TooBig`."""
        async with self._desk(repo, base_sha, packs) as desk:
            await self.git.entries(desk.git_dir, tree, desk.objects)
            return await trees.sides(self.git, desk, tree)

    async def sweep(self, older_than_s: float = 86_400.0) -> int:
        """Remove work trees that a killed process left behind; returns how many. Call it when a worker starts."""
        return await asyncio.to_thread(_sweep, self._root, time.time() - older_than_s)

    @contextlib.asynccontextmanager
    async def _open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AsyncIterator[Workspace]:
        async with self._desk(repo, base_sha, packs) as desk:
            special = await trees.check_out(self.git, desk, tree if tree is not None else desk.base_tree)
            files = Files(desk.tree, self.git.path_problem, special)
            yield LocalWorkspace(desk, files, self, self._base(repo, base_sha, desk))

    def _base(self, repo: RepoRef, base_sha: str, desk: trees.Desk) -> Base:
        @contextlib.asynccontextmanager
        async def opened() -> AsyncIterator[Path]:
            async with self._desk(repo, base_sha, ()) as other:
                await trees.check_out(self.git, other, other.base_tree)
                yield other.tree

        async def paths() -> frozenset[str]:
            return frozenset(entry.path for entry in await self.git.entries(desk.git_dir, base_sha) if entry.is_file)

        return Base(repo.id, desk.base_tree, paths, opened)

    @contextlib.asynccontextmanager
    async def _desk(self, repo: RepoRef, base_sha: str, packs: Sequence[bytes]) -> AsyncIterator[trees.Desk]:
        git_dir = await self.git.fetch(repo, base_sha)
        home = Path(tempfile.mkdtemp(prefix="w", dir=self._root))
        try:
            desk = trees.Desk(git_dir, home, await trees.base_tree_of(self.git, git_dir, base_sha))
            desk.tree.mkdir()
            # Started as root, the sandbox reads the tree as another user; the directory above stays closed.
            desk.tree.chmod(0o755)
            await trees.unpack(self.git, desk, packs)
            yield desk
        finally:
            shutil.rmtree(home, ignore_errors=True)

    async def _texts(self, git_dir: Path, entries: Sequence[Entry]) -> dict[str, str]:
        small = [entry for entry in entries if entry.size <= _READ_BYTES]
        blobs = await trees.contents(self.git, git_dir, sorted({entry.oid for entry in small}))
        return {entry.path: blobs[entry.oid].decode("utf-8", "replace") for entry in small}


def _cut(text: str) -> str:
    raw = text.encode()
    if len(raw) <= MAX_GUIDANCE_BYTES:
        return text
    return f"{raw[:MAX_GUIDANCE_BYTES].decode('utf-8', 'ignore')}\n[cut after {MAX_GUIDANCE_BYTES:,} bytes]"


def _walk(root: Path) -> list[str]:
    found = []
    for directory, _, names in os.walk(root, followlinks=False):
        relative = os.path.relpath(directory, root)
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
    return sorted(found)


def _sweep(root: Path, before: float) -> int:
    old = [path for path in root.iterdir() if path.lstat().st_mtime < before]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)
