"""Chores: at the start and again, by one of all workers, and no error of GitHub's ends them."""

from __future__ import annotations

import asyncio
from functools import partial

from bot.upkeep import Chore, keep_up
from handlers.ending import end
from handlers.ports import Later, Refused
from tests.fakes.store import RealStore


async def test_one_worker_does_it_each_time(store: RealStore) -> None:
    done: list[int] = []

    async def do(worker: int) -> None:
        done.append(worker)

    workers = [asyncio.create_task(keep_up(store.chores, Chore("x", 0.3, partial(do, number)))) for number in range(4)]
    await asyncio.sleep(0.1)
    assert len(done) == 1
    await asyncio.sleep(1.2)
    await end(*workers)
    assert 3 <= len(done) <= 6


async def test_what_github_refuses_is_tried_again(store: RealStore) -> None:
    errors: list[Exception] = [Later("limit", 9.0), Refused("403")]
    done = asyncio.Event()

    async def do() -> None:
        if errors:
            raise errors.pop(0)
        done.set()

    working = asyncio.create_task(keep_up(store.chores, Chore("x", 0.1, do)))
    await asyncio.wait_for(done.wait(), 5)
    await end(working)


async def test_a_dead_workers_chores_are_done_by_another(store: RealStore) -> None:
    assert await store.chores.turn("x", 300)  # by one that died just then
    done = asyncio.Event()

    async def do() -> None:
        done.set()

    working = asyncio.create_task(keep_up(store.chores, Chore("x", 0.3, do)))
    await asyncio.wait_for(done.wait(), 2)
    await end(working)
