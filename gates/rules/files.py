"""What a path is rather than what it is called: links, submodules, executables, binaries, very large files."""

from __future__ import annotations

from collections.abc import Iterable

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding

LARGE = 1_000_000
"""Bytes from which on nobody reads a file in a review."""

_LINK, _SUBMODULE, _FILE, _PROGRAM, _ABSENT = "120000", "160000", "100644", "100755", "000000"


def examine(change: ChangedFile) -> Iterable[Finding]:
    """Findings from modes and sizes. Modes are those of git's tree objects; an unknown one is refused."""
    modes = {change.old_mode, change.new_mode}
    if _LINK in modes:
        yield change.finding("file.link", "block", "a symbolic link can lead anywhere, also out of the repository")
    if _SUBMODULE in modes:
        yield change.finding("file.submodule", "block", "a submodule brings in another repository's code unseen")
    if modes - {_LINK, _SUBMODULE, _FILE, _PROGRAM, _ABSENT}:
        yield change.finding("file.mode", "block", f"the mode {change.new_mode} is none that a file should have")
    if change.new_mode == _PROGRAM and change.old_mode != _PROGRAM:
        yield change.finding("file.executable", "approve", "it becomes executable")
    elif change.old_mode == _PROGRAM and change.new_mode == _FILE:
        yield change.finding("file.executable", "approve", "it stops being executable")
    if change.new_mode in (_FILE, _PROGRAM):
        yield from _content(change)


def _content(change: ChangedFile) -> Iterable[Finding]:
    if change.new is None:
        yield change.finding("file.unread", "block", "its new content could not be read")
        return
    if len(change.new) > LARGE:
        yield change.finding(
            "file.large", "approve", f"it has {len(change.new):,} bytes, too many to be read in review"
        )
    if change.new_text is None:
        yield change.finding("file.binary", "approve", "it is no UTF-8 text, so nobody can read what it changes")
