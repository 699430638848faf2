"""Taking over what a shell command left in its own copy of the work tree.

The copy is hostile: it is read below directory descriptors, without following any link, and only ordinary files count.
All of it is looked at before the first file is written. Sources: openat(2), O_NOFOLLOW; os.fwalk.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agents.ports import ToolError
from infra.workspace.files import Files

MAX_FILES = 2_000
MAX_BYTES = 64 << 20
MAX_FILE = 16 << 20
MAX_ENTRIES = 200_000
_CHUNK = 1 << 16


@dataclass
class Plan:
    """What differs: bytes and executable bit by path; paths that are gone; and what stays behind, with the reason."""

    written: dict[str, tuple[bytes, bool]] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def plan(copy: Path, tree: Path, files: Files) -> Plan:
    """What the copy changes in the tree. Raises `ToolError` when that is more than a change can be."""
    if not stat.S_ISDIR(copy.lstat().st_mode):
        raise ToolError("the command replaced its own directory; nothing was taken over")
    found = Plan()
    seen: set[str] = set()
    size = 0
    for path, directory, name in _entries(copy):
        problem = files.problem_with(path)
        if problem is not None:
            found.left.append(f"{path[:200]!r} ({problem})")
            continue
        state = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            found.left.append(f"{path} (no ordinary file)")
            seen.add(path)
            continue
        seen.add(path)
        if state.st_size > MAX_FILE:
            found.left.append(f"{path} ({state.st_size:,} bytes are too many)")
            continue
        data = _read(name, directory)
        is_executable = bool(state.st_mode & stat.S_IXUSR)
        if not _same(tree / path, data, is_executable):
            found.written[path] = (data, is_executable)
            size += len(data)
        if len(found.written) > MAX_FILES or size > MAX_BYTES:
            raise ToolError(
                f"the command changed more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB; nothing was taken over"
            )
    found.deleted = [path for path, _, _ in _entries(tree) if path not in seen and files.problem_with(path) is None]
    if len(found.deleted) > MAX_FILES:
        raise ToolError(f"the command deleted more than {MAX_FILES:,} files; nothing was taken over")
    return found


def apply(found: Plan, files: Files) -> None:
    """Write it into the tree. Raises `ToolError` as writing does."""
    for path in found.deleted:
        files.delete(path)
    for path, (data, is_executable) in found.written.items():
        files.put(path, data, is_executable)


def _entries(root: Path) -> Iterator[tuple[str, int, str]]:
    """Path, its directory's descriptor and its name, of everything that is no directory. Closed ones are opened."""
    count = 0
    for directory, folders, names, handle in os.fwalk(root, onerror=_raise, follow_symlinks=False):
        inner = os.path.relpath(directory, root)
        links = [name for name in folders if _is_link(name, handle)]
        for name in (*names, *links):
            count += 1
            if count > MAX_ENTRIES:
                raise ToolError(f"the command left more than {MAX_ENTRIES:,} files; nothing was taken over")
            yield (name if inner == "." else f"{inner}/{name}"), handle, name


def _raise(error: OSError) -> None:
    raise ToolError(f"the command left something that cannot be read ({error.strerror}); nothing was taken over")


def _is_link(name: str, directory: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)


def _read(name: str, directory: int) -> bytes:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        _raise(error)
        raise
    with os.fdopen(handle, "rb") as file:
        return file.read(MAX_FILE + 1)


def _same(path: Path, data: bytes, is_executable: bool) -> bool:
    """Whether the tree, which is ours, has just this; its own directories hold no links that anybody made."""
    try:
        state = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISREG(state.st_mode) or state.st_size != len(data):
        return False
    return bool(state.st_mode & stat.S_IXUSR) == is_executable and path.read_bytes() == data
