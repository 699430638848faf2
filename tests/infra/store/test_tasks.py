"""ACTIVATE, CLAIM, RENEW, TURN, COMMIT, ATTEMPT and RECEIPT, on a real server with a lease of 0.6 s."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.board import Author, Entry
from agents.ports import Fenced
from handlers.events import Actor, Event, RepoRef
from handlers.ports import Commit, Lease, NewRun, NewTask, StoredTurn
from infra.store import embedded
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)
STEP = NewTask("developer|issue.1|0", "developer", ("issue.1",), ("code",), 1)


async def begin(store: Store, budget: int = 1_000) -> str:
    new = NewRun(REPO, 1, Actor(id=11, login="ana"), "a" * 40, "main", {}, budget, "d1", ())
    run = await store.runs.start(new)
    assert run is not None
    facts = await store.runs.facts(run)
    assert facts is not None
    assert await store.tasks.activate(run, facts.length, [STEP], [])
    return run


async def claimed(store: Store, run: str) -> Lease:
    lease = await store.tasks.claim(f"{run}/developer.1", "w")
    assert lease is not None
    return lease


def reply(number: int) -> StoredTurn:
    return StoredTurn({"kind": "reply", "content": [number], "usage": {"input_tokens": 5}, "cost": 40})


async def test_a_decision_on_an_older_log_is_refused(store: Store) -> None:
    run = await begin(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    late = NewTask("tester|issue.1|0", "tester", ("issue.1",), ("tests",), 1)
    assert await store.tasks.activate(run, facts.length - 1, [late], []) is False
    assert f"{run}/tester.1" not in dict(await store.tasks.due(50))


async def test_the_same_inputs_never_run_twice(store: Store) -> None:
    run = await begin(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    again = NewTask(STEP.key, "developer", STEP.inputs, STEP.writes, 2)
    assert await store.tasks.activate(run, facts.length, [again], [])
    assert f"{run}/developer.2" not in dict(await store.tasks.due(50))


async def test_one_of_many_claims_wins(store: Store) -> None:
    run = await begin(store)
    leases = await asyncio.gather(*(store.tasks.claim(f"{run}/developer.1", f"w{n}") for n in range(10)))
    assert len([lease for lease in leases if lease]) == 1


async def test_a_renewed_lease_outlives_its_length(store: Store) -> None:
    lease = await claimed(store, await begin(store))
    await asyncio.sleep(1.0)
    assert await store.tasks.alive(lease)
    assert await store.tasks.claim(lease.task, "other") is None


async def test_a_dead_owner_is_taken_over_and_fenced(store: Store) -> None:
    lease = await claimed(store, await begin(store))
    store.renewer.release(lease.task, lease.token)
    await asyncio.sleep(0.8)
    other = await store.tasks.claim(lease.task, "other")
    assert other is not None
    assert (other.token, other.attempts) == (lease.token + 1, 2)
    with pytest.raises(Fenced):
        await store.tasks.commit(lease, Commit("done"))
    with pytest.raises(Fenced):
        await store.turns.store(lease, 0, reply(0), 40, 0)
    with pytest.raises(Fenced):
        await store.effects.attempt(lease, "comment:1")
    with pytest.raises(Fenced):
        await store.turns.reserve(lease, 1)


async def test_a_turn_is_stored_and_paid_once(store: Store) -> None:
    run = await begin(store)
    lease = await claimed(store, run)
    assert await store.turns.reserve(lease, 100)
    assert await store.turns.left(run) == 900
    for _ in range(2):
        await store.turns.store(lease, 0, reply(0), 40, 0)
    assert await store.turns.left(run) == 960
    assert [turn.data["content"] for turn in await store.turns.load(lease)] == [[0]]


async def test_a_turn_cannot_overtake_the_one_before(store: Store) -> None:
    lease = await claimed(store, await begin(store))
    with pytest.raises(RuntimeError, match="before the one in front"):
        await store.turns.store(lease, 1, reply(1), 40, 0)


@pytest.mark.parametrize(
    ("amount", "fits"),
    [
        pytest.param(1_000, True, id="exactly what is left"),
        pytest.param(1_001, False, id="one micro-dollar too much"),
        pytest.param(0, True, id="nothing"),
    ],
)
async def test_no_more_is_reserved_than_is_left(store: Store, amount: int, fits: bool) -> None:
    lease = await claimed(store, await begin(store))
    assert await store.turns.reserve(lease, amount) is fits


async def test_two_steps_cannot_both_reserve_the_whole_budget(store: Store) -> None:
    run = await begin(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    await store.tasks.activate(run, facts.length, [NewTask("t", "tester", (), ("tests",), 1)], [])
    first = await claimed(store, run)
    second = await store.tasks.claim(f"{run}/tester.1", "w")
    assert second is not None
    assert await store.turns.reserve(first, 700) is True
    assert await store.turns.reserve(second, 700) is False
    assert await store.turns.reserve(first, 200) is True, "a new reservation replaces the step's own"
    assert await store.turns.reserve(second, 700) is True


async def test_a_call_whose_owner_died_stays_counted(store: Store) -> None:
    run = await begin(store)
    lease = await claimed(store, run)
    await store.turns.reserve(lease, 300)
    store.renewer.release(lease.task, lease.token)
    await asyncio.sleep(0.8)
    assert await store.tasks.claim(lease.task, "other") is not None
    assert await store.turns.left(run) == 700


async def test_a_commit_writes_everything_at_once_and_once(store: Store) -> None:
    run = await begin(store)
    lease = await claimed(store, run)
    entry = Entry(id="code.developer.1", kind="code", value={}, author=Author(kind="agent", name="developer"))
    commit = Commit("done", entries=(entry,), events=(Event(id="e1", name="code_updated", run=run),), pull=5)
    assert await store.tasks.commit(lease, commit) is True
    assert await store.tasks.commit(lease, commit) is False
    assert [r.type for r in await store.runs.read(run, 3)] == ["entry", "event", "ended"]
    assert await store.runs.find(REPO, pull=5) == run
    assert f"control:{run}" in dict(await store.tasks.due(50))


async def test_a_retry_comes_back_when_its_time_has_come(store: Store) -> None:
    run = await begin(store)
    lease = await claimed(store, run)
    await store.tasks.commit(lease, Commit("retry", retry_in_ms=200, error="overloaded"))
    assert await store.tasks.claim(lease.task, "w") is None
    await asyncio.sleep(0.25)
    again = await store.tasks.claim(lease.task, "w")
    assert again is not None
    assert again.attempts == 2


async def test_an_effect_is_new_then_open_then_done(store: Store) -> None:
    run = await begin(store)
    lease = await claimed(store, run)
    assert (await store.effects.attempt(lease, "pull:x")).state == "new"
    assert (await store.effects.attempt(lease, "pull:x")).state == "open"
    first = await store.effects.receipt(run, "pull:x", {"number": 1})
    second = await store.effects.receipt(run, "pull:x", {"number": 2})
    assert first == second == {"number": 1}
    assert (await store.effects.attempt(lease, "pull:x")).receipt == {"number": 1}
    assert set(await store.effects.known(run)) == {"pull:x"}


async def test_an_ended_run_gives_out_no_steps(store: Store) -> None:
    run = await begin(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    await store.tasks.activate(run, facts.length, [NewTask("t", "tester", (), ("tests",), 1)], [])
    lease = await claimed(store, run)
    await store.tasks.commit(lease, Commit("done", ending="run_completed"))
    assert await store.tasks.claim(f"{run}/tester.1", "w") is None
    assert set(dict(await store.tasks.due(50))) == {f"{run}/status.1"}


async def due_again(store: Store, task: str) -> bool:
    """Whether the step is to be had within three leases."""
    for _ in range(20):
        if task in dict(await store.tasks.due(50)):
            return True
        await asyncio.sleep(0.1)
    return False


async def test_a_lease_that_ran_out_while_the_store_was_away_is_renewed_no_more(tmp_path: Path) -> None:
    """Else nobody could take the step: its owner has given it up, and its thread would hold it for ever."""
    server = embedded.start(tmp_path)
    store = Store(server, lease_s=0.6)
    try:
        lease = await claimed(store, await begin(store))
        server.stop()
        await asyncio.wait_for(store.tasks.lost(lease), 5)
        server = embedded.start(tmp_path)
        await asyncio.sleep(0.5)  # the thread has come round meanwhile
        assert await due_again(store, lease.task)
    finally:
        await store.close()
        server.stop()


async def test_a_lease_that_is_let_go_runs_out(store: Store) -> None:
    lease = await claimed(store, await begin(store))
    await store.tasks.let_go(lease)
    assert not await store.tasks.alive(lease)
    assert await due_again(store, lease.task)
