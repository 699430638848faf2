"""Changed files for tables."""

from __future__ import annotations

from gates.rules import GONE, ChangedFile
from tests.fakes.git_objects import object_sha


def changed(
    path: str = "src/app.py",
    new: str | bytes | None = "",
    old: str | bytes | None = None,
    modes: tuple[str, str] | None = None,
    is_test: bool = False,
) -> ChangedFile:
    """A change of one file; None for a side where it is not. `modes` are the old and the new, as git writes them."""
    before, after = _bytes(old), _bytes(new)
    old_mode, new_mode = modes or ("000000" if old is None else "100644", "000000" if new is None else "100644")
    blobs = [GONE if side is None else object_sha("blob", side) for side in (before, after)]
    return ChangedFile(path, old_mode, new_mode, blobs[0], blobs[1], before, after, is_test)


def _bytes(side: str | bytes | None) -> bytes | None:
    return side.encode() if isinstance(side, str) else side
