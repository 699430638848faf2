"""Waiting for a while: a step parked with a time, and a decision that is put off."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handlers.events import Actor, RepoRef
from handlers.ports import Commit, NewRun, NewTask, Word
from tests.fakes.outages import Server
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)


async def begin(store: Store, issue: int = 1) -> str:
    who = Actor(id=11, login="ana")
    run = await store.runs.start(NewRun(REPO, issue, who, "a" * 40, "main", {}, 900, f"d{issue}", ()))
    assert run is not None
    return run


async def parked(store: Store, retry_in_ms: int) -> str:
    run = await begin(store)
    assert await store.tasks.activate(run, 2, [NewTask("k", "quality", (), (), 1)], [])
    lease = await store.tasks.claim(f"{run}/quality.1", "w")
    assert lease is not None
    await store.tasks.commit(lease, Commit("parked", retry_in_ms=retry_in_ms))
    return lease.task


async def test_a_step_parked_with_a_time_is_due_after_it(store: Store) -> None:
    task = await parked(store, 150)
    assert await store.tasks.claim(task, "w") is None
    await asyncio.sleep(0.2)
    assert task in dict(await store.tasks.due(50))
    lease = await store.tasks.claim(task, "w")
    assert lease is not None
    assert lease.attempts == 1, "waiting is no failed try"


async def test_a_time_that_is_waited_for_outlives_the_store(tmp_path: Path) -> None:
    """Back-off, reminders and leases are due times in the store: a kill -9 of it and of every worker moves none."""
    server = Server(tmp_path / "store")
    store = Store(server.running, lease_s=0.6)
    try:
        soon, late = await parked(store, 400), f"control:{(await begin(store, 2))}"
        await store.runs.later(late.removeprefix("control:"), 60_000)
        key = store.scripts.key("due")
        before = {member: await store.client.zscore(key, member) for member in (soon, late)}
        server.away("killed")
        server.back("killed")
        assert {member: await store.client.zscore(key, member) for member in (soon, late)} == before
        await asyncio.sleep(0.45)
        due = dict(await store.tasks.due(50))
        assert soon in due
        assert late not in due
    finally:
        await store.close()
        server.close()


async def test_it_is_due_at_once_when_it_is_poked(store: Store) -> None:
    task = await parked(store, 60_000)
    await store.runs.vote(task.partition("/")[0], Word("c"))
    assert await store.tasks.claim(task, "w") is not None


async def test_a_step_parked_without_a_time_waits_for_ever(store: Store) -> None:
    task = await parked(store, 0)
    assert await store.scripts.command("ZSCORE", store.scripts.key("due"), task) is None
    assert await store.tasks.claim(task, "w") is None


@pytest.mark.parametrize(
    ("length", "is_due"),
    [
        pytest.param(None, False, id="however long the log is"),
        pytest.param(2, False, id="as long as it is"),
        pytest.param(1, True, id="the log has grown: it is to be decided now"),
    ],
)
async def test_a_decision_is_put_off(store: Store, length: int | None, is_due: bool) -> None:
    run = await begin(store)
    await store.runs.later(run, 150, length)
    assert (f"control:{run}" in dict(await store.tasks.due(50))) is is_due
    await asyncio.sleep(0.2)
    assert f"control:{run}" in dict(await store.tasks.due(50))


async def test_what_is_not_due_is_not_made_due(store: Store) -> None:
    run = await begin(store)
    assert await store.tasks.activate(run, 2, [], [])
    await store.runs.later(run, 1)
    assert f"control:{run}" not in dict(await store.tasks.due(50))
