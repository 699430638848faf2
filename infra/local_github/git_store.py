"""Bare repositories on disk, reached only by running git with a scrubbed environment."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GIT_TIMEOUT = 60.0
ZERO = "0" * 40
SHA = re.compile(r"[0-9a-f]{40}\Z")

_CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.logAllRefUpdates": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    "receive.fsckObjects": "true",
    "receive.hideRefs": "refs/pull",
    "uploadpack.allowAnySHA1InWant": "true",
    "uploadpack.allowReachableSHA1InWant": "true",
    "uploadpack.allowFilter": "true",
    "http.receivepack": "true",
    "protocol.file.allow": "always",
    "commit.gpgSign": "false",
    "color.ui": "false",
    "diff.renames": "true",
    "core.quotePath": "false",
    "safe.directory": "*",
}


class GitFailed(Exception):
    """git ended with an error: `code` is its exit status, the text what it said."""

    def __init__(self, args: Sequence[str], code: int, said: str) -> None:
        super().__init__(f"git {args[0]} ended with {code}: {said.strip()[-500:]}")
        self.code = code
        self.said = said


@dataclass(frozen=True)
class GitResult:
    """Exit status and raw output of one git command."""

    code: int
    out: bytes
    err: str


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git child: nothing is inherited but PATH; configuration comes from us alone."""
    env = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_CONFIG_COUNT": str(len(_CONFIG)),
    }
    for position, (key, value) in enumerate(_CONFIG.items()):
        env[f"GIT_CONFIG_KEY_{position}"] = key
        env[f"GIT_CONFIG_VALUE_{position}"] = value
    return env | dict(extra or {})


