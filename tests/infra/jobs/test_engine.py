"""arq as the engine, through a store that goes away: what runs is not cancelled, and what was asked for is run."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from arq.connections import ArqRedis
from arq.constants import job_key_prefix
from redis.exceptions import RedisError

from infra.jobs.connection import QUEUE, connect
from infra.jobs.engine import ArqEngine, ArqWake
from tests.fakes.outages import HOW, Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "store")
    yield made
    made.close()


@pytest.fixture
async def pool(server: Server) -> AsyncIterator[ArqRedis]:
    made = connect(None, server.address.socket, server.address.password)
    yield made
    await made.aclose(close_connection_pool=True)


class Work:
    """What a worker is asked to do: `done` names it; names that begin with `long` take until `let_go`."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: list[str] = []
        self.cancelled: list[str] = []
        self.let_go = asyncio.Event()

    async def advance(self, member: str) -> None:
        self.begun.append(member)
        try:
            if member.startswith("long"):
                await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled.append(member)
            raise
        self.done.append(member)


@asynccontextmanager
async def engine(pool: ArqRedis, work: Work) -> AsyncIterator[None]:
    """The engine, begun again whenever it says that the store is away; ended at the end."""
    made = ArqEngine(pool, work.advance, jobs=4, lease_s=0.5)

    async def keep() -> None:
        while True:
            with suppress(RedisError, OSError):
                await made.run()
            await asyncio.sleep(0.05)

    task = asyncio.create_task(keep())
    try:
        yield
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=0.2)


class Planted:
    """What somebody who can write to the store would like to be run here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


async def test_nothing_in_the_store_is_code(pool: ArqRedis, tmp_path: Path) -> None:
    """A pickled job, as arq would make and run it by itself, is thrown away; the next one is run."""
    planted, work = tmp_path / "planted", Work()
    job = pickle.dumps({"t": None, "f": "advance", "a": (Planted(planted),), "k": {}, "et": 1})
    await pool.psetex(f"{job_key_prefix}planted", 60_000, job)
    await pool.zadd(QUEUE, {"planted": 1})
    async with engine(pool, work):
        await ArqWake(pool).wake([("honest", "1")])
        await until(work.done, "honest")
        for _ in range(100):
            if await pool.zscore(QUEUE, "planted") is None:
                break
            await asyncio.sleep(0.05)
    assert await pool.zscore(QUEUE, "planted") is None
    assert work.begun == ["honest"]
    assert not planted.exists()


async def until(seen: list[str], member: str) -> None:
    for _ in range(300):
        if member in seen:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{member} not in {seen}")


@pytest.mark.parametrize("how", HOW)
async def test_the_store_goes_and_comes_back(server: Server, pool: ArqRedis, how: str) -> None:
    work, wake = Work(), ArqWake(pool)
    async with engine(pool, work):
        await wake.wake([("long", "1"), ("short", "1")])
        await until(work.begun, "long")
        await until(work.done, "short")
        server.away(how)
        await asyncio.sleep(1.0)
        assert work.cancelled == []
        server.back(how)
        for attempt in range(100):  # as the sweeper asks again and again for what is due
            await wake.wake([("later", str(attempt))])
            if "later" in work.done:
                break
            await asyncio.sleep(0.1)
        assert "later" in work.done
        assert work.cancelled == []
        work.let_go.set()
        await until(work.done, "long")


@pytest.mark.parametrize("how", ["read-only", "full"])
async def test_a_hint_that_is_lost_stops_nobody(server: Server, pool: ArqRedis, how: str) -> None:
    server.away(how)
    await ArqWake(pool).wake([("x", "1")])
    server.back(how)


async def test_when_it_is_ended_so_is_what_runs(pool: ArqRedis) -> None:
    work = Work()
    async with engine(pool, work):
        await ArqWake(pool).wake([("long", "1")])
        await until(work.begun, "long")
    assert work.cancelled == ["long"]
