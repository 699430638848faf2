"""A worker's name: the same after each restart, so that a worker finds what it held before, and nobody else's.

Source: Redis, "XREADGROUP" (a consumer's own pending entries are read again by its name).
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_SLOTS = 1_000


class NameTaken(RuntimeError):
    """Another worker on this data directory has the name; the text says what to do."""


@contextmanager
def worker_name(data_dir: Path, wanted: str | None = None) -> Iterator[str]:
    """Hold a name for as long as the context is open: the wanted one, or the host's with the first free number.

    A lock on a file in the data directory keeps it; the system lets it go when the process dies. Raises `NameTaken`.
    """
    names = [wanted] if wanted else [f"{socket.gethostname()[:48]}-{n}" for n in range(1, MOST_SLOTS + 1)]
    folder = data_dir / "workers"
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    for name in names:
        lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            continue
        try:
            yield name
        finally:
            os.close(lock)
        return
    raise NameTaken(
        f"Another worker on {data_dir} is called {names[-1]} already. "
        "Leave SECONDER_WORKER_NAME out, or give each worker its own."
    )
