"""Reading and writing trees, commits and diffs in a bare repository."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from infra.local_github.git_store import ZERO, GitFailed, GitStore, run_git

MODES = {"100644": "blob", "100755": "blob", "120000": "blob", "040000": "tree", "160000": "commit"}
_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


class BadTree(Exception):
    """A tree that git would not take; the text says which path and why."""


@dataclass(frozen=True)
class Entry:
    """One line of a tree."""

    mode: str
    kind: str
    sha: str
    size: int | None
    path: str


@dataclass(frozen=True)
class Person:
    """Author or committer: `date` keeps its offset, since the commit's id depends on it."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True)
class NewCommit:
    """A commit to be stored; the message gets no newline."""

    tree: str
    parents: Sequence[str]
    author: Person
    committer: Person
    message: str


@dataclass(frozen=True)
class Commit:
    """A commit as stored."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


@dataclass(frozen=True)
class FileChange:
    """One file of a diff; `patch` starts at its first hunk and is None for binary files."""

    path: str
    previous: str | None
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str | None
    binary: bool


async def ls_tree(store: GitStore, repo_id: int, tree: str, recursive: bool = False) -> list[Entry]:
    """The entries of a tree or commit; recursive lists sub-trees too, as GitHub does."""
    flags = ["-r", "-t"] if recursive else []
    out = await store.git(repo_id, "ls-tree", "-z", "--long", *flags, tree)
    entries = []
    for line in out.decode("utf-8", "replace").split("\0")[:-1]:
        facts, path = line.split("\t", 1)
        mode, kind, sha, size = facts.split()
        entries.append(Entry(mode, kind, sha, None if size == "-" else int(size), path))
    return entries


async def entry_at(store: GitStore, repo_id: int, commit: str, path: str) -> Entry | None:
    """The blob, tree or submodule at `path` of a commit, or None; the root is a tree with an empty path."""
    if not path:
        sha = (await store.git(repo_id, "rev-parse", f"{commit}^{{tree}}")).decode().strip()
        return Entry("040000", "tree", sha, None, "")
    args = ("--literal-pathspecs", "ls-tree", "-z", "--long", commit, "--", path)
    done = await run_git(store.path(repo_id), args)
    if done.code or not done.out:
        return None
    facts, found = done.out.decode("utf-8", "replace").split("\0")[0].split("\t", 1)
    mode, kind, sha, size = facts.split()
    return Entry(mode, kind, sha, None if size == "-" else int(size), found) if found == path else None


async def write_blob(store: GitStore, repo_id: int, content: bytes) -> str:
    """Store bytes; returns the blob's id."""
    return (await store.git(repo_id, "hash-object", "-w", "-t", "blob", "--stdin", stdin=content)).decode().strip()


async def write_tree(
    store: GitStore, repo_id: int, base: str | None, changes: Sequence[tuple[str, str, str | None]]
) -> str:
    """Apply `(path, mode, object id or None to delete)` to `base` in order; returns the new tree's id.

    Raises BadTree for paths git refuses and for the deletion of what is not there.
    """
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        directory = store.path(repo_id)
        await store.git(repo_id, *(("read-tree", base) if base else ("read-tree", "--empty")), extra=index)
        for path, mode, sha in changes:
            if sha is None or mode == "040000":
                await _drop(store, repo_id, path, index, required=sha is None)
            if mode == "040000" and sha:
                done = await run_git(directory, ("read-tree", f"--prefix={path}/", sha), extra=index)
            elif sha:
                line = f"{mode} {sha}\t{path}\0".encode()
                args = ("update-index", "--add", "--replace", "-z", "--index-info")
                done = await run_git(directory, args, line, index)
            else:
                continue
            if done.code:
                raise BadTree(f"tree.path {path!r}: {done.err.strip()[-200:]}")
        try:
            return (await store.git(repo_id, "write-tree", extra=index)).decode().strip()
        except GitFailed as failed:
            raise BadTree(failed.said.strip()[-200:]) from failed


async def _drop(store: GitStore, repo_id: int, path: str, index: dict[str, str], required: bool) -> None:
    listed = await store.git(repo_id, "--literal-pathspecs", "ls-files", "-z", "--", path, extra=index)
    if not listed and required:
        raise BadTree(f"tree.path {path!r} is not in the base tree, so it cannot be deleted")
    if listed:  # mode 0 removes; unlike --force-remove it asks for no work tree
        lines = b"".join(b"0 " + ZERO.encode() + b"\t" + name + b"\0" for name in listed.split(b"\0")[:-1])
        await store.git(repo_id, "update-index", "-z", "--index-info", stdin=lines, extra=index)


