"""A person's own repository: looked at, copied from, and given one new branch; never configured, checked out or swept.

Its settings are somebody's text and may name programs (hooks, filters, fsmonitor, remote helpers). So nothing that
would run one is asked of git there: no status, no checkout, no fetch, no push. Changes are counted with settings of our
own over a copy of the index; objects are read as alternates and written as a pack.
Sources: gitrepository-layout(5), git-worktree(1), git-config(1).
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.git.names import BadName, checked_ref, checked_sha
from infra.git.runner import Bounds, Command, Git, GitFailed, Place

_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = {bare}\n"
# Bytes are compared as they are: no filter, no conversion. The highest place for attributes (gitattributes(5)).
_ATTRIBUTES = "* -text -ident !filter !working-tree-encoding !diff !eol\n"
_SHA1 = 40
_ZERO = "0" * _SHA1
_COPY_S = 600.0
_PACK_BYTES = 256 << 20
_NAMES_TRIED = 50


class CannotUse(ValueError):
    """A repository that cannot be worked with; the text names it, says why, and what would help."""


@dataclass(frozen=True)
class Checkout:
    """A repository as it was found. `top` is its work tree (None: a bare one), `common` where its objects and branches
    are, `branch` what is checked out (None: a detached HEAD)."""

    top: Path | None
    git_dir: Path
    common: Path
    head: str
    branch: str | None

    @property
    def name(self) -> str:
        """The folder's name, without a bare repository's `.git`."""
        return self.top.name if self.top is not None else self.git_dir.name.removesuffix(".git")

    @property
    def base(self) -> str:
        """What the branch is called in a copy: its own name, or one for the commit where that cannot be used."""
        with contextlib.suppress(BadName):
            if self.branch is not None:
                return checked_ref(self.branch)
        return f"base-{self.head[:12]}"


@dataclass(frozen=True)
class Changes:
    """What is not committed: tracked files that differ from HEAD, and files that git does not know."""

    changed: int = 0
    untracked: int = 0


@dataclass(frozen=True)
class NewBranch:
    """A branch to bring over: the bare repository that has it, its wanted name, its commit, and the commit that both
    repositories have."""

    source: Path
    name: str
    sha: str
    base: str


class Checkouts:
    """Works on people's repositories. `home` is a folder of ours for what git needs meanwhile."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._git = Git(home / "home")

    async def look(self, path: Path) -> Checkout:
        """The repository that a path is in. Raises `CannotUse`."""
        top, git_dir = find_repository(path)
        common = _common(git_dir)
        place = Place(git_dir)
        try:
            branch = await self._line(("symbolic-ref", "--quiet", "HEAD"), place)
        except GitFailed as error:
            if error.code != 1:
                raise CannotUse(f"{path}: git cannot read this repository: {error.stderr.strip()[:300]}") from None
            branch = ""
        try:
            head = await self._line(("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), place)
        except GitFailed:
            raise CannotUse(await self._why_no_head(path, place, branch)) from None
        if len(head) != _SHA1:
            raise CannotUse(f"{path} names its objects by SHA-256, and GitHub knows only SHA-1 repositories.")
        return Checkout(top, git_dir, common, head, branch.removeprefix("refs/heads/") or None)

    async def changes(self, checkout: Checkout) -> Changes | None:
        """What is not committed; None where that cannot be told, as with a split index."""
        index = checkout.git_dir / "index"
        if checkout.top is None or not index.exists():
            return Changes()
        with tempfile.TemporaryDirectory(dir=self._home) as folder:
            mine = Path(folder) / "looking"
            await self._bare(mine, "false")
            await asyncio.to_thread(shutil.copyfile, index, mine / "index")
            (mine / "HEAD").write_text(checkout.head + "\n")
            exclude = checkout.common / "info" / "exclude"
            if exclude.is_file():
                await asyncio.to_thread(shutil.copyfile, exclude, mine / "info" / "exclude")
            words = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all")
            place = Place(mine, checkout.top, mine / "index", checkout.common / "objects")
            try:
                rows = (await self._git.run(Command(words, place))).split(b"\0")
            except GitFailed:
                return None
        untracked = sum(row.startswith(b"??") for row in rows)
        return Changes(len(rows) - 1 - untracked, untracked)

    async def copy(self, checkout: Checkout, into: Path) -> None:
        """Make `into` a bare repository with the branch that is checked out and its history, and nothing else.

        Raises `CannotUse` for a repository that does not have all of it.
        """
        await self._bare(into, "true")
        place, ref = Place(into), f"refs/heads/{checkout.base}"
        alternates = into / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{checkout.common / 'objects'}\n")
        shallow = checkout.common / "shallow"
        if shallow.is_file():
            await asyncio.to_thread(shutil.copyfile, shallow, into / "shallow")
        packing = ("repack", "-a", "-d", "-q", "--no-write-bitmap-index")
        try:
            await self._git.run(Command(("update-ref", ref, checkout.head), place))
            await self._git.run(Command(("symbolic-ref", "HEAD", ref), place))
            await self._git.run(Command(packing, place, bounds=Bounds(_COPY_S)))
        except GitFailed as error:
            raise CannotUse(
                f"{checkout.top or checkout.git_dir} cannot be copied: {error.stderr.strip()[-300:]}\n"
                "If it is a partial clone, fetch the rest first (git fetch --refetch --no-filter); "
                "git fsck says what else is missing."
            ) from None
        alternates.unlink()

    async def take(self, checkout: Checkout, new: NewBranch) -> str:
        """Bring a branch over as a new one, and nothing else; returns the name that it got: the wanted one, or one
        with a number where that is taken. A branch that is there already is left as it is.

        Raises `CannotUse` when it cannot be done.
        """
        place = Place(checkout.common)
        try:
            await self._refuse_programs(place)
            names = await self._names(place)
            name = _free(names, new.name, new.sha)
            if names.get(name) == new.sha:
                return name
            await self._line(("cat-file", "-e", f"{checked_sha(new.base)}^{{commit}}"), place)
            packing = ("pack-objects", "--revs", "--stdout", "-q")
            wanted = f"{checked_sha(new.sha)}\n^{new.base}\n".encode()
            pack = await self._git.run(Command(packing, Place(new.source), wanted, Bounds(output_bytes=_PACK_BYTES)))
            await self._git.run(Command(("unpack-objects", "-q", "--strict"), place, pack))
            await self._git.run(Command(("update-ref", "--no-deref", f"refs/heads/{name}", new.sha, _ZERO), place))
        except GitFailed as error:
            said = error.stderr.strip()[-300:] or f"git {error}"
            raise CannotUse(f"{checkout.top or checkout.git_dir} could not be given the branch: {said}") from None
        return name

    async def _refuse_programs(self, place: Place) -> None:
        """Hooks in folders are switched off; newer gits also know some by their settings (git-hook(1))."""
        try:
            found = await self._line(("config", "--name-only", "--get-regexp", r"^hook\."), place)
        except GitFailed as error:
            if error.code == 1:
                return
            raise
        raise CannotUse(f"its settings name programs that run when a branch is made ({found.splitlines()[0][:100]})")

    async def _names(self, place: Place) -> dict[str, str]:
        listed = await self._line(("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"), place)
        pairs = (line.partition(" ") for line in listed.splitlines())
        return {name.removeprefix("refs/heads/"): sha for sha, _, name in pairs}

    async def _why_no_head(self, path: Path, place: Place, branch: str) -> str:
        try:
            there = await self._line(("for-each-ref", "--count=1", branch or "refs/heads/"), place)
        except GitFailed as error:
            return f"{path}: git cannot read this repository: {error.stderr.strip()[:300]}"
        if there or not branch:
            return f"{path}: HEAD names a commit that is not there. `git fsck` in it says what is missing."
        return f"{path} has no commit on {branch.removeprefix('refs/heads/')} yet. Commit something first."

    async def _bare(self, into: Path, bare: str) -> None:
        into.mkdir(mode=0o700)
        await self._git.run(Command(("init", "--quiet", "--bare", "--template="), Place(into)))
        (into / "config").write_text(_CONFIG.format(bare=bare))
        (into / "info").mkdir(exist_ok=True)
        (into / "info" / "attributes").write_text(_ATTRIBUTES)

    async def _line(self, words: Sequence[str], place: Place) -> str:
        return (await self._git.run(Command(tuple(words), place))).decode("utf-8", "surrogateescape").strip()


def find_repository(path: Path) -> tuple[Path | None, Path]:
    """The work tree (None: bare) and the git directory of the repository that a path is in, found without git.
    Raises `CannotUse`."""
    start = path.absolute()
    if not start.exists():
        raise CannotUse(f"{path} does not exist. Name a folder in a git repository.")
    if not start.is_dir():
        raise CannotUse(f"{path} is a file. Name a folder in a git repository.")
    start = start.resolve()
    for folder in (start, *start.parents):
        inner = folder / ".git"
        if inner.is_file():
            return folder, _linked(inner)
        if _is_git_dir(inner):
            return folder, inner
        if _is_git_dir(folder):
            return (folder.parent, folder) if folder.name == ".git" else (None, folder)
    raise CannotUse(f"{path} is no git repository, and in none. `git init` and a first commit make it one.")


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _linked(file: Path) -> Path:
    """Where a `.git` file points: of a linked work tree, or of a submodule."""
    word, _, named = file.read_text("utf-8", "surrogateescape").strip().partition(": ")
    target = (file.parent / named).resolve()
    if word != "gitdir" or not (target / "HEAD").is_file():
        raise CannotUse(f"{file} leads to no git directory any more. `git worktree repair` may mend it.")
    return target


def _common(git_dir: Path) -> Path:
    named = git_dir / "commondir"
    return (git_dir / named.read_text("utf-8").strip()).resolve() if named.is_file() else git_dir


def _free(names: dict[str, str], wanted: str, sha: str) -> str:
    """The first of some names that no branch has, and that is no folder of others; or where the commit is already."""
    checked_ref(wanted)
    for number in range(1, _NAMES_TRIED + 1):
        name = wanted if number == 1 else f"{wanted}-{number}"
        above = {"/".join(name.split("/")[:count]) for count in range(1, name.count("/") + 1)}
        if above & names.keys():
            name = name.replace("/", "-")
        if names.get(name) == sha:
            return name
        if name not in names and not any(known.startswith(f"{name}/") for known in names):
            return name
    raise CannotUse(f"the branches {wanted} to {wanted}-{_NAMES_TRIED} all exist. Delete some of them.")
