"""What else the core needs: wake-ups, time, and work trees."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from agents.board import FileChange
from agents.ports import TestReport, Tools
from handlers.events import RepoRef
from handlers.ports.github import TreeEdit


class Wake(Protocol):
    """Hints that something is due. Losing or doubling one changes nothing: the sweeper finds what is due anyway."""

    async def wake(self, due: Sequence[tuple[str, str]]) -> None:
        """Ask for each to be run soon, by whichever worker; the pairs are those of `Tasks.due`."""
        ...


class Clock(Protocol):
    """Time, so that tests own it."""

    def now_ms(self) -> int: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True)
class Snapshot:
    """A work tree, fixed: its tree id, the files that differ from the base, and a pack of the objects that are new."""

    tree: str
    pack: bytes
    files: tuple[FileChange, ...]
    diff: str
    outside: tuple[str, ...] = ()


class Workspace(Tools, Protocol):
    """A private copy of a repository at one tree, outside any git directory that the sandbox can touch."""

    async def snapshot(self) -> Snapshot:
        """Fix the tree as it stands. Raises `ToolError` when it holds what may not be committed (links, odd modes)."""
        ...

    async def put(self, edits: Sequence[TreeEdit]) -> None:
        """Write, or remove, files with exactly these bytes and modes. Raises `ToolError` as writing does."""
        ...

    async def run_suite(self, first: tuple[str, ...]) -> TestReport:
        """The whole suite, as a verdict; a slow one only when the selection `first` has passed."""
        ...

    async def run_once(self, selection: tuple[str, ...]) -> TestReport:
        """One plain run, in which neither flaky nor known failures are looked for."""
        ...


@dataclass(frozen=True)
class Sides:
    """A path that differs between two trees, on both sides. Modes are git's octal strings, `000000` where it is not;
    oids are git's ids, all zeros there. Contents are None for what is no file: absent, a link, a submodule."""

    path: str
    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str
    old: bytes | None
    new: bytes | None


class Workspaces(Protocol):
    """Makes work trees; the git directory stays with the host."""

    def open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AbstractAsyncContextManager[Workspace]:
        """A work tree of `base_sha`, or of `tree` whose new objects are in `packs`. Gone when the context ends."""
        ...

    async def survey(self, repo: RepoRef, base_sha: str) -> Survey:
        """What the repository looks like at a commit. Raises `TooBig` or `GitHubError`."""
        ...

    async def contents(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[TreeEdit]:
        """The edits that lead from `base_sha` to `tree`, with file contents, for a commit through the API."""
        ...

    async def compare(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[Sides]:
        """Every path that differs between `base_sha` and `tree`, by path, whatever it is; a moved one is two."""
        ...


@dataclass(frozen=True)
class Source:
    """A file to look at."""

    path: str
    content: bytes


@dataclass(frozen=True)
class Danger:
    """What a scanner found, from `line` to `last`. `test` is its own name for it; severity and confidence are `low`,
    `medium` or `high`."""

    line: int
    last: int
    test: str
    severity: str
    confidence: str
    text: str


@dataclass(frozen=True)
class Scanned:
    """What came of looking at one file: what was found, or the `problem` that kept it from being looked at.

    `readable` is false when the problem is the file's own: it is not in the language that its name says.
    """

    path: str
    found: tuple[Danger, ...] = ()
    problem: str = ""
    readable: bool = True


class Scanner(Protocol):
    """Looks for dangerous code, apart from everything else and within bounds."""

    async def scan(self, sources: Sequence[Source]) -> Sequence[Scanned]:
        """What was found in each file, in the same order. Never raises: what could not be looked at says so."""
        ...


class TooBig(Exception):
    """The repository is over a limit; the text names the limit and the way out."""


@dataclass(frozen=True)
class Survey:
    """What a repository looks like at a commit.

    Listing (paths, at most 2,000), number of files, guidance files, the test command with where it came from; an
    `outline` of what the code defines (path and text, the most used first), `customs` that changes have to keep,
    `unseen` parts whose content the team does not see, and whether commits have to be signed off.
    """

    paths: tuple[str, ...]
    files: int
    guidance: tuple[tuple[str, str], ...]
    test_command: tuple[str, ...] | None
    test_command_source: str
    outline: tuple[tuple[str, str], ...] = ()
    customs: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    sign_off: bool = False
