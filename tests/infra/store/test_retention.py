"""What goes by itself when a run has been over for long, and what stays."""

from __future__ import annotations

import asyncio

import pytest

from handlers.ports import NewRun
from handlers.state import RunState
from infra.store.retention import Aged, RedisRetention
from infra.store.trail import RedisTrail
from tests.fakes.store import RealStore as Store
from tests.infra.store.test_purge import ANA, REPO, ended

DAY = 86_400_000


async def age(store: Store, run: str, days: int) -> None:
    """The run was over so many days ago."""
    seconds, _ = await store.client.time()
    at = seconds * 1000 - days * DAY
    await store.scripts.command("HSET", store.scripts.key("run", run), "ended_at", at)
    await store.client.zadd(store.scripts.key("runs"), {run: at - 60_000})


def retention(store: Store) -> RedisRetention:
    return RedisRetention(store.scripts, store.blobs, 90)


async def turns(store: Store, run: str) -> int:
    return int(await store.scripts.command("LLEN", store.scripts.key("turns", f"{run}/developer.1")))


async def blobs(store: Store) -> int:
    return len(await store.client.keys(store.scripts.key("blob", "*")))


@pytest.mark.parametrize(
    ("days", "goes"), [pytest.param(89, False, id="not yet"), pytest.param(91, True, id="long enough")]
)
async def test_transcripts_go_when_their_time_is_over(store: Store, days: int, goes: bool) -> None:
    run = await ended(store, 1, "x", b"pack")
    await age(store, run, days)
    assert (await retention(store).tidy()).runs == int(goes)
    assert await turns(store, run) == (0 if goes else 1)


async def test_board_bill_and_trail_stay(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack")
    before, facts = list(await store.runs.read(run, 0)), await store.runs.facts(run)
    await age(store, run, 91)
    assert await retention(store).tidy() == Aged(1, 0), "the entries still name both blobs"
    assert list(await store.runs.read(run, 0)) == before
    state = RunState().feed(before, run)
    assert {entry.kind for entry in state.board.all()} == {"issue", "code", "vote", "human_note"}
    assert state.bills["developer"].cost == 40
    assert (await RedisTrail(store.scripts, store.blobs).verify(run)).findings == ()
    after = await store.runs.facts(run)
    assert facts is not None
    assert after is not None
    assert (after.spent, after.status, after.length) == (facts.spent, facts.status, facts.length)


async def test_blobs_that_only_transcripts_name_go(store: Store) -> None:
    """A turn that was too large for a record is a blob, and names another one: the work tree of that moment."""
    run = await ended(store, 1, "x", b"pack")
    inner = await store.blobs.put(b"the tree after an edit")
    outer = await store.blobs.put(f'{{"kind": "results", "pack": "{inner}"}}'.encode())
    key = store.scripts.key("turns", f"{run}/developer.1")
    await store.scripts.command("RPUSH", key, f'{{"blob":"{outer}"}}')
    for hold in await store.client.keys(store.scripts.key("hold", "*")):
        await store.client.delete(hold)
    count = await blobs(store)
    await age(store, run, 91)
    assert await retention(store).tidy() == Aged(1, 2)
    assert await blobs(store) == count - 2
    assert await retention(store).tidy() == Aged()


async def test_what_another_run_names_stays(store: Store) -> None:
    old, young = await ended(store, 1, "x", b"pack one"), await ended(store, 2, "y", b"pack two")
    both, mine = await store.blobs.put(b"in both"), await store.blobs.put(b"in the old one")
    for run, named in ((old, both), (old, mine), (young, both)):
        key = store.scripts.key("turns", f"{run}/developer.1")
        await store.scripts.command("RPUSH", key, f'{{"pack":"{named}"}}')
    for hold in await store.client.keys(store.scripts.key("hold", "*")):
        await store.client.delete(hold)
    await age(store, old, 91)
    assert await retention(store).tidy() == Aged(1, 1)
    assert await store.blobs.get(both) == b"in both"
    assert await turns(store, young) == 2


async def test_cut_off_half_way_it_goes_on(store: Store) -> None:
    """Killed between the names and the drop: the blobs are still known to be looked at."""
    run = await ended(store, 1, "x", b"pack")
    lost = await store.blobs.put(b"lost")
    await store.client.delete(store.scripts.key("hold", lost))
    await age(store, run, 91)
    await store.scripts.command("SADD", store.scripts.key("aging"), lost)
    assert (await store.scripts.run("age", run, DAY, f"{run}/developer.1")) == 1
    assert await retention(store).tidy() == Aged(0, 1)


async def test_an_open_run_keeps_everything_however_old(store: Store) -> None:
    run = await store.runs.start(NewRun(REPO, 1, ANA, "a" * 40, "main", {}, 900, "d1", ()))
    assert run is not None
    seconds, _ = await store.client.time()
    await store.client.zadd(store.scripts.key("runs"), {run: seconds * 1000 - 900 * DAY})
    assert await retention(store).tidy() == Aged()
    assert await store.scripts.run("age", run, 0) == 0


async def test_two_workers_at_once_count_each_run_once(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack")
    await age(store, run, 91)
    found = await asyncio.gather(*(retention(store).tidy() for _ in range(3)))
    assert sum(one.runs for one in found) == 1
