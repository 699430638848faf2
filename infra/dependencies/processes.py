"""Starts pip and npm on the host: an environment made from scratch, bounded in time and output, gone with its group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_OUTPUT_BYTES = 4 << 20
_UNPRINTABLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Ran:
    """How a command ended; `code` is None when it was stopped. `output` is what it printed, both streams."""

    code: int | None
    output: bytes

    @property
    def last_line(self) -> str:
        """The last thing it said, for people."""
        lines = [line.strip() for line in cleaned(self.output).splitlines() if line.strip()]
        return lines[-1][:300] if lines else "it said nothing"

    @property
    def errors(self) -> str:
        """What it said went wrong, in one line for people."""
        lines = [line.strip() for line in cleaned(self.output).splitlines()]
        errors = [
            re.sub(r"^(?:ERROR|npm (?:error|ERR!))(?: code \w+)?:? *", "", line) for line in lines if _is_error(line)
        ]
        said = [line for line in dict.fromkeys(errors) if line]
        return " ".join(said)[:400] if said else self.last_line


def pip(*words: str) -> tuple[str, ...]:
    """The words that start our own pip."""
    return (sys.executable, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "--no-color", *words)


def cleaned(output: bytes) -> str:
    """Output as text without control characters."""
    return _UNPRINTABLE.sub("", output.decode("utf-8", "replace"))


def _is_error(line: str) -> bool:
    return line.startswith(("ERROR:", "npm error", "npm ERR!")) and "A complete log of this run" not in line


async def run(words: tuple[str, ...], env: Mapping[str, str], folder: Path, seconds: float) -> Ran:
    """Run a command in `folder` with exactly this environment. A missing program is a code of 127."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError:
        return Ran(127, f"{words[0]} is not installed".encode())
    assert process.stdout is not None
    output, code = b"", None
    try:
        async with asyncio.timeout(seconds):
            while chunk := await process.stdout.read(65_536):
                output = (output + chunk)[-_OUTPUT_BYTES:]
            code = await process.wait()
    except TimeoutError:
        output += f"\nERROR: stopped after {seconds:g} seconds\n".encode()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # asyncio never sees the end of a process whose pipe is not read to its end.
        while await process.stdout.read(65_536):
            pass
        await process.wait()
    return Ran(code, output)
