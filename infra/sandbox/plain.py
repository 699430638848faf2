"""Running a command with no isolation at all: for Seconder's own sample, where this machine has no user namespaces.

Nothing of anybody else's is ever run this way; `bot.wiring` hands this out for the demo's own sample only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from infra.sandbox.spec import Reason, SandboxResult, Toolchain, own_toolchain

ISOLATION = "plain process, no isolation (own sample only)"
WALL_S = 60.0
OUTPUT_BYTES = 1 << 20


class PlainProcess:
    """The three members of `infra.workspace.needs.TestPlace`, as an ordinary child process in a copy of the tree."""

    def __init__(self, toolchain: Toolchain | None = None) -> None:
        self._toolchain = toolchain if toolchain is not None else own_toolchain()

    @property
    def isolation(self) -> str:
        """How the command is kept apart: not at all, and it says so."""
        return ISOLATION

    async def unavailable(self) -> str | None:
        """Always there."""
        return None

    async def run_tree(
        self,
        source: Path,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        environments: Mapping[str, Path] | None = None,
        seconds: float | None = None,
    ) -> SandboxResult:
        """Run `argv` in a copy of `source` for at most `seconds`, and a minute.

        Raises `ValueError` for prepared environments: only the sandbox can show them.
        """
        if environments:
            raise ValueError("a plain process cannot show a prepared environment; only the sandbox can")
        home = Path(tempfile.mkdtemp(prefix="seconder-plain-"))
        try:
            work = home / "work"
            await asyncio.to_thread(shutil.copytree, source, work, symlinks=True)
            placed = {name: value.replace("{work}", str(work)) for name, value in env.items()}
            placed = {"PATH": self._toolchain.path, "HOME": str(home), **placed}
            return await self._run(argv, work, placed, min(WALL_S, seconds if seconds is not None else WALL_S))
        finally:
            await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)

    async def _run(self, argv: tuple[str, ...], work: Path, env: Mapping[str, str], wall_s: float) -> SandboxResult:
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=work,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        output, reason = b"", "exit"
        try:
            async with asyncio.timeout(wall_s):
                while chunk := await process.stdout.read(65_536):
                    output += chunk
                    if len(output) > OUTPUT_BYTES:
                        reason = "output_cap"
                        break
                else:
                    await process.wait()
        except TimeoutError:
            reason = "timeout"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # asyncio never sees the end of a process whose pipe is not read to its end.
            while await process.stdout.read(65_536):
                pass
            await process.wait()
        return _result(process.returncode, reason, output, time.monotonic() - started)


def _result(code: int | None, reason: str, output: bytes, seconds: float) -> SandboxResult:
    kinds: Mapping[str, Reason] = {"exit": "exit", "output_cap": "output_cap", "timeout": "timeout"}
    kind = kinds[reason]
    return SandboxResult(
        exit_code=code if kind == "exit" else None,
        reason=kind,
        output=output[:OUTPUT_BYTES],
        truncated=len(output) > OUTPUT_BYTES,
        seconds=seconds,
    )
