"""Bandit, kept loaded in a process of its own: loading it takes longer than to look at a file.

The process starts with the first question and ends with this one. When it fails it is started anew, once for each file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path

from handlers.ports import Danger, Scanned, Source

PATIENCE_S = 30.0
"""For one file; the scanner itself gives up earlier."""
_SERVER = Path(__file__).with_name("bandit_server.py")
_LARGEST = 1 << 24


class BanditScanner:
    """`handlers.ports.Scanner` for Python files. `server` is the program to ask."""

    def __init__(self, server: Path = _SERVER, patience_s: float = PATIENCE_S) -> None:
        self._server = server
        self._patience_s = patience_s
        self._process: Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def scan(self, sources: Sequence[Source]) -> Sequence[Scanned]:
        """What was found in each, in the same order. Never raises: a file that could not be looked at says why."""
        async with self._one_at_a_time:
            return [await self._scan(source) for source in sources]

    async def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _scan(self, source: Source) -> Scanned:
        problem = ""
        for _ in range(2):
            try:
                answer = await asyncio.wait_for(self._ask(source.content), self._patience_s)
                return _scanned(source.path, answer)
            except TimeoutError:
                problem = f"the scanner did not answer within {self._patience_s:g} s"
            except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
                problem = f"the scanner failed ({type(error).__name__})"
            except asyncio.CancelledError:
                await self.close()
                raise
            await self.close()
        return Scanned(source.path, problem=problem)

    async def _ask(self, content: bytes) -> object:
        process = self._process
        if process is None or process.returncode is not None:
            words = (sys.executable, "-I", str(self._server))
            process = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, stderr=asyncio.subprocess.DEVNULL, env={}, start_new_session=True
            )
            self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(struct.pack(">I", len(content)) + content)
        await process.stdin.drain()
        size = struct.unpack(">I", await process.stdout.readexactly(4))[0]
        if size > _LARGEST:
            raise ValueError(f"an answer of {size} bytes")
        return json.loads(await process.stdout.readexactly(size))


def _scanned(path: str, answer: object) -> Scanned:
    """An answer as a record. Raises `KeyError`, `TypeError` or `ValueError` for one that makes no sense."""
    if not isinstance(answer, dict):
        raise TypeError("an answer that is no mapping")
    if "problem" in answer:
        return Scanned(path, problem=str(answer["problem"]), readable=bool(answer.get("readable", True)))
    found = tuple(
        Danger(
            line=int(one["line"]),
            last=int(one["last"]),
            test=str(one["test"]),
            severity=str(one["severity"]),
            confidence=str(one["confidence"]),
            text=str(one["text"]),
        )
        for one in answer["found"]
    )
    return Scanned(path, found)
