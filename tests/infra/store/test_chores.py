"""The marks by which workers share upkeep, and the list of open runs."""

from __future__ import annotations

import asyncio

from handlers.events import Actor, RepoRef
from handlers.ports import Asked, Commit, NewRun
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)


async def test_one_of_many_has_the_turn_and_it_comes_again(store: Store) -> None:
    turns = await asyncio.gather(*(store.chores.turn("sweep", 150) for _ in range(10)))
    assert turns.count(True) == 1
    assert await store.chores.turn("other", 150)
    await asyncio.sleep(0.2)
    assert await store.chores.turn("sweep", 150)


async def test_a_mark_is_kept(store: Store) -> None:
    assert await store.chores.mark("sweep") is None
    await store.chores.set_mark("sweep", 1_800_000_000_123)
    assert await store.chores.mark("sweep") == 1_800_000_000_123


async def test_asking_is_booked_once_per_count(store: Store) -> None:
    assert await store.chores.asked("g") == Asked(0, 0)
    assert (await asyncio.gather(*(store.chores.ask("g", 0) for _ in range(8)))).count(True) == 1
    known = await store.chores.asked("g")
    assert known.count == 1
    assert 0 <= known.since_ms < 5_000
    assert not await store.chores.ask("g", 0)
    assert await store.chores.ask("g", 1)
    assert await store.client.pttl(store.scripts.key("again", "g")) > 7 * 24 * 3600 * 1000


async def start(store: Store, issue: int, repo: RepoRef = REPO) -> str:
    run = await store.runs.start(
        NewRun(repo, issue, Actor(id=11, login="ana"), "a" * 40, "main", {}, 9, f"d{issue}", ())
    )
    assert run is not None
    return run


async def end(store: Store, run: str) -> None:
    assert await store.runs.cancel(run, "c", "enough")
    lease = await store.tasks.claim(f"{run}/close.1", "w")
    assert lease is not None
    assert await store.tasks.commit(lease, Commit("done", ending="run_cancelled"))


async def test_open_runs_are_those_that_have_not_ended(store: Store) -> None:
    assert list(await store.open_runs.open()) == []
    first, second = await start(store, 1), await start(store, 2)
    assert list(await store.open_runs.open()) == [first, second]
    await end(store, first)
    assert list(await store.open_runs.open()) == [second]


async def test_a_repository_that_moved_is_known_by_its_new_name_in_its_open_runs(store: Store) -> None:
    over, run = await start(store, 1), await start(store, 2)
    other = await start(store, 3, RepoRef(id=8, full_name="octo/other", installation=3))
    await end(store, over)
    moved = RepoRef(id=7, full_name="new/name", installation=4)
    assert await store.open_runs.moved(moved) == 1
    assert await store.open_runs.moved(moved) == 0
    names = [facts.repo for one in (run, over, other) if (facts := await store.runs.facts(one)) is not None]
    assert names == [moved, REPO, RepoRef(id=8, full_name="octo/other", installation=3)]
    assert await store.runs.find(moved, issue=2) == run


async def test_a_run_knows_when_it_ended_and_what_it_came_after(store: Store) -> None:
    run = await start(store, 1)
    first = await store.runs.facts(run)
    assert first is not None
    assert (first.ended_at, first.after) == (None, None)
    await end(store, run)
    ended = await store.runs.facts(run)
    assert ended is not None
    assert ended.ended_at is not None
    again = await store.runs.start(NewRun(REPO, 1, Actor(id=1, login="a"), "a" * 40, "main", {}, 9, "d9", ()))
    second = await store.runs.facts(again or "")
    assert second is not None
    assert (second.attempt, second.ended_at, second.after) == (2, None, ended.ended_at)
