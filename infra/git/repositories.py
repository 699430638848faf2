"""The host's own git directories: one bare one per repository, filled by fetching single commits.

Nothing that runs untrusted code ever sees them. New objects of a work tree go into a directory of the work tree's own.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handlers.events import RepoRef
from handlers.ports import GitHubError, Later, Missing, Refused, TooBig
from infra.git.names import BadName, Remote, checked_full_name, checked_sha, path_problem
from infra.git.runner import Bounds, Command, Git, GitFailed, GitTimedOut, OutputTooLong, Place, Secret
from infra.git.tree import TreeEntry, TreeLimits, parse

TokenSource = Callable[[RepoRef], Awaitable[str]]

_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
# The highest place for attributes (gitattributes(5)): bytes stay as they are, no filter runs, no diff is hidden.
_ATTRIBUTES = "* -text -ident !filter !working-tree-encoding !diff !eol\n"
_MISSING = ("not our ref", "not found", "couldn't find remote ref", "error: 404")
_REFUSED = ("authentication failed", "error: 401", "error: 403", "could not read username", "terminal prompts disabled")
_BROKEN = ("fsck error", "error in object", "malformed", "bad object", "index-pack failed", "invalid index-pack")


@dataclass(frozen=True)
class GitLimits:
    """Bounds of the git side: seconds for a fetch, seconds and bytes for anything else, and what a tree may hold."""

    fetch_s: float = 300.0
    command_s: float = 60.0
    output_bytes: int = 64 << 20
    tree: TreeLimits = field(default_factory=TreeLimits)


class Repositories:
    """Git directories below `root`, and the only way to run git in them.

    `token` gives an installation token that may read the repository; an empty one means that none is needed. It is
    asked at each fetch, handed to git in its environment only, and kept nowhere.
    """

    def __init__(self, root: Path, remote: Remote, token: TokenSource, limits: GitLimits | None = None) -> None:
        self._root = root
        self._remote = remote
        self._token = token
        self._limits = limits if limits is not None else GitLimits()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(root, 0o700)
        self._git = Git(root / "home")
        self._locks: dict[int, asyncio.Lock] = {}

    async def fetch(self, repo: RepoRef, sha: str) -> Path:
        """The git directory, once it holds the commit `sha` with its whole tree.

        Raises `Missing` (no such repository or commit, or not for us to see), `Refused` (bad token or name, broken
        objects), `Later` (network) or `TooBig`.
        """
        try:
            checked_sha(sha)
            url = self._remote.url(repo.full_name)
        except BadName as error:
            raise Refused(f"git: {error}") from None
        async with self._locks.setdefault(repo.id, asyncio.Lock()):
            git_dir = await self._prepared(repo)
            if not await self._has_commit(git_dir, sha):
                async with _alone(git_dir, self._limits.fetch_s) as hold:
                    if not await self._has_commit(git_dir, sha):
                        await self._fetch(repo, git_dir, (url, sha), hold)
            return git_dir

    async def entries(self, git_dir: Path, tree: str, objects: Path | None = None) -> tuple[TreeEntry, ...]:
        """What a commit or tree holds. Raises `TooBig` over a limit or for hostile names, `GitFailed` without it."""
        bounds = Bounds(self._limits.command_s, self._limits.tree.listing_bytes)
        words = ("ls-tree", "-r", "-z", "--long", "--full-tree", checked_sha(tree))
        try:
            listing = await self._git.run(Command(words, Place(git_dir, objects=objects), bounds=bounds))
        except OutputTooLong:
            raise TooBig(
                f"the repository has more than {self._limits.tree.entries:,} files, or very long names: over "
                "Seconder's limit; use Seconder on a smaller repository"
            ) from None
        return await asyncio.to_thread(parse, listing, self._limits.tree)

    async def run(
        self,
        git_dir: Path,
        words: Sequence[str],
        place: tuple[Path | None, Path | None, Path | None] = (None, None, None),
        stdin: bytes = b"",
        output_bytes: int | None = None,
    ) -> bytes:
        """Standard output of a local git command; no protocol is open to it.

        `place` is work tree, index and a directory for new objects. Raises `GitFailed`; `OutputTooLong` over
        `output_bytes` (a kind of it).
        """
        if not words or any("\0" in word for word in words):
            raise ValueError("a git command needs words without NUL")
        work_tree, index, objects = place
        limit = output_bytes if output_bytes is not None else self._limits.output_bytes
        bounds = Bounds(self._limits.command_s, limit)
        return await self._git.run(Command(tuple(words), Place(git_dir, work_tree, index, objects), stdin, bounds))

    def path_problem(self, path: str) -> str | None:
        """Why a path may not be in a work tree, or None: the one rule for everybody."""
        return path_problem(path)

    async def _prepared(self, repo: RepoRef) -> Path:
        git_dir = self._root / f"{repo.id}.git"
        if not git_dir.exists():
            fresh = Path(tempfile.mkdtemp(prefix="new-", dir=self._root))
            await self._git.run(Command(("init", "--quiet", "--bare", "--template="), Place(fresh)))
            (fresh / "info").mkdir(exist_ok=True)
            (fresh / "info" / "attributes").write_text(_ATTRIBUTES)
            try:
                fresh.rename(git_dir)
            except OSError:
                shutil.rmtree(fresh)  # another process was faster; its directory is as good
                if not git_dir.exists():
                    raise
        return git_dir

    async def _has_commit(self, git_dir: Path, sha: str) -> bool:
        _own_config(git_dir)
        try:
            kind = await self._git.run(Command(("cat-file", "-t", sha), Place(git_dir)))
        except GitFailed:
            return False
        return kind.strip() == b"commit"

    async def _fetch(self, repo: RepoRef, git_dir: Path, what: tuple[str, str], hold: int) -> None:
        tree, (url, sha) = self._limits.tree, what
        words = (
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--depth=1", "--no-write-fetch-head"),
            *("--no-auto-maintenance", f"--filter=blob:limit={tree.blob_bytes + 1}", "--", url, sha),
        )
        token = await self._token(repo)
        bounds = Bounds(self._limits.fetch_s, protocol=self._remote.protocol)
        secret = _header(self._remote.web, token) if token else None
        try:
            await self._git.run(Command(words, Place(git_dir), bounds=bounds, secret=secret, holds=(hold,)))
        except GitFailed as error:
            raise _as_github_error(error, repo, sha) from None
        finally:
            # A filtered fetch notes the URL as a source of missing objects; later commands must never go there.
            _own_config(git_dir)
        if not await self._has_commit(git_dir, sha):
            raise Missing(f"{repo.full_name}: {sha} is not a commit")


@contextlib.asynccontextmanager
async def _alone(git_dir: Path, patience_s: float) -> AsyncIterator[int]:
    """Hold the directory against every other process, and clear away what a killed git left: git itself takes its
    lock files for a living process's and refuses every later fetch.

    Gives the lock's file descriptor, which git inherits: one that outlives its worker still holds the lock.
    Raises `Later` when nobody lets go within `patience_s`.
    """
    with git_dir.with_suffix(".held").open("ab") as file:
        until = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise Later(f"git: another process has held {git_dir.name} for {patience_s:g} s", 30.0) from None
            await asyncio.sleep(0.05)
        for left in (*git_dir.glob("*.lock"), *git_dir.glob("objects/pack/tmp_*")):
            left.unlink(missing_ok=True)
        yield file.fileno()


def _own_config(git_dir: Path) -> None:
    config = git_dir / "config"
    if config.read_text("utf-8", "replace") != _CONFIG:
        fresh = git_dir / f"config.{secrets.token_hex(8)}"
        fresh.write_text(_CONFIG)
        fresh.replace(config)


def _header(web: str, token: str) -> Secret:
    """GitHub: "Authenticating as a GitHub App installation": HTTP Basic with the user x-access-token."""
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return Secret(f"http.{web}/.extraHeader", f"Authorization: Basic {basic}", (basic, token))


def _as_github_error(error: GitFailed, repo: RepoRef, sha: str) -> GitHubError | TooBig:
    said = error.stderr.lower()
    text = f"git fetch of {checked_full_name(repo.full_name)} at {sha[:12]}: {error.stderr.strip()[:400]}"
    if error.code in (-25, 153) or "file size limit exceeded" in said or "file too large" in said:
        return TooBig(f"{repo.full_name}: a fetch is over 1 GiB, Seconder's limit; use it on a smaller repository")
    if isinstance(error, GitTimedOut):
        return Later(text, 60.0)
    if any(sign in said for sign in _BROKEN):
        return Refused(f"{text} (objects that git's checks refuse)")
    if any(sign in said for sign in _REFUSED):
        return Refused(f"{text} (may the App read this repository's contents?)")
    if any(sign in said for sign in _MISSING):
        return Missing(text)
    if "redirect" in said or "error: 301" in said or "error: 302" in said:
        return Refused(f"{text} (redirects are not followed: was the repository renamed?)")
    return Later(text, 30.0)
