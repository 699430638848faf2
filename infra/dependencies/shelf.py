"""Finished environments on disk: each a directory named by what it holds, complete or not there at all.

Everything is made under a `new-` name and renamed when it is whole, so a killed process leaves nothing that could be
taken for an environment. Locks are the kernel's (flock(2)): they end with the process that holds them, however it ends.
Whoever uses an environment holds it shared; whoever removes one must have it alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_POLL_S = 0.05
_FORGOTTEN_S = 30 * 86_400.0


class Busy(Exception):
    """Somebody else has held what is needed for too long."""


class TooLarge(Exception):
    """An environment is over the limit; the text names it and the way out."""


@dataclass(frozen=True)
class About:
    """What is known of a finished environment: its packages as `name==version`, its bytes, and when it was made
    (seconds UTC)."""

    packages: tuple[str, ...]
    size: int
    made_at: float


@dataclass(frozen=True)
class Known:
    """Which environment was made for a plan, which hosts were refused meanwhile, and what it goes without."""

    digest: str
    blocked: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Shelf:
    """Environments below `root`, together at most `cap_bytes`: what was used longest ago goes first."""

    def __init__(self, root: Path, cap_bytes: int) -> None:
        self._root = root
        self._cap = cap_bytes
        for folder in (root, self._locks, self._known):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(folder, 0o700)

    @property
    def _locks(self) -> Path:
        return self._root / "held"

    @property
    def _known(self) -> Path:
        return self._root / "known"

    @contextlib.asynccontextmanager
    async def alone(self, key: str, patience_s: float) -> AsyncIterator[None]:
        """Hold `key` against every other process. Raises `Busy` when nobody lets go within `patience_s`."""
        with self._lock(key) as file:
            until = time.monotonic() + patience_s
            while not _flocked(file, fcntl.LOCK_EX):
                if time.monotonic() > until:
                    raise Busy(f"another worker has been making the same environment for {patience_s:g} seconds")
                await asyncio.sleep(_POLL_S)
            yield

    @contextlib.asynccontextmanager
    async def used(self, digest: str) -> AsyncIterator[Path | None]:
        """The environment `digest`, which stays as long as it is held; None when there is none."""
        with self._lock(digest) as file:
            await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_SH)
            path = self._path(digest)
            if not path.is_dir():
                yield None
                return
            os.utime(path)
            yield path / "files"

    def about(self, digest: str) -> About | None:
        """What is known of an environment, or None without it."""
        return _about(self._path(digest))

    def known(self, key: str, young_s: float) -> Known | None:
        """The environment that was made for `key` at most `young_s` ago, if it is still there."""
        path = self._known / key
        try:
            given, age = json.loads(path.read_text("utf-8")), time.time() - path.stat().st_mtime
            found = Known(str(given["digest"]), tuple(given["blocked"]), tuple(given["missing"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if age < young_s and found.digest in self.digests() else None

    def note(self, key: str, known: Known) -> None:
        """Remember which environment was made for `key`."""
        fresh = self._known / f"{key}.new-{os.getpid()}"
        fresh.write_text(json.dumps(asdict(known)), "utf-8")
        fresh.replace(self._known / key)

    def workshop(self, key: str) -> Path:
        """An empty directory to make the environment of `key` in; hold `key` alone before. What a killed process left
        of the same is cleared away."""
        place = self._root / f"new-{key}"
        _remove(place)
        place.mkdir(mode=0o700)
        return place

    def clear(self, key: str) -> None:
        """Remove what was made for `key` and not kept."""
        _remove(self._root / f"new-{key}")

    def keep(self, files: Path, digest: str, about: About) -> None:
        """Put a finished directory of a workshop on the shelf, under its digest; the same one twice is fine."""
        place = files.parent / "whole"
        place.mkdir(mode=0o755)
        files.rename(place / "files")
        (place / "about.json").write_text(json.dumps(asdict(about)), "utf-8")
        # As root, the sandbox reads it as another user; the directory above stays closed.
        place.chmod(0o755)
        with contextlib.suppress(OSError):  # another worker put the same there meanwhile; it is as good
            place.rename(self._path(digest))
        if not self._path(digest).is_dir():
            raise OSError(f"the environment {digest[:12]} could not be kept below {self._root}")

    def digests(self) -> frozenset[str]:
        """The environments that are there."""
        return frozenset(path.name for path in self._root.iterdir() if _DIGEST.match(path.name))

    def evict(self, spared: str = "") -> int:
        """Remove what was used longest ago until the rest is within the cap; what is in use stays, and `spared`.

        Returns how many were removed.
        """
        found = [(self._path(digest), self.about(digest)) for digest in self.digests()]
        sizes = {path: about.size if about is not None else 0 for path, about in found}
        total, removed = sum(sizes.values()), 0
        for path in sorted(sizes, key=_used_at):
            if total <= self._cap:
                break
            if path.name == spared:
                continue
            with self._lock(path.name) as file:
                if not _flocked(file, fcntl.LOCK_EX):
                    continue
                doomed = self._root / f"old-{path.name}"
                _remove(doomed)
                with contextlib.suppress(FileNotFoundError):
                    path.rename(doomed)
                _remove(doomed)
                total -= sizes[path]
                removed += 1
        return removed

    def sweep(self, older_than_s: float = 86_400.0) -> None:
        """Remove what killed processes left half made or half removed."""
        before = time.time() - older_than_s
        for pattern in ("new-*", "old-*"):
            for path in self._root.glob(pattern):
                if path.lstat().st_mtime < before:
                    _remove(path)
        for path in self._known.iterdir():
            if path.stat().st_mtime < before - _FORGOTTEN_S:
                path.unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        if not _DIGEST.match(digest):
            raise ValueError(f"{digest!r} is no digest")
        return self._root / digest

    @contextlib.contextmanager
    def _lock(self, key: str) -> Iterator[IO[bytes]]:
        with (self._locks / key).open("ab") as file:
            yield file


def settle(folder: Path, programs: Path, cap_bytes: int) -> int:
    """Make what a sandbox wrote ours: owner, plain modes, no link out of it (but into `programs`), nothing special.

    Returns its bytes. Raises `TooLarge` over `cap_bytes`, `ValueError` for a file that may not be there.
    """
    size = 0
    is_root = os.geteuid() == 0
    for directory, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(directory, name)
            found = path.lstat()
            if is_root:
                os.lchown(path, 0, 0)
            if stat.S_ISLNK(found.st_mode):
                target = Path(os.path.normpath(Path(directory, os.readlink(path))))
                if not target.is_relative_to(folder) and target.parent != programs:
                    raise ValueError(f"{path.relative_to(folder)} is a link that leads out of the environment")
            elif stat.S_ISDIR(found.st_mode):
                path.chmod(0o755)
            elif stat.S_ISREG(found.st_mode):
                path.chmod(0o755 if found.st_mode & 0o100 else 0o644)
                size += found.st_size
            else:
                raise ValueError(f"{path.relative_to(folder)} is no file")
    if is_root:
        os.chown(folder, 0, 0)
    folder.chmod(0o755)
    check_size(size, cap_bytes)
    return size


def check_size(size: int, cap_bytes: int) -> None:
    """Raises `TooLarge` when an environment of `size` bytes is over the cap."""
    if size > cap_bytes:
        raise TooLarge(
            f"its packages take {size >> 20:,} MiB, over the limit of {cap_bytes >> 20:,} MiB; "
            "make an environment by hand and name it in SECONDER_TOOLCHAIN"
        )


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder that may be changing."""
    total = 0
    for directory, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(directory, name)).st_size
    return total


def _used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another worker has just removed it
        return 0.0


def _about(path: Path) -> About | None:
    try:
        given = json.loads((path / "about.json").read_text("utf-8"))
        return About(tuple(given["packages"]), int(given["size"]), float(given["made_at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _flocked(file: IO[bytes], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)
