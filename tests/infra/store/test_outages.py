"""The store away and back, with real servers that are stopped, killed, frozen, made read-only or full."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import NoPermissionError, OutOfMemoryError, ReadOnlyError, RedisError, ResponseError

from agents.ports import Fenced
from handlers.events import Actor, Event, RepoRef
from handlers.ports import Commit, Delivery, Lease, NewRun, NewTask, StoreDown
from infra.store.bus import RedisBus
from infra.store.connection import Patience, Scripts, connect, passes
from tests.fakes.outages import HOW, Server
from tests.fakes.store import RealStore

HASTY = Patience(timeout=0.4, connect=0.4, total=0.6)
STEADY = Patience(timeout=0.4, connect=0.4, total=20.0)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "store")
    yield made
    made.close()


def delivery(name: str) -> Delivery:
    return Delivery(name, None, (Event(id=name, name="x"),))


async def claimed(store: RealStore, issue: int = 1) -> Lease:
    """A step of a new run, claimed."""
    repo, who = RepoRef(id=7, full_name="octo/tally", installation=3), Actor(id=11, login="ana")
    run = await store.runs.start(NewRun(repo, issue, who, "a" * 40, "main", {}, 1_000, f"d{issue}", ()))
    facts = await store.runs.facts(run or "")
    assert facts is not None
    step = NewTask("developer|issue.1|0", "developer", ("issue.1",), ("code",), 1)
    assert await store.tasks.activate(facts.id, facts.length, [step], [])
    lease = await store.tasks.claim(f"{facts.id}/developer.1", "w")
    assert lease is not None
    return lease


@pytest.mark.parametrize("how", HOW)
async def test_a_command_waits_until_the_store_is_back(server: Server, how: str) -> None:
    client = connect(server.address, STEADY)
    bus = RedisBus(Scripts(client))
    assert await bus.ingest(delivery("before"))
    server.away(how)
    waiting = asyncio.create_task(bus.ingest(delivery("meanwhile")))
    await asyncio.sleep(0.9)
    assert not waiting.done()
    server.back(how)
    # Whether its first try was done before the store went is not known to anybody: what counts is that it is there.
    await asyncio.wait_for(waiting, 10)
    assert [event.id for _, event in await bus.read("g", "c", 10, 10)] == ["before", "meanwhile"]
    await client.aclose()


@pytest.mark.parametrize("how", HOW)
async def test_whoever_has_somebody_waiting_says_so_soon(server: Server, how: str) -> None:
    client = connect(server.address, HASTY)
    bus = RedisBus(Scripts(client))
    await bus.ingest(delivery("before"))
    server.away(how)
    began = time.monotonic()
    with pytest.raises(StoreDown, match="the store does not do what it is asked"):
        await bus.ingest(delivery("meanwhile"))
    assert time.monotonic() - began < 3.0
    server.back(how)
    assert await bus.ingest(delivery("after"))
    await client.aclose()


@pytest.mark.parametrize(
    ("error", "away"),
    [
        pytest.param(OutOfMemoryError("command not allowed"), True, id="full"),
        pytest.param(ReadOnlyError("You can't write"), True, id="read-only"),
        pytest.param(ResponseError("MISCONF Errors writing to the AOF file"), True, id="no disk"),
        pytest.param(ResponseError("NOREPLICAS Not enough good replicas"), True, id="no replicas"),
        pytest.param(ConnectionResetError(104, "reset"), True, id="reset"),
        pytest.param(ResponseError("WRONGTYPE Operation against a key"), False, id="our mistake"),
        pytest.param(NoPermissionError("this user has no permissions"), False, id="not allowed"),
        pytest.param(RedisError("something else"), False, id="something else"),
    ],
)
def test_what_counts_as_away(error: Exception, away: bool) -> None:
    assert passes(error) is away


async def test_our_own_mistake_is_not_repeated(server: Server) -> None:
    client = connect(server.address, STEADY)
    await client.set("k", "v")
    began = time.monotonic()
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await Scripts(client).command("RPUSH", "k", "x")
    assert time.monotonic() - began < 1.0
    await client.aclose()


@pytest.mark.parametrize("how", ["killed", "frozen", "read-only"])
async def test_a_lease_that_ran_out_meanwhile_is_fenced_once_somebody_else_took_the_step(
    server: Server, how: str
) -> None:
    store = RealStore(server.running, lease_s=0.8)
    try:
        lease = await claimed(store)
        server.away(how)
        began = time.monotonic()
        assert await asyncio.wait_for(store.tasks.lost(lease), 5) == "unreachable"
        assert time.monotonic() - began < 2.5  # the lease, and what one renewal may hang
        assert not await store.tasks.alive(lease)
        server.back(how)
        other = None
        while other is None:
            other = await store.tasks.claim(lease.task, "other")
            await asyncio.sleep(0.05)
        with pytest.raises(Fenced):
            await store.tasks.commit(lease, Commit("done"))
        assert await store.tasks.commit(other, Commit("done"))
    finally:
        await store.close()


async def test_one_answer_that_hangs_does_not_keep_other_leases(server: Server) -> None:
    store = RealStore(server.running, lease_s=0.8)
    try:
        leases = [await claimed(store, number) for number in (1, 2, 3, 4)]
        server.away("frozen")
        began = time.monotonic()
        assert await asyncio.gather(*(store.tasks.lost(lease) for lease in leases)) == ["unreachable"] * 4
        assert time.monotonic() - began < 2.5
        server.back("frozen")
    finally:
        await store.close()


async def test_a_cancelled_step_is_fenced_and_not_unreachable(server: Server) -> None:
    store = RealStore(server.running, lease_s=0.8)
    try:
        lease = await claimed(store)
        await store.runs.cancel(lease.run, "c1", "stop")
        assert await asyncio.wait_for(store.tasks.lost(lease), 5) == "fenced"
    finally:
        await store.close()


async def test_a_killed_server_loses_no_write_that_it_acknowledged(server: Server) -> None:
    """Four write as fast as they can; what was acknowledged is there after the restart, each once."""
    acknowledged: list[str] = []
    clients = [connect(server.address, HASTY) for _ in range(4)]

    async def write(number: int) -> None:
        bus = RedisBus(Scripts(clients[number]))
        for count in range(100_000):
            try:
                await bus.ingest(delivery(f"{number}-{count}"))
            except StoreDown:
                return
            acknowledged.append(f"{number}-{count}")

    writers = [asyncio.create_task(write(number)) for number in range(4)]
    await asyncio.sleep(1.5)
    server.away("killed")
    await asyncio.gather(*writers)
    server.back("killed")
    rows = await clients[0].xrange("{s}:bus")
    stored = [Event.model_validate_json(values[b"e"]).id for _, values in rows]
    for client in clients:
        await client.aclose()
    assert len(acknowledged) > 200
    assert set(acknowledged) - set(stored) == set()
    assert len(stored) == len(set(stored))


async def test_a_group_that_went_with_the_store_is_made_anew(server: Server) -> None:
    client = connect(server.address, STEADY)
    bus = RedisBus(Scripts(client))
    await bus.ingest(delivery("before"))
    ((first, _),) = await bus.read("router", "w", 10, 10)
    await bus.ack("router", [first])
    await client.flushall()
    await bus.ingest(delivery("after"))
    found = [*await bus.read("router", "w", 10, 10), *await bus.read("router", "w", 10, 10)]
    assert [event.id for _, event in found] == ["after"]
    await client.aclose()
