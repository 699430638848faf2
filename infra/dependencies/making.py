"""What makers of environments share: where they work, what they need, what they hand back, how they fail."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.dependencies.processes import Ran
from infra.dependencies.shelf import check_size, size_of

_LOOK_S = 2.0


class Unmade(Exception):
    """An environment cannot be made; the text says why, `blocked` which hosts were refused meanwhile."""

    def __init__(self, why: str, blocked: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.blocked = blocked


class Ended(Protocol):
    """How a job in the sandbox ended. `exit_code` is None unless `reason` is exit."""

    @property
    def exit_code(self) -> int | None: ...

    @property
    def reason(self) -> str: ...

    @property
    def output(self) -> bytes: ...


class Builder(Protocol):
    """A sandbox that fills a directory: see `infra.sandbox.bubblewrap.Sandbox.build`."""

    async def build(self, argv: tuple[str, ...], into: Path, given: Path, egress: Path | None = None) -> Ended: ...


@dataclass(frozen=True)
class Made:
    """A directory with an environment in it, the digest of what it holds, its packages as `name==version`, its bytes,
    hosts that were refused, and what it goes without. Without `files`, one with this digest is on the shelf already."""

    digest: str
    files: Path | None
    packages: tuple[str, ...]
    size: int = 0
    blocked: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


async def built(builder: Builder, job: tuple[tuple[str, ...], Path, Path, Path | None], cap_bytes: int) -> Ran:
    """Run a job of the sandbox's (its words, what it fills, what it reads, its way out) while watching how much it
    writes. Raises `TooLarge`."""
    words, into, given, egress = job
    async with _watched(into, cap_bytes):
        ended = await builder.build(words, into, given, egress)
    if ended.reason != "exit":
        return Ran(None, ended.output + f"\nERROR: ended by {ended.reason}\n".encode())
    return Ran(ended.exit_code, ended.output)


@contextlib.asynccontextmanager
async def _watched(folder: Path, cap_bytes: int) -> AsyncIterator[None]:
    """Cancel what is done inside when the folder grows over the cap, and raise `TooLarge` for it."""
    task = asyncio.current_task()
    found = 0

    async def look() -> None:
        nonlocal found
        while found <= cap_bytes:
            await asyncio.sleep(_LOOK_S)
            found = await asyncio.to_thread(size_of, folder)
        if task is not None:
            task.cancel()

    looking = asyncio.ensure_future(look())
    try:
        yield
    except asyncio.CancelledError:
        if found > cap_bytes and task is not None and task.uncancel() == 0:
            check_size(found, cap_bytes)
        raise
    finally:
        looking.cancel()
