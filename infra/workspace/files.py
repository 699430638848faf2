"""The one resolver for paths that agents name, and the file tools on top of it.

Every component is opened by itself below its parent's descriptor and without following links, so no path leads out of
the work tree, whatever stands in it. Source: openat(2), O_NOFOLLOW.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from agents.ports import FileText, ToolError

MAX_TEXT_BYTES = 1_000_000

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK, or opening a FIFO would wait for its other end.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Files:
    """The file tools of one work tree. `problem` is the rule for paths; `special` are links and submodules.

    Every verb raises `ToolError` with what would work.
    """

    def __init__(self, root: Path, problem: Callable[[str], str | None], special: frozenset[str]) -> None:
        self._root = root
        self._problem = problem
        self._special = special

    def read(self, path: str, most: int = MAX_TEXT_BYTES) -> FileText:
        """A text file of at most 1 MB, UTF-8."""
        data = self._bytes(path, most)
        if b"\0" in data:
            raise ToolError(f"{path} is a binary file; only text can be read")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise ToolError(f"{path} is not UTF-8 text and cannot be read") from None
        return FileText(path, text, text.count("\n") + (0 if text.endswith("\n") or not text else 1))

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a directory, sorted; directories end in a slash."""
        with self._directory(self._parts(path, may_be_root=True), path) as handle:
            names = []
            with os.scandir(handle) as found:
                for entry in found:
                    names.append(entry.name + ("/" if entry.is_dir(follow_symlinks=False) else ""))
        return tuple(sorted(names))

    def write(self, path: str, text: str) -> None:
        """Create or replace a file; an old file keeps its mode, so also its executable bit."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise ToolError(f"the text for {path} holds characters that UTF-8 cannot express") from None
        if len(data) > MAX_TEXT_BYTES:
            raise ToolError(f"the text for {path} has {len(data):,} bytes; at most {MAX_TEXT_BYTES:,}: split the file")
        self.put(path, data, None)

    def put(self, path: str, data: bytes, executable: bool | None) -> None:
        """Create or replace a file with these bytes; None keeps the executable bit as it is."""
        parts = self._changeable(path)
        with self._directory(parts[:-1], path, create=True) as parent:
            handle = self._open_for_writing(parent, parts[-1], path)
            with os.fdopen(handle, "wb") as file:
                file.truncate(0)
                file.write(data)
                if executable is not None:
                    os.fchmod(handle, 0o755 if executable else 0o644)

    def delete(self, path: str) -> None:
        """Remove one file."""
        parts = self._changeable(path)
        with self._directory(parts[:-1], path) as parent:
            try:
                found = os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    raise ToolError(f"{path} is a directory; delete its files one by one")
                os.unlink(parts[-1], dir_fd=parent)
            except FileNotFoundError:
                raise _no_such(path) from None

    def problem_with(self, path: str) -> str | None:
        """Why a file at this path may not be written, or None: its name, or a link or submodule of the repository."""
        parts = path.split("/")
        if any("/".join(parts[:count]) in self._special for count in range(1, len(parts) + 1)):
            return "a link or submodule of the repository"
        return self._problem(path)

    def check(self, path: str) -> str:
        """A file or directory that is there, as a clean relative path; the root is a dot."""
        parts = self._parts(path, may_be_root=True)
        if not parts:
            return "."
        with self._directory(parts[:-1], path) as parent:
            try:
                found = os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError:
                raise _no_such(path) from None
        if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            raise ToolError(f"{path} is neither a file nor a directory")
        return "/".join(parts)

    def _bytes(self, path: str, most: int) -> bytes:
        parts = self._parts(path)
        self._refuse_special(path, parts)
        with self._directory(parts[:-1], path) as parent:
            handle = _opened_file(parts[-1], os.O_RDONLY, parent, path)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_size > most:
                raise ToolError(
                    f"{path} has {found.st_size:,} bytes, too many to read at once; use search to look in it"
                )
            return file.read(most)

    def _open_for_writing(self, parent: int, name: str, path: str) -> int:
        try:
            handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o644, dir_fd=parent)
            os.fchmod(handle, 0o644)
            return handle
        except FileExistsError:
            return _opened_file(name, os.O_WRONLY, parent, path)

    @contextlib.contextmanager
    def _directory(self, parts: tuple[str, ...], path: str, create: bool = False) -> Iterator[int]:
        """The descriptor of a directory, reached one component at a time."""
        handle = os.open(self._root, _DIRECTORY)
        try:
            for part in parts:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=handle)
                below = _opened(part, _DIRECTORY, handle, path)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)

    def _changeable(self, path: str) -> tuple[str, ...]:
        parts = self._parts(path)
        self._refuse_special(path, parts)
        return parts

    def _parts(self, path: str, may_be_root: bool = False) -> tuple[str, ...]:
        if may_be_root and path in ("", ".", "./"):
            return ()
        plain = path.removeprefix("./").removesuffix("/") if may_be_root else path.removeprefix("./")
        problem = self._problem(plain)
        if problem is not None:
            raise ToolError(
                f"the path {path[:200]!r} is refused: {problem}. Paths are relative to the repository's root"
            )
        return tuple(plain.split("/"))

    def _refuse_special(self, path: str, parts: tuple[str, ...]) -> None:
        for count in range(1, len(parts) + 1):
            above = "/".join(parts[:count])
            if above in self._special:
                raise ToolError(
                    f"{path}: {above} is a symbolic link or a submodule of the repository; leave it as it is"
                )


def _opened(name: str, flags: int, parent: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        raise _no_such(path) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ToolError(f"{path} leads over a symbolic link ({name}); links are not followed") from None
        if error.errno == errno.ENOTDIR:
            raise ToolError(f"{path}: {name} is not a directory") from None
        if error.errno == errno.EISDIR:
            raise ToolError(f"{path} is a directory, not a file") from None
        if error.errno in (errno.ENXIO, errno.ENAMETOOLONG, errno.EACCES):
            raise ToolError(f"{path} cannot be opened: {os.strerror(error.errno)}") from None
        raise


def _opened_file(name: str, flags: int, parent: int, path: str) -> int:
    handle = _opened(name, flags | _FILE, parent, path)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise ToolError(f"{path} is a directory; list it to see what is in it")
    raise ToolError(f"{path} is not an ordinary file")


def _no_such(path: str) -> ToolError:
    return ToolError(f"there is no {path}; list its directory to see what there is")
