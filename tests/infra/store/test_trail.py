"""The log's chain: what was edited, lost or reordered shows, and what was not passes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agents.board import Author, Entry, HumanNote, Vote
from handlers.events import Actor, Event, RepoRef
from handlers.ports import Commit, LogUnreadable, NewRun, NewTask, StoredTurn, Word
from infra.store.records import link, split
from infra.store.trail import RedisTrail
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)
ANA = Actor(id=11, login="ana")
PERSON = Author(kind="person", name="ana", id=11)
SECRET = "only-in-the-content "


def note(text: str) -> Entry:
    value = HumanNote(text=text, via="steer").model_dump(mode="json")
    return Entry(id=f"human_note.{len(text)}", kind="human_note", value=value, author=PERSON)


def vote() -> Entry:
    value = Vote(gate="merge", digest="a" * 40, word="yes", words=SECRET).model_dump(mode="json")
    return Entry(id="vote.1", kind="vote", value=value, author=PERSON)


async def worked(store: Store) -> str:
    """A run with every type of record in its log; returns its id."""
    new = NewRun(REPO, 1, ANA, "a" * 40, "main", {"name": "w", "nodes": {}}, 900, "d1", (note(SECRET),))
    run = await store.runs.start(new)
    assert run is not None
    await store.tasks.activate(run, 3, [NewTask("k", "developer", (), ("code",), 1)], [])
    lease = await store.tasks.claim(f"{run}/developer.1", "w")
    assert lease is not None
    turn = {"kind": "reply", "content": [{"text": SECRET}], "usage": {"input_tokens": 5}, "cost": 40, "seconds": 0.25}
    await store.turns.store(lease, 0, StoredTurn(turn), 40, 0)
    await store.effects.attempt(lease, "branch:x")
    await store.effects.receipt(run, "branch:x", {"sha": "b" * 40})
    await store.runs.vote(run, Word("c1", entries=(note(SECRET * 2000), vote())))
    event = Event(id="e1", name="code_updated", run=run, data={"why": SECRET, "entry": "code.1"})
    await store.tasks.commit(
        lease, Commit("failed", entries=(note("ü\u2028 " + SECRET),), events=(event,), error=SECRET)
    )
    await store.runs.cancel(run, "c2", f"stopped: {SECRET}")
    return run


def trail(store: Store) -> RedisTrail:
    return RedisTrail(store.scripts, store.blobs)


async def test_what_nobody_touched_passes(store: Store) -> None:
    run = await worked(store)
    verdict = await trail(store).verify(run)
    facts = await store.runs.facts(run)
    types = {record.type for record in await store.runs.read(run, 0)}
    assert types == {"run", "event", "entry", "activated", "turn", "ended", "attempt", "receipt", "note"}
    assert facts is not None
    assert (verdict.findings, verdict.records, verdict.erased) == ((), facts.length, 0)
    assert verdict.head == (await store.runs.read(run, facts.length - 1))[0].chain


async def rewrite(store: Store, run: str, change: Callable[[list[tuple[str, dict[bytes, bytes]]]], object]) -> None:
    """Write the stream anew, changed, as somebody who can write to the store could."""
    key = store.scripts.key("log", run)
    known = [(row.decode(), values) for row, values in await store.client.xrange(key)]
    change(known)
    await store.client.delete(key)
    for row, values in known:
        await store.client.xadd(key, dict(values), id=row)


def edited(field: bytes, old: bytes, new: bytes, at: int = 1) -> Callable[[list[tuple[str, dict[bytes, bytes]]]], None]:
    def change(known: list[tuple[str, dict[bytes, bytes]]]) -> None:
        values = known[at][1]
        assert old in values[field]
        values[field] = values[field].replace(old, new)

    return change


def swap(known: list[tuple[str, dict[bytes, bytes]]]) -> None:
    (one, first), (two, second) = known[4], known[5]
    known[4], known[5] = (one, second), (two, first)


def renumber(known: list[tuple[str, dict[bytes, bytes]]]) -> None:
    del known[4]
    known[:] = [(f"{number}-0", values) for number, (_, values) in enumerate(known, 1)]


def resealed(known: list[tuple[str, dict[bytes, bytes]]]) -> None:
    """The digest is made to fit the edit, the chain is not."""
    edited(b"g", known[1][1][b"g"], b"0" * 64)(known)


@pytest.mark.parametrize(
    ("change", "position", "what"),
    [
        pytest.param(edited(b"d", b"only-in", b"also-in"), 2, "not what was written", id="content"),
        pytest.param(edited(b"d", b'"name":"ana"', b'"name":"max"'), 2, "not what was written", id="author"),
        pytest.param(edited(b"d", b"{", b"["), 2, "cannot be read", id="broken JSON"),
        pytest.param(edited(b"t", b"entry", b"event"), 2, "not what was written", id="type"),
        pytest.param(edited(b"at", b"1", b"2"), 2, "chain breaks", id="time"),
        pytest.param(edited(b"at", b"1", b"x"), 2, "chain breaks", id="no time"),
        pytest.param(resealed, 2, "chain breaks", id="digest"),
        pytest.param(lambda known: known.pop(4), 5, "missing", id="a record is gone"),
        pytest.param(renumber, 5, "chain breaks", id="gone, and the rest renumbered"),
        pytest.param(swap, 5, "chain breaks", id="two change places"),
        pytest.param(lambda known: known.pop(), -1, "ends here", id="the tail is cut"),
        pytest.param(lambda known: known.pop(0), 1, "missing", id="the first is gone"),
        pytest.param(lambda known: known.clear(), 1, "ends here", id="all are gone"),
    ],
)
async def test_what_was_done_to_it_is_found(store: Store, change: object, position: int, what: str) -> None:
    run = await worked(store)
    length = (await trail(store).verify(run)).records
    assert callable(change)
    await rewrite(store, run, change)
    findings = (await trail(store).verify(run)).findings
    assert findings
    assert findings[0].position == (length if position == -1 else position)
    assert any(what in finding.what for finding in findings)


async def test_a_record_that_was_put_at_the_end_is_found(store: Store) -> None:
    run = await worked(store)
    known = await store.client.xrange(store.scripts.key("log", run))
    extra = dict(known[-1][1])
    position = len(known) + 1
    extra[b"h"] = link(extra[b"h"].decode(), position, "note", int(extra[b"at"]), extra[b"g"].decode()).encode()
    await store.client.xadd(store.scripts.key("log", run), extra, id=f"{position}-0")
    assert "ends here" in (await trail(store).verify(run)).findings[-1].what


async def test_a_run_that_is_not_there_has_no_trail(store: Store) -> None:
    assert (await trail(store).verify("7-9-9")).records == 0


@pytest.mark.parametrize(
    ("kind", "data", "erased"),
    [
        pytest.param("entry", vote().model_dump(mode="json"), {"value": {"words": SECRET}}, id="a vote's words"),
        pytest.param("entry", {"id": "a", "kind": "code", "value": {"x": 1}}, {"value": {"x": 1}}, id="an entry"),
        pytest.param("entry", {"kind": "code", "value": {}, "new": 1}, {"new": 1, "value": {}}, id="a later field"),
        pytest.param("event", {"name": "n", "data": {"why": "w", "head": "h"}}, {"data": {"why": "w"}}, id="an event"),
        pytest.param("event", {"name": "n", "data": None}, {}, id="an event without data"),
        pytest.param("turn", {"node": "n", "cost": 1, "thought": "t"}, {"thought": "t"}, id="a turn"),
        pytest.param("ended", {"task": "t", "error": "e"}, {"error": "e"}, id="an end"),
        pytest.param("note", {"cause": "c", "cancel": "why"}, {"cancel": "why"}, id="a stop"),
        pytest.param("receipt", {"key": "k", "receipt": {"sha": "s"}}, {}, id="a receipt"),
        pytest.param("from_the_future", {"x": 1}, {}, id="an unknown type"),
    ],
)
def test_what_can_be_erased(kind: str, data: dict[str, object], erased: dict[str, object]) -> None:
    kept, gone = split(kind, data)
    assert gone == erased
    assert {**data, **kept}.keys() == data.keys()


async def test_a_gap_closes_the_log(store: Store) -> None:
    run = await worked(store)
    await rewrite(store, run, lambda known: known.pop(4))
    with pytest.raises(LogUnreadable, match="record 5: it is missing") as caught:
        await store.runs.read(run, 0)
    assert (caught.value.run, caught.value.position) == (run, 5)
    assert (await store.runs.read(run, 5))[0].position == 6


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(edited(b"d", b"{", b"["), id="no JSON"),
        pytest.param(edited(b"d", b"{", b"\xff"), id="no text"),
        pytest.param(lambda known: known[1][1].pop(b"d"), id="no content"),
        pytest.param(lambda known: known[1][1].pop(b"t"), id="no type"),
        pytest.param(edited(b"at", b"1", b"x"), id="no time"),
        pytest.param(lambda known: known[1][1].update({b"d": b'{"blob":"0"}'}), id="no such blob"),
    ],
)
async def test_a_record_that_cannot_be_read_closes_the_log(store: Store, damage: object) -> None:
    run = await worked(store)
    assert callable(damage)
    await rewrite(store, run, damage)
    with pytest.raises(LogUnreadable, match="record 2"):
        await store.runs.read(run, 0)


async def test_a_damaged_blob_closes_the_log(store: Store) -> None:
    run = await worked(store)
    [key] = await store.client.keys(store.scripts.key("blob", "*"))
    await store.client.set(key, b"not compressed")
    with pytest.raises(LogUnreadable, match=r"record 8"):
        await store.runs.read(run, 0)


async def test_commits_in_turn_and_at_once_make_one_chain(store: Store) -> None:
    run = await worked_open(store)
    words = (Word(f"c{n}", entries=(note("x" * n),)) for n in range(1, 60))
    doing: list[Awaitable[bool]] = [store.runs.vote(run, word) for word in words]
    await asyncio.gather(*doing)
    assert (await trail(store).verify(run)).findings == ()


async def worked_open(store: Store) -> str:
    run = await store.runs.start(NewRun(REPO, 2, ANA, "a" * 40, "main", {}, 900, "d5", ()))
    assert run is not None
    return run
