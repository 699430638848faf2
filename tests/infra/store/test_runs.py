"""START, VOTE, CANCEL and the log, on a real server."""

from __future__ import annotations

import asyncio
import json

import pytest

from agents.board import Author, Entry, HumanNote
from handlers.events import Actor, Event, RepoRef
from handlers.ports import Commit, LogRecord, NewRun, NewTask, Word
from infra.store.blobs import LIMIT
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)
ANA = Actor(id=11, login="ana")


def new_run(issue: int = 1, cause: str = "delivery-1") -> NewRun:
    entry = Entry(id="issue.1", kind="issue", value={"number": issue}, author=Author(kind="person", name="ana", id=11))
    return NewRun(REPO, issue, ANA, "a" * 40, "main", {"name": "w", "nodes": {}}, 5_000_000, cause, (entry,))


def note(text: str) -> Entry:
    return Entry(
        id=f"human_note.{text}",
        kind="human_note",
        value=HumanNote(text=text, via="steer").model_dump(),
        author=Author(kind="person", name="ana", id=11),
    )


async def started(store: Store) -> str:
    run = await store.runs.start(new_run())
    assert run is not None
    return run


def kinds(records: list[LogRecord]) -> list[str]:
    return [record.type for record in records]


async def test_a_run_begins_with_its_facts_its_issue_and_its_event(store: Store) -> None:
    run = await started(store)
    records = list(await store.runs.read(run, 0))
    assert run == "7-1-1"
    assert kinds(records) == ["run", "entry", "event"]
    assert records[2].data["name"] == "run_started"
    assert [r.position for r in records] == [1, 2, 3]


@pytest.mark.parametrize(
    ("issue", "cause", "starts"),
    [
        pytest.param(1, "delivery-2", False, id="another cause while the first run is open"),
        pytest.param(1, "delivery-1", False, id="the same delivery again"),
        pytest.param(2, "delivery-1", False, id="one cause never starts two runs"),
        pytest.param(2, "delivery-2", True, id="another issue"),
    ],
)
async def test_one_open_run_per_issue_and_cause(store: Store, issue: int, cause: str, starts: bool) -> None:
    await started(store)
    assert (await store.runs.start(new_run(issue, cause)) is not None) is starts


async def test_twenty_starts_at_once_make_one_run(store: Store) -> None:
    made = await asyncio.gather(*(store.runs.start(new_run(1, f"d{n}")) for n in range(20)))
    assert [run for run in made if run] == ["7-1-1"]


async def test_the_attempt_rises_only_after_the_end(store: Store) -> None:
    run = await started(store)
    assert await store.runs.cancel(run, "c", "/stop")
    lease = await store.tasks.claim(f"{run}/close.1", "w")
    assert lease is not None
    await store.tasks.commit(lease, Commit("done", ending="run_cancelled"))
    assert await store.runs.start(new_run(1, "later")) == "7-1-2"
    assert await store.runs.find(REPO, issue=1) == "7-1-2"


async def test_a_vote_counts_once_per_cause(store: Store) -> None:
    run = await started(store)
    word = Word("d9", entries=(note("x"),), events=(Event(id="e", name="steered", run=run),), steers=("x",))
    assert await store.runs.vote(run, word) is True
    length = (await store.runs.facts(run) or pytest.fail("gone")).length
    assert await store.runs.vote(run, word) is False
    assert (await store.runs.facts(run) or pytest.fail("gone")).length == length


async def test_a_vote_wakes_what_is_parked_and_raises_the_budget(store: Store) -> None:
    run = await started(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    await store.tasks.activate(run, facts.length, [NewTask("k", "quality", (), (), 1)], [])
    lease = await store.tasks.claim(f"{run}/quality.1", "w")
    assert lease is not None
    await store.tasks.commit(lease, Commit("parked"))
    assert f"{run}/quality.1" not in dict(await store.tasks.due(50))
    await store.runs.vote(run, Word("press", budget=1_000_000))
    assert f"{run}/quality.1" in dict(await store.tasks.due(50))
    after = await store.runs.facts(run)
    assert after is not None
    assert after.budget == 6_000_000


async def test_a_poke_that_arrives_while_the_step_runs_is_not_lost(store: Store) -> None:
    run = await started(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    await store.tasks.activate(run, facts.length, [NewTask("k", "quality", (), (), 1)], [])
    lease = await store.tasks.claim(f"{run}/quality.1", "w")
    assert lease is not None
    await store.runs.vote(run, Word("review"))
    await store.tasks.commit(lease, Commit("parked"))
    assert f"{run}/quality.1" in dict(await store.tasks.due(50))


async def test_cancel_fences_everything_but_status_and_is_said_once(store: Store) -> None:
    run = await started(store)
    facts = await store.runs.facts(run)
    assert facts is not None
    await store.tasks.activate(run, facts.length, [NewTask("k", "developer", (), ("code",), 1)], [])
    lease = await store.tasks.claim(f"{run}/developer.1", "w")
    assert lease is not None
    assert await store.runs.cancel(run, "c", "/stop by ana") is True
    assert await store.runs.cancel(run, "c2", "again") is False
    await asyncio.wait_for(store.tasks.lost(lease), 2)
    assert set(dict(await store.tasks.due(50))) == {f"{run}/status.1", f"{run}/close.1"}
    assert await store.runs.vote(run, Word("late")) is False


async def test_large_entries_become_blobs_and_read_back_whole(store: Store) -> None:
    run = await started(store)
    await store.runs.vote(run, Word("big", entries=(note("x" * 50_000),)))
    record = (await store.runs.read(run, 3))[0]
    assert json.dumps(record.data).count("x" * 50_000) == 2
    stored = await store.client.xrange(store.scripts.key("log", run), min="4-0", max="4-0")
    assert len(stored[0][1][b"d"]) < 200


async def test_blobs_know_their_limit_and_their_absence(store: Store) -> None:
    digest = await store.blobs.put(b"tree")
    assert await store.blobs.get(digest) == b"tree"
    with pytest.raises(KeyError):
        await store.blobs.get("0" * 64)
    with pytest.raises(ValueError, match="over the limit"):
        await store.blobs.put(b"x" * (LIMIT + 1))


async def test_follow_gives_what_is_stored_and_then_what_comes(store: Store) -> None:
    run = await started(store)
    seen: list[str] = []

    async def read() -> None:
        async for record in store.runs.follow(run, 1):
            seen.append(record.type)
            if len(seen) == 3:
                return

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.1)
    await store.runs.vote(run, Word("n", entries=(note("hello"),)))
    await asyncio.wait_for(reading, 5)
    assert seen == ["entry", "event", "entry"]
