"""A bound on what a job writes to a directory of the host: bytes and files, looked at while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from infra.sandbox.spec import SandboxResult

MAX_BYTES = 1 << 30
MAX_FILES = 150_000
_LOOK_S = 0.25


class WroteTooMuch(OSError):
    """The job was ended because it wrote too much."""


async def watched(job: Coroutine[Any, Any, SandboxResult], directory: Path) -> SandboxResult:
    """The job's result. Raises `WroteTooMuch`, the job being ended, once `directory` holds more than the bounds."""
    running = asyncio.ensure_future(job)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_LOOK_S)
            if not await asyncio.to_thread(_within, directory):
                raise WroteTooMuch(f"more than {MAX_BYTES >> 20} MiB or {MAX_FILES:,} files")
        return running.result()
    finally:
        running.cancel()
        await asyncio.wait({running})


def _within(directory: Path) -> bool:
    """Whether a directory keeps the bounds; blocks on disk count, so a file with holes is what it takes."""
    files = size = 0
    waiting = [str(directory)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:  # it may go while it is looked at
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                files += 1
                size += state.st_blocks * 512
                if files > MAX_FILES or size > MAX_BYTES:
                    return False
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return True
