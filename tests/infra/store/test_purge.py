"""Erasing a finished run's content: it is gone everywhere, others keep theirs, and the trail still verifies."""

from __future__ import annotations

import hashlib

import pytest

from agents.board import Author, Code, Entry, HumanNote, Vote
from handlers.events import Actor, Event, RepoRef
from handlers.ports import Commit, Lease, NewRun, NewTask, StoredTurn, Word
from handlers.state import RunState
from infra.store.naming import Naming
from infra.store.purge import CannotPurge, Purged, RedisPurge
from infra.store.trail import RedisTrail
from tests.fakes.store import RealStore as Store

REPO = RepoRef(id=7, full_name="octo/tally", installation=3)
ANA = Actor(id=11, login="ana")
PERSON = Author(kind="person", name="ana", id=11)
SECRET = "the-persons-words"


def purger(store: Store) -> RedisPurge:
    return RedisPurge(store.scripts, store.blobs, settle_ms=0)


async def ended(store: Store, issue: int, own: str, pack: bytes) -> str:
    """A finished run with words of a person everywhere that a run keeps words, and two blobs."""
    issue_entry = Entry(
        id="issue.1",
        kind="issue",
        value={"number": issue, "title": SECRET, "body": SECRET + own * 20_000},
        author=PERSON,
    )
    run = await store.runs.start(NewRun(REPO, issue, ANA, "a" * 40, "main", {}, 900, f"d{issue}", (issue_entry,)))
    assert run is not None
    await store.tasks.activate(run, 3, [NewTask("k", "developer", ("issue.1",), ("code",), 1)], [])
    lease = await store.tasks.claim(f"{run}/developer.1", "w")
    assert lease is not None
    await wrote(store, lease, await store.blobs.put(pack))
    vote = Vote(gate="merge", digest="a" * 40, word="yes", words=SECRET).model_dump(mode="json")
    steered = Event(id="e2", name="steered", run=run, data={"via": "steer", "why": SECRET})
    note = HumanNote(text=SECRET, via="steer").model_dump(mode="json")
    entries = (
        Entry(id="vote.1", kind="vote", value=vote, author=PERSON),
        Entry(id="note.1", kind="human_note", value=note, author=PERSON),
    )
    await store.runs.vote(run, Word("c1", entries=entries, events=(steered,), steers=(SECRET,)))
    await store.runs.cancel(run, "c2", SECRET)
    closing = await store.tasks.claim(f"{run}/close.1", "w")
    assert closing is not None
    await store.tasks.commit(closing, Commit("done", ending="run_cancelled"))
    for hold in await store.client.keys(store.scripts.key("hold", "*")):
        await store.client.delete(hold)  # ten minutes later
    return run


async def wrote(store: Store, lease: Lease, pack: str) -> None:
    turn = {"kind": "reply", "content": [{"text": SECRET}], "usage": {"input_tokens": 5}, "cost": 40, "pack": pack}
    await store.turns.store(lease, 0, StoredTurn(turn), 40, 0)
    await store.effects.attempt(lease, "branch:x")
    await store.effects.receipt(lease.run, "branch:x", {"sha": "b" * 40})
    code = Code(summary=SECRET, base_sha="a" * 40, tree="c" * 40, pack=pack, files=()).model_dump(mode="json")
    entry = Entry(id="code.1", kind="code", value=code, author=Author(kind="agent", name="developer"))
    entry = entry.model_copy(update={"derived_from": ("issue.1",)})
    event = Event(id="e1", name="code_updated", run=lease.run, data={"entry": "code.1"})
    await store.tasks.commit(lease, Commit("failed", entries=(entry,), events=(event,), error=SECRET))


async def holding(store: Store, words: str) -> list[str]:
    """The names of all keys, but the bus, in which these words stand, packed or not."""
    found = []
    for key in await store.client.keys(store.scripts.key("*")):
        name = key.decode().removeprefix(store.scripts.prefix)
        kind = (await store.client.type(key)).decode()
        match kind:
            case "string":
                held: object = await store.client.get(key)
                if name.startswith("blob:"):
                    held = await store.blobs.get(name.removeprefix("blob:"))
            case "stream":
                held = await store.client.xrange(key)
            case "list":
                held = await store.scripts.command("LRANGE", key, 0, -1)
            case "hash":
                held = await store.scripts.command("HGETALL", key)
            case _:
                held = await store.scripts.command(
                    "ZRANGE" if kind == "zset" else "SMEMBERS", key, *((0, -1) if kind == "zset" else ())
                )
        if words in str(held):
            found.append(name)
    return sorted(name for name in found if name != "bus")