async def write_commit(store: GitStore, repo_id: int, new: NewCommit) -> str:
    """Store a commit byte for byte as git would from these facts; returns its id."""
    lines = [f"tree {new.tree}", *(f"parent {parent}" for parent in new.parents)]
    lines += [f"author {_ident(new.author)}", f"committer {_ident(new.committer)}", "", new.message]
    raw = "\n".join(lines).encode("utf-8", "surrogateescape")
    return (await store.git(repo_id, "hash-object", "-w", "-t", "commit", "--stdin", stdin=raw)).decode().strip()


def _ident(person: Person) -> str:
    name = re.sub(r"[<>\x00-\x1f]", "", person.name).strip(" .,:;\"'\\") or "unknown"
    email = re.sub(r"[<>\x00-\x20]", "", person.email)
    offset = person.date.utcoffset() or timedelta()
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{name} <{email}> {int(person.date.timestamp())} {sign}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


async def read_commit(store: GitStore, repo_id: int, sha: str) -> Commit:
    """Parse one stored commit."""
    return (await read_commits(store, repo_id, [sha]))[0]


async def read_commits(store: GitStore, repo_id: int, shas: Sequence[str]) -> list[Commit]:
    """Parse stored commits, in the order asked."""
    if not shas:
        return []
    out = await store.git(repo_id, "cat-file", "--batch", stdin=("\n".join(shas) + "\n").encode())
    commits, at = [], 0
    for sha in shas:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        commits.append(_parse(sha, out[end + 1 : end + 1 + size]))
        at = end + 2 + size
    return commits


def _parse(sha: str, raw: bytes) -> Commit:
    head, _, message = raw.decode("utf-8", "replace").partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    people = _person(fields["author"][0]), _person(fields["committer"][0])
    return Commit(sha, fields["tree"][0], tuple(fields.get("parent", ())), *people, message)


def _person(line: str) -> Person:
    found = re.match(r"(.*?) ?<([^>]*)> (-?\d+) ([+-])(\d\d)(\d\d)", line)
    if not found:
        return Person("unknown", "", datetime.fromtimestamp(0, UTC))
    name, email, stamp, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    return Person(name, email, datetime.fromtimestamp(int(stamp), timezone(offset)))


async def diff(store: GitStore, repo_id: int, old: str, new: str) -> list[FileChange]:
    """The files that differ between two commits or trees, with renames found, in git's order."""
    flags = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--no-abbrev", "--full-index")
    raw = await store.git(repo_id, "diff", *flags, "--raw", "-z", old, new)
    counts = await store.git(repo_id, "diff", *flags, "--numstat", "-z", old, new)
    text = (await store.git(repo_id, "diff", *flags, "--patch", old, new)).decode("utf-8", "replace")
    patches = iter(re.split(r"(?m)^(?=diff --git )", text)[1:])
    numbers = _numstat(counts)
    return [_change(entry, numbers, patches) for entry in _raw(raw)]


def _raw(raw: bytes) -> Iterator[tuple[str, str, str | None, str]]:
    parts = iter(raw.decode("utf-8", "replace").split("\0")[:-1])
    for facts in parts:
        _old_mode, _new_mode, old_sha, new_sha, status = facts[1:].split()
        first = next(parts)
        path, previous = (next(parts), first) if status[0] in "RC" else (first, None)
        yield status[0], path, previous, old_sha if status == "D" else new_sha


def _numstat(raw: bytes) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    parts = iter(raw.decode("utf-8", "replace").split("\0")[:-1])
    for facts in parts:
        added, removed, path = facts.split("\t", 2)
        if not path:
            next(parts)
            path = next(parts)
        found[path] = (added, removed)
    return found


def _change(
    entry: tuple[str, str, str | None, str], rest: dict[str, tuple[str, str]], patches: Iterator[str]
) -> FileChange:
    status, path, previous, sha = entry
    section = next(patches, "")
    if status == "T":  # a change of type is printed as a deletion and an addition
        section = next(patches, "")
    hunk = section.find("\n@@")
    patch = section[hunk + 1 :].rstrip("\n") if hunk >= 0 else None
    added, removed = rest.get(path, ("0", "0"))
    binary = added == "-"
    plus, minus = (0, 0) if binary else (int(added), int(removed))
    return FileChange(path, previous, _STATUS.get(status, "changed"), sha, plus, minus, patch, binary)


async def merge_trees(store: GitStore, repo_id: int, base: str, head: str) -> str | None:
    """The tree of merging two commits, or None when they conflict."""
    done = await run_git(store.path(repo_id), ("merge-tree", "--write-tree", base, head))
    if done.code > 1 or done.code < 0:
        raise GitFailed(("merge-tree",), done.code, done.err)
    return done.out.decode().split("\n")[0].strip() if done.code == 0 else None
