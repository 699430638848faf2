"""Bandit in its own process: what it finds, what its suppressions do not hide, and what happens when it cannot look."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from handlers.ports import Source
from infra.scan.bandit import BanditScanner


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scanner() -> AsyncIterator[BanditScanner]:
    made = BanditScanner()
    yield made
    await made.close()


pytestmark = pytest.mark.asyncio(loop_scope="module")

ROWS = [
    pytest.param("x = 1\n", [], id="nothing"),
    pytest.param("", [], id="an empty file"),
    pytest.param(
        "import subprocess\nsubprocess.call(c, shell=True)\n", [("B404", 1, "low"), ("B602", 2, "high")], id="a shell"
    ),
    pytest.param("import os\nos.system(c)  # nosec\n", [("B605", 2, "high")], id="a comment that says to look away"),
    pytest.param("import os\nos.system(c)  # nosec B605 - fine\n", [("B605", 2, "high")], id="with its number"),
    pytest.param("f(\n    1,\n    eval(c),\n)\n", [("B307", 3, "medium")], id="in a call of several lines"),
    pytest.param("# -*- coding: latin-1 -*-\nexec(c)\n", [("B102", 2, "medium")], id="another encoding"),
]


@pytest.mark.parametrize(("text", "found"), ROWS)
async def test_what_is_found(scanner: BanditScanner, text: str, found: list[tuple[str, int, str]]) -> None:
    [scanned] = await scanner.scan([Source("a.py", text.encode())])
    assert scanned.problem == ""
    assert sorted((one.test, one.line, one.severity) for one in scanned.found) == found


UNREADABLE = [
    pytest.param(b"def f(:\n", id="no Python"),
    pytest.param(b'print "2"\n', id="the Python of old"),
    pytest.param(b"\xff\xfe\x00", id="no text"),
    pytest.param(b"x = " + b"(" * 5_000, id="nested without end"),
]


@pytest.mark.parametrize("content", UNREADABLE)
async def test_what_cannot_be_read_says_so(scanner: BanditScanner, content: bytes) -> None:
    [scanned] = await scanner.scan([Source("a.py", content)])
    assert scanned.found == ()
    assert scanned.problem
    assert not scanned.readable


async def test_the_settings_of_a_repository_are_not_read(
    scanner: BanditScanner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `.bandit` lies in the working directory, where bandit looks for one by itself."""
    (tmp_path / ".bandit").write_text("[bandit]\nskips: B102\n")
    monkeypatch.setenv("BANDIT_CONFIG", str(tmp_path / ".bandit"))
    before = Path.cwd()
    os.chdir(tmp_path)
    fresh = BanditScanner()
    try:
        [scanned] = await fresh.scan([Source("a.py", b"exec(c)\n")])
    finally:
        os.chdir(before)
        await fresh.close()
    assert [one.test for one in scanned.found] == ["B102"]


async def test_a_second_look_is_quick(scanner: BanditScanner) -> None:
    """The process stays: only its first question waits until bandit is loaded."""
    await scanner.scan([Source("a.py", b"x = 1\n")])
    begun = time.monotonic()
    await scanner.scan([Source("a.py", b"x = 1\n")])
    assert time.monotonic() - begun < 0.25


SERVERS = [
    pytest.param("import sys\nsys.exit(3)\n", "failed", id="it ends at once"),
    pytest.param("import time\ntime.sleep(60)\n", "did not answer", id="it says nothing"),
    pytest.param(
        "import sys\nsys.stdout.buffer.write(b'\\xff\\xff\\xff\\xff')\nsys.stdout.flush()\nsys.stdin.read()\n",
        "failed",
        id="it would say too much",
    ),
    pytest.param(
        "import sys\nsys.stdout.buffer.write(b'\\0\\0\\0\\2[]')\nsys.stdout.flush()\nsys.stdin.read()\n",
        "failed",
        id="it says something else",
    ),
]


@pytest.mark.parametrize(("program", "why"), SERVERS)
async def test_a_scanner_that_fails_says_so(tmp_path: Path, program: str, why: str) -> None:
    server = tmp_path / "server.py"
    server.write_text(program)
    broken = BanditScanner(server, patience_s=0.3)
    [scanned] = await broken.scan([Source("a.py", b"x = 1\n")])
    assert why in scanned.problem
    assert scanned.readable
    await broken.close()


async def test_it_starts_anew_after_it_was_killed(scanner: BanditScanner) -> None:
    await scanner.scan([Source("a.py", b"x = 1\n")])
    process = scanner._process
    assert process is not None
    process.kill()
    await process.wait()
    [scanned] = await scanner.scan([Source("a.py", b"exec(c)\n")])
    assert [one.test for one in scanned.found] == ["B102"]


async def test_two_at_once_get_their_own_answers(scanner: BanditScanner) -> None:
    first, second = await asyncio.gather(
        scanner.scan([Source("a.py", b"exec(c)\n")]), scanner.scan([Source("b.py", b"x = 1\n")])
    )
    assert [len(one.found) for one in (*first, *second)] == [1, 0]
