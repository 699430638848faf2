"""Git's object ids, computed as git does, so that fakes speak of the same trees and commits as real repositories."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

Files = Mapping[str, tuple[str, bytes]]
"""Path to (octal mode, content)."""


@dataclass(frozen=True)
class FakeCommit:
    """A commit with the whole content of its tree."""

    files: Files
    parents: tuple[str, ...]
    message: str
    author: str
    date: int

    @property
    def sha(self) -> str:
        who = f"{self.author} {self.date} +0000"
        lines = [f"tree {tree_sha(self.files)}", *(f"parent {parent}" for parent in self.parents)]
        lines += [f"author {who}", f"committer {who}", "", self.message]
        return object_sha("commit", "\n".join(lines).encode())


def object_sha(kind: str, content: bytes) -> str:
    """The SHA-1 of a blob, tree or commit."""
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


def tree_sha(files: Files) -> str:
    """The id of the tree that holds these files."""
    entries: dict[str, tuple[str, str]] = {}
    folders: dict[str, dict[str, tuple[str, bytes]]] = {}
    for path, (mode, content) in files.items():
        folder, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(folder, {})[rest] = (mode, content)
        else:
            entries[path] = (mode, object_sha("blob", content))
    for folder, inside in folders.items():
        entries[folder] = ("40000", tree_sha(inside))
    # Git sorts a folder as if its name ended in a slash.
    ordered = sorted(entries.items(), key=lambda item: (item[0] + ("/" if item[1][0] == "40000" else "")).encode())
    return object_sha(
        "tree", b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(sha) for name, (mode, sha) in ordered)
    )