async def run_git(
    directory: Path, args: Sequence[str], stdin: bytes = b"", extra: Mapping[str, str] | None = None
) -> GitResult:
    """Run `git ARGS` in `directory`; returns whatever the exit status.

    Raises GitFailed only when it does not end within GIT_TIMEOUT seconds.
    """
    child = await asyncio.create_subprocess_exec(
        "git",
        *args,
        cwd=directory,
        env=environment(extra),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = await asyncio.wait_for(child.communicate(stdin), GIT_TIMEOUT)
    except TimeoutError:
        raise GitFailed(args, -1, f"no end after {GIT_TIMEOUT:.0f} s") from None
    finally:
        await end(child)
    return GitResult(child.returncode or 0, out, err.decode("utf-8", "replace"))


async def end(child: asyncio.subprocess.Process) -> None:
    """Kill a git that still runs, with the helpers that it started (it leads its own process group)."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


class GitStore:
    """All bare repositories, one directory per repository id under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, repo_id: int) -> Path:
        """The bare repository's directory."""
        return self.root / f"{repo_id}.git"

    async def git(self, repo_id: int, *args: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
        """Run git in a repository; returns its output, raises GitFailed on a non-zero exit."""
        done = await run_git(self.path(repo_id), args, stdin, extra)
        if done.code:
            raise GitFailed(args, done.code, done.err)
        return done.out

    async def text(self, repo_id: int, *args: str, stdin: bytes = b"") -> str:
        """Like `git`, as text without the trailing newline."""
        return (await self.git(repo_id, *args, stdin=stdin)).decode("utf-8", "replace").rstrip("\n")

    async def init(self, repo_id: int, default_branch: str) -> None:
        """Make an empty bare repository without hooks or templates."""
        self.root.mkdir(parents=True, exist_ok=True)
        target = self.path(repo_id)
        args = ("init", "--bare", "--quiet", "--template=", f"--initial-branch={default_branch}", str(target))
        done = await run_git(self.root, args)
        if done.code:
            raise GitFailed(args, done.code, done.err)

    async def clone(self, repo_id: int, source: Path) -> str:
        """Copy a repository of this machine without sharing objects; returns its default branch's name."""
        self.root.mkdir(parents=True, exist_ok=True)
        target = self.path(repo_id)
        args = ("clone", "--bare", "--quiet", "--no-hardlinks", "--template=", "--", str(source.resolve()), str(target))
        done = await run_git(self.root, args)
        if done.code:
            shutil.rmtree(target, ignore_errors=True)
            raise GitFailed(args, done.code, done.err)
        await self.git(repo_id, "remote", "remove", "origin")
        return (await self.text(repo_id, "symbolic-ref", "HEAD")).removeprefix("refs/heads/")

    async def refs(self, repo_id: int, prefix: str = "refs/") -> dict[str, str]:
        """All refs under a prefix, by full name, as object ids, in git's order."""
        listed = await self.text(repo_id, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.split(" ", 1) for line in listed.splitlines())
        return {name: sha for sha, name in pairs}

    async def ref(self, repo_id: int, name: str) -> str | None:
        """The object id of one full ref name, or None."""
        done = await run_git(self.path(repo_id), ("show-ref", "--verify", "--hash", "--", name))
        return done.out.decode().strip() if done.code == 0 else None

    async def kind(self, repo_id: int, sha: str) -> str | None:
        """`commit`, `tree`, `blob`, `tag`, or None when there is no such object."""
        if not SHA.match(sha):
            return None
        done = await run_git(self.path(repo_id), ("cat-file", "-t", sha))
        return done.out.decode().strip() if done.code == 0 else None

    async def resolve(self, repo_id: int, name: str) -> str | None:
        """The commit that a branch, a tag, a full ref or an object id names, or None."""
        if not name or name.startswith("-") or any(ord(c) < 33 or c in "~^:?*[\\" for c in name):
            return None
        tries = [name] if SHA.match(name) else [f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name]
        if re.fullmatch(r"[0-9a-f]{7,39}", name):
            tries.append(name)
        for candidate in tries:
            if not candidate.startswith("refs/") and not re.fullmatch(r"[0-9a-f]{7,40}|HEAD", candidate):
                continue
            args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}")
            done = await run_git(self.path(repo_id), args)
            if done.code == 0:
                return done.out.decode().strip()
        return None

    async def set_ref(self, repo_id: int, name: str, new: str, old: str) -> None:
        """Move, make (old = ZERO) or delete (new = ZERO) a ref, refused when it is not at `old`."""
        await self.git(repo_id, "update-ref", "--no-deref", "--stdin", "-z", stdin=_update(name, new, old))

    async def is_ancestor(self, repo_id: int, older: str, newer: str) -> bool:
        """Whether `older` can be reached from `newer`."""
        done = await run_git(self.path(repo_id), ("merge-base", "--is-ancestor", older, newer))
        return done.code == 0

    async def merge_base(self, repo_id: int, one: str, other: str) -> str | None:
        """The best common ancestor of two commits, or None."""
        done = await run_git(self.path(repo_id), ("merge-base", one, other))
        return done.out.decode().split("\n")[0] if done.code == 0 else None

    async def between(self, repo_id: int, exclude: str | None, include: str) -> list[str]:
        """Commits reachable from `include` and not from `exclude`, oldest first."""
        span = [include] if exclude is None else [include, f"^{exclude}"]
        listed = await self.text(repo_id, "rev-list", "--reverse", "--topo-order", "--max-count=1000", *span)
        return listed.split()


def _update(name: str, new: str, old: str) -> bytes:
    verb = f"delete {name}\0{old}\0" if new == ZERO else f"update {name}\0{new}\0{old}\0"
    return verb.encode()


def valid_ref(name: str) -> bool:
    """Whether `refs/heads/x` style names follow the rules of git-check-ref-format, and no part leads with a dash."""
    if not name.startswith("refs/") or name.count("/") < 2 or len(name.encode()) > 255:
        return False
    if any(ord(c) < 33 or c in "~^:?*[\\\x7f" for c in name) or ".." in name or "@{" in name or "//" in name:
        return False
    parts = name.split("/")
    bad = (not p or p.startswith((".", "-")) or p.endswith(".lock") for p in parts)
    return not any(bad) and not name.endswith(".")
