"""Trees of one work tree: unpacking, checking out, fixing, comparing, packing.

Git's directory belongs to the host; the index and new objects live beside the work tree and go with it, so what agents
make never stays in the host's object store. Sources: git-read-tree(1), git-checkout-index(1), git-diff-tree(1),
git-pack-objects(1), git-index-pack(1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from agents.board import FileChange
from agents.ports import ToolError
from handlers.ports import Refused, Sides, TooBig, TreeEdit
from infra.workspace.needs import GitHost

MAX_PACK_BYTES = 8 << 20
MAX_DIFF_BYTES = 16 << 20
_FILE_MODES = ("000000", "100644", "100755")
_DIFF = ("diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True)
class Desk:
    """The places of one work tree, and the tree of the commit that it started from."""

    git_dir: Path
    home: Path
    base_tree: str

    @property
    def tree(self) -> Path:
        """The work tree: the only part that tools and tests see."""
        return self.home / "tree"

    @property
    def index(self) -> Path:
        """Git's index."""
        return self.home / "index"

    @property
    def objects(self) -> Path:
        """Where new objects go."""
        return self.home / "objects"

    @property
    def place(self) -> tuple[Path, Path, Path]:
        """Work tree, index, objects: what a git command needs to know."""
        return (self.tree, self.index, self.objects)


@dataclass(frozen=True)
class Change:
    """One path that differs between two trees."""

    old_mode: str
    new_mode: str
    old_oid: str
    new_oid: str
    status: str
    path: str


async def base_tree_of(git: GitHost, git_dir: Path, sha: str) -> str:
    """The id of a commit's tree."""
    return (await git.run(git_dir, ("rev-parse", "--verify", "--end-of-options", f"{sha}^{{tree}}"))).decode().strip()


async def unpack(git: GitHost, desk: Desk, packs: Sequence[bytes]) -> None:
    """Add the objects of packs, each checked by git's strictest rules. Raises `GitHubError` for a broken one."""
    desk.objects.joinpath("pack").mkdir(parents=True, exist_ok=True)
    for pack in packs:
        if len(pack) > MAX_PACK_BYTES:
            raise TooBig(f"a pack of {len(pack):,} bytes is over the limit of {MAX_PACK_BYTES:,}")
        if pack:
            words = ("index-pack", "--stdin", "--strict", "--threads=1")
            await git.run(desk.git_dir, words, (None, None, desk.objects), pack)


async def check_out(git: GitHost, desk: Desk, tree: str) -> frozenset[str]:
    """Fill the work tree; returns the paths of links and submodules, which come as plain files and empty directories.

    Raises `TooBig` for a tree over a limit or with hostile names, before anything is written.
    """
    entries = await git.entries(desk.git_dir, tree, desk.objects)
    await git.run(desk.git_dir, ("read-tree", tree), desk.place)
    await git.run(desk.git_dir, ("checkout-index", "--all", "--force", "--quiet", "--index"), desk.place)
    special = frozenset(entry.path for entry in entries if not entry.is_file)
    for entry in entries:
        if entry.mode == "160000":
            desk.tree.joinpath(entry.path).mkdir(parents=True, exist_ok=True)
    return special


async def fix(git: GitHost, desk: Desk) -> str:
    """The id of the tree as it stands; files that the repository ignores are left out.

    Raises `ToolError` when it holds what may not be committed.
    """
    await git.run(desk.git_dir, ("add", "--all"), desk.place)
    tree = (await git.run(desk.git_dir, ("write-tree",), desk.place)).decode().strip()
    try:
        await git.entries(desk.git_dir, tree, desk.objects)
    except TooBig as error:
        raise ToolError(f"the tree cannot be stored: {error}") from None
    return tree


async def changes(git: GitHost, desk: Desk, tree: str) -> tuple[Change, ...]:
    """What differs from the base, by path. Raises `ToolError` naming links, submodules and other odd modes."""
    found = await differences(git, desk, tree)
    odd = [change.path for change in found if {change.old_mode, change.new_mode} - set(_FILE_MODES)]
    if odd:
        shown = ", ".join(odd[:10])
        raise ToolError(f"links, submodules and nested repositories cannot be added, changed or removed: {shown}")
    return found


async def differences(git: GitHost, desk: Desk, tree: str) -> tuple[Change, ...]:
    """What differs from the base, by path, whatever its mode."""
    words = (*_DIFF, "--raw", "-z", "--no-abbrev", desk.base_tree, tree)
    return tuple(_parse_raw(await git.run(desk.git_dir, words, (None, None, desk.objects))))


async def sides(git: GitHost, desk: Desk, tree: str) -> tuple[Sides, ...]:
    """What differs from the base, by path, with the contents of files on both sides."""
    found = await differences(git, desk, tree)
    files = {change.old_oid for change in found if change.old_mode in _FILE_MODES[1:]}
    files |= {change.new_oid for change in found if change.new_mode in _FILE_MODES[1:]}
    blobs = await contents(git, desk.git_dir, sorted(files), desk.objects)
    return tuple(
        Sides(
            path=change.path,
            old_mode=change.old_mode,
            new_mode=change.new_mode,
            old_oid=change.old_oid,
            new_oid=change.new_oid,
            old=blobs[change.old_oid] if change.old_mode in _FILE_MODES[1:] else None,
            new=blobs[change.new_oid] if change.new_mode in _FILE_MODES[1:] else None,
        )
        for change in found
    )


