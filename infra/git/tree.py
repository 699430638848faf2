"""What a tree holds, read as a stream and refused over a limit before anything is checked out.

A repository of 220 KiB can hold 10^8 paths, so entries are counted while git still prints them.
Source: git-ls-tree(1), its format with --long and -z.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from handlers.ports import TooBig
from infra.git.names import path_problem

_MIB = 1 << 20


@dataclass(frozen=True)
class TreeLimits:
    """Bounds of a tree: entries, bytes of all files, bytes of one file, and of the listing itself."""

    entries: int = 100_000
    total_bytes: int = 500 * _MIB
    blob_bytes: int = 16 * _MIB

    @property
    def listing_bytes(self) -> int:
        """The most that a listing within the limits can reasonably take."""
        return min(self.entries * 320 + 65_536, 64 * _MIB)


@dataclass(frozen=True)
class TreeEntry:
    """One path of a tree. `size` is bytes, 0 for a submodule; `mode` is git's octal string."""

    mode: str
    oid: str
    size: int
    path: str

    @property
    def is_file(self) -> bool:
        """An ordinary file: not a link, not a submodule."""
        return self.mode in ("100644", "100755")


def parse(listing: bytes, limits: TreeLimits) -> tuple[TreeEntry, ...]:
    """The entries of `ls-tree -r -z --long`. Raises `TooBig`, naming the limit, for what must not be checked out."""
    lines = listing.split(b"\0")[:-1]
    if len(lines) > limits.entries:
        raise TooBig(f"the repository has more than {limits.entries:,} files, Seconder's limit; {_WAY_OUT}")
    entries = tuple(_entry(line, limits) for line in lines)
    total = sum(entry.size for entry in entries)
    if total > limits.total_bytes:
        raise TooBig(f"the files take {total:,} bytes, over the limit of {limits.total_bytes:,}; {_WAY_OUT}")
    _check_collisions(entries)
    return entries


_WAY_OUT = "use Seconder on a smaller repository"


def _entry(line: bytes, limits: TreeLimits) -> TreeEntry:
    head, _, raw_path = line.partition(b"\t")
    mode, kind, oid, size_text = head.decode("ascii").split()
    path = raw_path.decode("utf-8", "surrogateescape")
    problem = path_problem(path)
    shown = path[:200].encode("unicode_escape", "backslashreplace").decode("ascii")
    if problem is not None:
        raise TooBig(f"the path '{shown}' is refused: {problem}; rename it in the repository")
    # Git says BAD for a blob that a filtered fetch left out: exactly those over the limit.
    size = 0 if kind == "commit" else int(size_text) if size_text.isdigit() else limits.blob_bytes + 1
    if size > limits.blob_bytes:
        raise TooBig(f"the file '{shown}' is over the limit of {limits.blob_bytes:,} bytes; keep it out of git")
    return TreeEntry(mode, oid, size, path)


def _check_collisions(entries: tuple[TreeEntry, ...]) -> None:
    """Refuse paths, directories included, that a file system without case would take for the same."""
    seen: dict[str, str] = {}
    known: set[str] = set()
    for entry in entries:
        parts = entry.path.split("/")
        for count in range(len(parts), 0, -1):
            path = "/".join(parts[:count])
            if path in known:
                break
            known.add(path)
            other = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
            if other != path:
                raise TooBig(f"the paths '{other}' and '{path}' differ only in case or form; rename one of them")
