"""What a worker has found out about commits and can find out again: small JSON records on disk, by what they are about.

A record is a cache and nothing more: one that is missing, broken or from another version is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

MOST = 500
MAX_BYTES = 1 << 20


class Shelf:
    """Records below `root`, at most `most`; the oldest go first."""

    def __init__(self, root: Path, most: int = MOST) -> None:
        self._root = root
        self._most = most

    def get(self, *about: object) -> object | None:
        """The record about this, or None."""
        try:
            return json.loads(self._place(about).read_text("utf-8"))  # type: ignore[no-any-return]
        except (OSError, ValueError):
            return None

    def put(self, record: object, *about: object) -> None:
        """Keep a record of plain JSON values; one over 1 MiB is not kept. A disk that is full is no reason to fail."""
        text = json.dumps(record)
        if len(text) > MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, fresh = tempfile.mkstemp(dir=self._root, prefix="new-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(fresh, self._place(about))
            self._clear()

    def _place(self, about: tuple[object, ...]) -> Path:
        return self._root / f"{hashlib.sha256(json.dumps(about).encode()).hexdigest()}.json"

    def _clear(self) -> None:
        kept = sorted(self._root.iterdir(), key=lambda path: path.lstat().st_mtime)
        for path in kept[: max(0, len(kept) - self._most)]:
            path.unlink(missing_ok=True)
