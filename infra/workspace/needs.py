"""What a workspace needs from its neighbours: somebody who runs git, and somewhere to run code under test."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from handlers.events import RepoRef


class Entry(Protocol):
    """One path of a tree: git's octal mode, object id, size in bytes, path."""

    @property
    def mode(self) -> str: ...

    @property
    def oid(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def path(self) -> str: ...

    @property
    def is_file(self) -> bool: ...


class GitHost(Protocol):
    """Git directories of the host's own. Failures are `GitHubError`s, limits are `TooBig`."""

    async def fetch(self, repo: RepoRef, sha: str) -> Path:
        """The git directory that holds commit `sha` with its tree."""
        ...

    async def entries(self, git_dir: Path, tree: str, objects: Path | None = None) -> Sequence[Entry]:
        """All paths of a commit or tree, none of them hostile."""
        ...

    async def run(
        self,
        git_dir: Path,
        words: Sequence[str],
        place: tuple[Path | None, Path | None, Path | None] = (None, None, None),
        stdin: bytes = b"",
        output_bytes: int | None = None,
    ) -> bytes:
        """Standard output of a local command; `place` is work tree, index, and a directory for new objects."""
        ...

    def path_problem(self, path: str) -> str | None:
        """Why a path may not be in a work tree, or None."""
        ...


class RunResult(Protocol):
    """How a command ended. `exit_code` is None unless `reason` is exit."""

    @property
    def exit_code(self) -> int | None: ...

    @property
    def reason(self) -> str: ...

    @property
    def output(self) -> bytes: ...

    @property
    def truncated(self) -> bool: ...

    @property
    def seconds(self) -> float: ...


class ShellPlace(Protocol):
    """Runs a shell command on a copy of a directory, which stays behind."""

    async def unavailable(self) -> str | None: ...

    async def run_shell(
        self, source: Path, command: str, into: Path, seconds: float, environments: Mapping[str, Path] | None = None
    ) -> RunResult:
        """Run `command` in a copy of `source`: `tree` in the empty directory `into`, `ready` beside it when whole.

        Raises `OSError` for writing too much.
        """
        ...


class TestPlace(Protocol):
    """Runs a command on a copy of a directory."""

    @property
    def isolation(self) -> str:
        """How the command is kept apart, in words for people."""
        ...

    async def unavailable(self) -> str | None:
        """Why nothing can be run and what would change that; None when it works."""
        ...

    async def run_tree(
        self,
        source: Path,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        environments: Mapping[str, Path] | None = None,
        seconds: float | None = None,
    ) -> RunResult:
        """Run `argv` in a copy of `source`, for at most `seconds` where that is less than the place allows.

        `{work}` in a variable's value is where that copy is. `environments` are those of `Provided.folders`.
        """
        ...


class Place(TestPlace, ShellPlace, Protocol):
    """The sandbox: for tests, and for a shell."""


class Manifests(Protocol):
    """The files of a work tree: their paths, and the text of one, or None when it cannot be read as text."""

    @property
    def paths(self) -> Collection[str]: ...

    def read(self, path: str) -> str | None: ...


class Provided(Protocol):
    """What a test run gets besides its tree. With a `problem` it gets nothing, and that says why."""

    @property
    def folders(self) -> Mapping[str, Path]:
        """Environments by kind."""
        ...

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders of the tree, besides its root and src, that packages are imported from."""
        ...

    @property
    def refused(self) -> tuple[str, ...]:
        """Lines of manifests that were not acted on."""
        ...

    @property
    def blocked(self) -> tuple[str, ...]:
        """Hosts that were refused while packages were fetched."""
        ...

    @property
    def problem(self) -> str: ...


class Environments(Protocol):
    """Makes what a repository's tests need, from its manifests."""

    def provided(self, kind: str, tree: Manifests) -> AbstractAsyncContextManager[Provided]:
        """What a test command of `kind` gets, held as long as the context; what cannot be made is a `problem`."""
        ...
