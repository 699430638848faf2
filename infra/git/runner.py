"""Starts git: an environment made from scratch, our settings over anybody's, bounds on time, output and file size.

Git runs programs that its configuration names (hooks, filters, fsmonitor, textconv, credential helpers, ssh). None of
that can come from a work tree here: the git directory is the host's own, and what is left is switched off below.
Sources: git-config(1), git(1) "Environment Variables"; CVE-2024-52005 for the control characters.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handlers.ports import GitHubError, TooBig

_SETTINGS: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.symlinks": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "false",
    "core.autocrlf": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.pager": "cat",
    "core.editor": "/bin/false",
    "core.sshCommand": "/bin/false",
    "core.askPass": "",
    "core.bigFileThreshold": "16m",
    "core.logAllRefUpdates": "false",
    "core.alternateRefsCommand": "",
    "core.gitProxy": "",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    "transfer.bundleURI": "false",
    "diff.ignoreSubmodules": "all",
    "diff.external": "",
    "diff.renames": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
    "http.sslVerify": "true",
    "http.proxy": "",
    "credential.helper": "",
    "credential.protectProtocol": "true",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gpg.program": "/bin/false",
    "filter.lfs.process": "",
    "filter.lfs.smudge": "",
    "filter.lfs.clean": "",
    "filter.lfs.required": "false",
    "advice.detachedHead": "false",
    "color.ui": "false",
}
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FILE_BYTES = 1 << 30
_OPEN_FILES = 1024
_STDERR_BYTES = 1 << 16


class GitFailed(GitHubError):
    """Git ended with an error. `stderr` is what it said: cut, without control characters, without secrets."""

    def __init__(self, what: str, code: int, stderr: str) -> None:
        super().__init__(f"git {what} failed with code {code}: {stderr.strip()[:600] or 'it said nothing'}")
        self.code = code
        self.stderr = stderr


class GitTimedOut(GitFailed):
    """Git was stopped because it took too long."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what, -1, f"stopped after {seconds:g} seconds")


class OutputTooLong(GitFailed, TooBig):
    """Git was stopped because it printed more than the caller takes."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what, -1, f"more than {limit:,} bytes of output")
        self.limit = limit


@dataclass(frozen=True)
class Place:
    """Where git works: the host's own git directory, and for work trees the tree, the index and the new objects."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None

    def environment(self) -> dict[str, str]:
        """The variables that say so."""
        found = {"GIT_DIR": str(self.git_dir)}
        if self.work_tree is not None:
            found["GIT_WORK_TREE"] = str(self.work_tree)
        if self.index is not None:
            found["GIT_INDEX_FILE"] = str(self.index)
        if self.objects is not None:
            found["GIT_OBJECT_DIRECTORY"] = str(self.objects)
            found["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(self.git_dir / "objects")
        return found


@dataclass(frozen=True)
class Bounds:
    """How long a command may take (seconds), how much it may print (bytes), and the one protocol it may speak."""

    seconds: float = 60.0
    output_bytes: int = 64 << 20
    protocol: str | None = None


@dataclass(frozen=True)
class Secret:
    """A setting that must not be seen in a process list: handed over in the environment, cut out of what git says."""

    key: str
    value: str
    hide: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """One call of git: its words (the first is the subcommand), where, what it reads, its bounds, a secret, and open
    file descriptors that it inherits."""

    words: tuple[str, ...]
    place: Place
    stdin: bytes = b""
    bounds: Bounds = field(default_factory=Bounds)
    secret: Secret | None = None
    holds: tuple[int, ...] = ()


class Git:
    """Runs git. `home` is an empty directory of ours (mode 700): git finds no settings of anybody in it."""

    def __init__(self, home: Path) -> None:
        found = shutil.which("git", path="/usr/local/bin:/usr/bin:/bin")
        if found is None:
            raise FileNotFoundError("git is not installed: install it with the system's package manager")
        self._program = found
        self._home = home
        home.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def run(self, command: Command) -> bytes:
        """Standard output of one command. Raises `GitFailed` or one of its kinds."""
        what = command.words[0]
        with tempfile.TemporaryFile() as stderr:
            async with self._started(command, stderr.fileno()) as process:
                try:
                    async with asyncio.timeout(command.bounds.seconds):
                        output = await _exchange(process, command.stdin, command.bounds.output_bytes)
                        code = await process.wait() if output is not None else -1
                except TimeoutError:
                    raise GitTimedOut(what, command.bounds.seconds) from None
            if output is None:
                raise OutputTooLong(what, command.bounds.output_bytes)
            if code != 0:
                stderr.seek(0)
                raise GitFailed(what, code, _clean(stderr.read(_STDERR_BYTES), command.secret))
        return output

    @contextlib.asynccontextmanager
    async def _started(self, command: Command, stderr: int) -> AsyncIterator[asyncio.subprocess.Process]:
        settings = dict(_SETTINGS)
        if command.bounds.protocol is not None:
            settings[f"protocol.{command.bounds.protocol}.allow"] = "always"
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        process = await asyncio.create_subprocess_exec(
            self._program,
            *options,
            *command.words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=self._environment(command),
            cwd=self._home,
            start_new_session=True,
            pass_fds=command.holds,
        )
        try:
            _limit(process.pid, command.bounds.seconds)
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # asyncio reports the end of a process only after its pipe has been read to the end.
            while process.stdout is not None and await process.stdout.read(1 << 16):
                pass
            await process.wait()

    def _environment(self, command: Command) -> dict[str, str]:
        home = str(self._home)
        found = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": command.bounds.protocol or "none",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "SSH_ASKPASS": "/bin/false",
            "GIT_SSH_COMMAND": "/bin/false",
            "GIT_EDITOR": "/bin/false",
            "GIT_SEQUENCE_EDITOR": "/bin/false",
            "GIT_PAGER": "cat",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CEILING_DIRECTORIES": str(self._home.parent),
            "GIT_TEMPLATE_DIR": home,
            **command.place.environment(),
        }
        if command.secret is not None:
            found |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": command.secret.key,
                "GIT_CONFIG_VALUE_0": command.secret.value,
            }
        return found


def _limit(pid: int, seconds: float) -> None:
    # Set from outside, since code between fork and exec is not safe in a process with threads. Git may have ended.
    if not hasattr(resource, "prlimit"):
        return
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CPU: int(seconds) + 5,
    }
    with contextlib.suppress(ProcessLookupError):
        for name, value in bounds.items():
            resource.prlimit(pid, name, (value, value))


async def _exchange(process: asyncio.subprocess.Process, stdin: bytes, limit: int) -> bytes | None:
    """Feed and read at the same time; None when more than `limit` bytes came."""
    assert process.stdin is not None
    assert process.stdout is not None
    feeding = asyncio.ensure_future(_feed(process.stdin, stdin))
    try:
        output = bytearray()
        while chunk := await process.stdout.read(1 << 16):
            output += chunk
            if len(output) > limit:
                return None
        await feeding
        return bytes(output)
    finally:
        feeding.cancel()


async def _feed(stream: asyncio.StreamWriter, data: bytes) -> None:
    # Git may stop reading early; its exit code says whether that was an error.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
    stream.close()


def _clean(raw: bytes, secret: Secret | None) -> str:
    text = raw.decode("utf-8", "replace")
    if secret is not None:
        for hidden in (secret.value, *secret.hide):
            text = text.replace(hidden, "[hidden]")
    return _UNPRINTABLE.sub("", text)
