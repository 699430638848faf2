"""The examples in docs/examples, as their reader would run them: as processes of their own, beside a real store."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.board import Entry
from tests.fakes.outages import Server
from tests.fakes.store import RealStore
from tests.fakes.team import Team

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "store")
    yield made
    made.close()


@asynccontextmanager
async def outsider(server: Server, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """An example at work, killed (-9) in the end."""
    url = f"unix://{server.address.socket}?password={server.address.password}"
    environment = {"REDIS_URL": url, "NAME": name, "PATH": os.environ["PATH"]}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / "leftovers.py"), env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 30) == b"listening\n"
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        await process.communicate()


async def notes(team: Team) -> list[Entry]:
    """What the outsider wrote, oldest first."""
    return [entry for entry in (await team.state()).entries("report") if entry.author.name == "leftovers"]


async def until(team: Team, holds: Callable[[list[Entry]], bool]) -> list[Entry]:
    """What it wrote, once that holds."""
    latest = time.monotonic() + 20
    while not holds(found := await notes(team)):
        assert time.monotonic() < latest, found
        await asyncio.sleep(0.05)
    return found


async def caught_up(store: RealStore) -> bool:
    """Whether the outsider's group has read all of the bus and acknowledged it."""
    [group] = [one for one in await store.client.xinfo_groups("{s}:bus") if one["name"] == b"leftovers"]
    return bool(group["pending"] == 0 and group["lag"] == 0)


async def test_a_process_of_somebody_elses_joins_a_run(server: Server) -> None:
    """It comes late and reads what is kept, writes entries that everybody sees, and killed it doubles nothing."""
    store = RealStore(server.running, 4.0, prefix="{s}:")
    team = Team(store)
    try:
        await team.file()
        await team.idle()
        assert "gate_opened" in await team.said()
        async with outsider(server, "one"):
            [note] = await until(team, lambda found: len(found) == 1)
        written = [entry for entry in (await team.state()).board.all() if entry.kind == "code"]
        assert note.derived_from == (written[0].id,)
        assert str(note.value["text"]) == "Nothing is left over."
        # Killed before it acknowledged, it gets the events again, under its own name and under another's.
        await store.client.xgroup_setid("{s}:bus", "leftovers", "0")
        async with outsider(server, "two"):
            latest = time.monotonic() + 20
            while not await caught_up(store):
                assert time.monotonic() < latest
                await asyncio.sleep(0.05)
        assert await notes(team) == [note]
        await team.idle()
        assert (await team.facts()).status == "open", "the run goes on as if nobody had joined"
        assert (await store.trail.verify(team.run)).findings == ()
    finally:
        await store.close()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_says_how_it_is_run(path: Path) -> None:
    assert f"python docs/examples/{path.name}" in path.read_text()