async def test_the_words_are_gone_and_the_trail_stays(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack one")
    head = (await RedisTrail(store.scripts, store.blobs).verify(run)).head
    before = list(await store.runs.read(run, 0))
    assert len(await holding(store, SECRET)) >= 4, "the test looks where words stand"
    purged = await purger(store).purge(run)
    assert purged == Purged(records=len(before), blobs=2, shared=0)
    assert await holding(store, SECRET) == []
    verdict = await RedisTrail(store.scripts, store.blobs).verify(run)
    assert (verdict.findings, verdict.head, verdict.erased) == ((), head, len(before))
    after = list(await store.runs.read(run, 0))
    assert [(r.position, r.type, r.at, r.chain) for r in after] == [(r.position, r.type, r.at, r.chain) for r in before]
    assert all(record.erased for record in after)


async def test_what_the_trail_keeps(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack one")
    await purger(store).purge(run)
    data = [record.data for record in await store.runs.read(run, 0)]
    entries = {str(one["id"]): one for one in data if "derived_from" in one}
    assert entries["code.1"]["derived_from"] == ["issue.1"]
    assert entries["code.1"]["value"] == {}
    assert entries["note.1"]["author"] == {"kind": "person", "name": "ana", "id": 11}
    assert entries["vote.1"]["value"] == {
        "gate": "merge",
        "digest": "a" * 40,
        "word": "yes",
        "via": "review",
        "url": "",
    }
    assert {"key": "branch:x", "receipt": {"sha": "b" * 40}} in data
    [turn] = [one for one in data if "usage" in one]
    assert (turn["cost"], turn["usage"]) == (40, {"input_tokens": 5})
    state = RunState().feed(await store.runs.read(run, 0))
    assert (state.strange, state.ending, state.bills["developer"].cost) == ({}, "run_cancelled", 40)
    assert (await store.effects.known(run))["branch:x"].receipt == {"sha": "b" * 40}


async def test_what_others_use_stays(store: Store) -> None:
    """The same tree in two runs is one blob; the long issue texts are two."""
    one = await ended(store, 1, "x", b"the same pack")
    two = await ended(store, 2, "y", b"the same pack")
    assert await purger(store).purge(one) == Purged(15, 1, 1)
    assert (await RedisTrail(store.scripts, store.blobs).verify(two)).findings == ()
    assert len(await store.runs.read(two, 0)) == 15
    assert await store.client.exists(store.scripts.key("blob", _sha(b"the same pack"))) == 1
    assert (await purger(store).purge(two)).blobs == 2
    assert await store.client.keys(store.scripts.key("blob", "*")) == []


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def test_a_blob_that_was_put_just_now_stays(store: Store) -> None:
    """Another run has put it and has not yet committed what names it."""
    run = await ended(store, 1, "x", b"pack one")
    await store.blobs.put(b"pack one")
    assert (await purger(store).purge(run)).blobs == 1
    assert await store.blobs.get(_sha(b"pack one")) == b"pack one"


async def test_it_can_be_cut_off_and_repeated(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack one")
    half = purger(store)
    await store.scripts.command(
        "SADD", store.scripts.key("purge", run), *sorted(await Naming(store.scripts, store.blobs).of(run))
    )
    await half._log(run)
    assert len(await store.client.keys(store.scripts.key("blob", "*"))) == 2
    assert (await purger(store).purge(run)).blobs == 2
    assert await purger(store).purge(run) == Purged(0, 0, 0)
    assert (await RedisTrail(store.scripts, store.blobs).verify(run)).findings == ()


async def test_an_edit_after_the_purge_is_found(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack one")
    await purger(store).purge(run)
    key = store.scripts.key("log", run)
    known = await store.client.xrange(key)
    await store.client.delete(key)
    for row, values in known:
        if b'"word":"yes"' in values[b"d"]:
            values[b"d"] = values[b"d"].replace(b'"word":"yes"', b'"word":"no"')
        await store.client.xadd(key, dict(values), id=row)
    [finding] = (await RedisTrail(store.scripts, store.blobs).verify(run)).findings
    assert "not what was written" in finding.what


async def test_an_edit_before_the_purge_is_not_hidden_by_it(store: Store) -> None:
    run = await ended(store, 1, "x", b"pack one")
    await store.client.delete(*await store.client.keys(store.scripts.key("blob", "*")))
    await purger(store).purge(run)
    assert [one.position for one in (await RedisTrail(store.scripts, store.blobs).verify(run)).findings] == [2]


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        pytest.param("open", "has not ended.*seconder runs cancel 7-1-1", id="at work"),
        pytest.param("cancelling", "has not ended", id="being stopped"),
        pytest.param("recent", "ended a moment ago.*in 10 min", id="just ended"),
        pytest.param("none", "no run 7-9-9.*seconder runs list", id="no such run"),
        pytest.param("cut", "seconder runs verify", id="records are missing"),
    ],
)
async def test_what_cannot_be_purged_says_why(store: Store, prepare: str, why: str) -> None:
    run, purge = "7-9-9", purger(store)
    if prepare in ("open", "cancelling"):
        run = await store.runs.start(NewRun(REPO, 1, ANA, "a" * 40, "main", {}, 900, "d", ())) or ""
    if prepare == "cancelling":
        await store.runs.cancel(run, "c", "no")
    if prepare in ("recent", "cut"):
        run = await ended(store, 1, "x", b"pack")
    if prepare == "recent":
        purge = RedisPurge(store.scripts, store.blobs)
    if prepare == "cut":
        await store.client.xdel(store.scripts.key("log", run), "13-0")
    with pytest.raises(CannotPurge, match=why):
        await purge.purge(run)
    assert await store.scripts.command("HGET", store.scripts.key("run", run), "purged_at") is None