async def file_changes(git: GitHost, desk: Desk, tree: str) -> tuple[FileChange, ...]:
    """The changes for people, with counts of lines. Raises as `changes` does."""
    found = await changes(git, desk, tree)
    words = (*_DIFF, "--numstat", "-z", desk.base_tree, tree)
    counted = _parse_numstat(await git.run(desk.git_dir, words, (None, None, desk.objects)))
    files = []
    for change in found:
        added, removed = counted.get(change.path, (None, None))
        files.append(
            FileChange(
                path=change.path,
                status=cast(Literal["A", "M", "D", "T"], change.status),
                old_mode=change.old_mode,
                new_mode=change.new_mode,
                additions=added,
                deletions=removed,
            )
        )
    return tuple(files)


async def diff_text(git: GitHost, desk: Desk, tree: str) -> str:
    """The unified diff against the base. Raises `ToolError` over 16 MiB."""
    words = (*_DIFF, "--patch", "--src-prefix=a/", "--dst-prefix=b/", desk.base_tree, tree)
    try:
        raw = await git.run(desk.git_dir, words, (None, None, desk.objects), output_bytes=MAX_DIFF_BYTES)
    except TooBig:
        raise ToolError(f"the change is too large: its diff is over {MAX_DIFF_BYTES:,} bytes") from None
    return raw.decode("utf-8", "replace")


async def pack(git: GitHost, desk: Desk, tree: str) -> bytes:
    """A pack of the objects of `tree` that the base lacks; empty without any. Raises `ToolError` over 8 MiB."""
    objects = (None, None, desk.objects)
    listed = await git.run(desk.git_dir, ("rev-list", "--objects", tree, "--not", desk.base_tree), objects)
    oids = sorted({line.split(b" ", 1)[0] for line in listed.splitlines()})
    if not oids:
        return b""
    words = ("pack-objects", "--stdout", "-q", "--threads=1", "--no-reuse-delta", "--no-reuse-object")
    stdin = b"\n".join(oids) + b"\n"
    try:
        return await git.run(desk.git_dir, words, objects, stdin, MAX_PACK_BYTES)
    except TooBig:
        raise ToolError(f"the change is too large: its files take over {MAX_PACK_BYTES:,} bytes packed") from None


async def edits(git: GitHost, desk: Desk, tree: str) -> tuple[TreeEdit, ...]:
    """The edits that lead from the base to `tree`, with contents. Raises `Refused` for odd modes."""
    try:
        found = await changes(git, desk, tree)
    except ToolError as error:
        raise Refused(f"the tree may not be published: {error}") from None
    kept = [change for change in found if change.status != "D"]
    blobs = await contents(git, desk.git_dir, [change.new_oid for change in kept], desk.objects)
    written = [TreeEdit(change.path, blobs[change.new_oid], change.new_mode) for change in kept]
    removed = [TreeEdit(change.path, None) for change in found if change.status == "D"]
    return tuple(sorted((*written, *removed), key=lambda edit: edit.path))


async def contents(git: GitHost, git_dir: Path, oids: Sequence[str], objects: Path | None = None) -> dict[str, bytes]:
    """Blobs by id, from the host's git directory and from `objects`. Raises `Refused` for one that is not there."""
    if not oids:
        return {}
    stdin = "".join(f"{oid}\n" for oid in oids).encode()
    return _parse_batch(await git.run(git_dir, ("cat-file", "--batch"), (None, None, objects), stdin))


def _parse_raw(raw: bytes) -> Iterator[Change]:
    fields = raw.split(b"\0")[:-1]
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, status = head.decode("ascii").removeprefix(":").split()
        yield Change(old_mode, new_mode, old_oid, new_oid, status[0], path.decode("utf-8"))


def _parse_numstat(raw: bytes) -> dict[str, tuple[int | None, int | None]]:
    counted: dict[str, tuple[int | None, int | None]] = {}
    for line in raw.split(b"\0")[:-1]:
        added, removed, path = line.split(b"\t", 2)
        is_text = added != b"-"
        counted[path.decode("utf-8")] = (int(added), int(removed)) if is_text else (None, None)
    return counted


def _parse_batch(raw: bytes) -> dict[str, bytes]:
    """`cat-file --batch`: a line `<oid> <type> <size>`, the content, a newline."""
    found = {}
    start = 0
    while start < len(raw):
        end = raw.index(b"\n", start)
        words = raw[start:end].split()
        if len(words) != 3:
            raise Refused(f"git: no object {raw[start:end].decode('utf-8', 'replace')}")
        size = int(words[2])
        found[words[0].decode()] = raw[end + 1 : end + 1 + size]
        start = end + size + 2
    return found
