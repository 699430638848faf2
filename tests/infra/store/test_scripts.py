"""Every script looks at its arguments before its first write: what is wrong with one changes nothing at all.

Redis undoes nothing of a script that fails half-way.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from redis.exceptions import ResponseError

from handlers.events import Actor, Event, RepoRef
from handlers.ports import Lease, NewRun, NewTask, Word
from infra.store.records import seal, seal_event
from tests.fakes.store import RealStore as Store

REPO, WHO = RepoRef(id=7, full_name="octo/tally", installation=3), Actor(id=11, login="ana")
RECORD, EVENT = seal("note", {"error": "x"}), seal_event(Event(id="e", name="steered"))
BAD_NUMBERS = ("", "x", "1.5", "nan", "1e3", " 1", "9" * 17)

RUN, TASK, TOKEN = "<run>", "<task>", "<token>"

SOUND: dict[str, Sequence[str]] = {
    "ingest": ("guid", "digest", "1000", "{}"),
    "start": ("7-2-1", "7", "2", "1", "cause", RECORD, "900", EVENT, RECORD),
    "activate": (RUN, "<length>", "1", EVENT, "<run>/tester.1", "key", "tester", "[]", "[]", "1", RECORD),
    "claim": ("<run>/due.1", "w", "8000"),
    "reserve": (TASK, TOKEN, "5", "9", "0", "0"),
    "turn": (TASK, TOKEN, "0", '{"kind": "reply"}', RECORD, "5", "1", "0"),
    "commit": (TASK, TOKEN, "retry", "5", "0", "3", "branch", "", RECORD, "1", RECORD, EVENT),
    "attempt": (TASK, TOKEN, "comment:x", "first", RECORD),
    "receipt": (RUN, "comment:x", "{}", RECORD),
    "vote": (RUN, "cause", "5", "0", "", "1", "1", "steer", RECORD, EVENT),
    "cancel": (RUN, RECORD),
    "first": ("router", "lane", "1000", "5-0"),
}
NUMBERS = {
    "ingest": (2,),
    "start": (1, 2, 3, 6),
    "activate": (2, 9),
    "claim": (2,),
    "reserve": (2, 3, 4, 5),
    "turn": (2, 5, 7),
    "commit": (3, 5, 9),
    "vote": (2, 3, 5, 6),
}
RECORDS = {
    "start": (5, 7, 8),
    "activate": (3, 10),
    "turn": (4,),
    "commit": (8, 10, 11),
    "attempt": (4,),
    "receipt": (3,),
    "vote": (8, 9),
    "cancel": (1,),
}
OTHERS = [
    pytest.param("activate", {2: "9"}, id="activate: more events than there are"),
    pytest.param("activate", {2: "-1"}, id="activate: fewer events than none"),
    pytest.param("commit", {2: "finished"}, id="commit: an outcome that there is not"),
    pytest.param("commit", {9: "3"}, id="commit: more entries than there are"),
    pytest.param("commit", {9: "-1"}, id="commit: fewer entries than none"),
    pytest.param("first", {2: "x"}, id="first: a time that is none"),
    pytest.param("first", {3: "x"}, id="first: no stream id"),
    pytest.param("attempt", {3: "maybe"}, id="attempt: a mode that there is not"),
    pytest.param("vote", {5: "9"}, id="vote: more steers than there are"),
    pytest.param("vote", {6: "-1"}, id="vote: fewer entries than none"),
]
ROWS = [
    *(
        pytest.param(name, {place: bad}, id=f"{name}: argument {place + 1} is {bad!r}")
        for name, places in NUMBERS.items()
        for place in places
        for bad in BAD_NUMBERS
        if not (name == "commit" and place == 5 and bad == "")  # no pull request
    ),
    *(
        pytest.param(name, {place: bad}, id=f"{name}: argument {place + 1} is no record ({len(bad)})")
        for name, places in RECORDS.items()
        for place in places
        for bad in ("", "{}", "x" * 80)
    ),
    *OTHERS,
]


async def leased(store: Store) -> Lease:
    """A run with a step under a lease, and another one that is due."""
    run = await store.runs.start(NewRun(REPO, 1, WHO, "a" * 40, "main", {}, 900, "d1", ()))
    facts = await store.runs.facts(run or "")
    assert facts is not None
    steps = [NewTask(node, node, (), (), 1) for node in ("developer", "due")]
    assert await store.tasks.activate(facts.id, facts.length, steps, [])
    lease = await store.tasks.claim(f"{facts.id}/developer.1", "w")
    assert lease is not None
    store.renewer.release(lease.task, lease.token)  # a renewal in between would be a change
    return lease


async def arguments(store: Store, lease: Lease, name: str, changes: dict[int, str]) -> list[str]:
    """The script's sound arguments with some of them changed."""
    facts = await store.runs.facts(lease.run)
    assert facts is not None
    filled = [
        one.replace(TASK, lease.task)
        .replace(RUN, lease.run)
        .replace(TOKEN, str(lease.token))
        .replace("<length>", str(facts.length))
        for one in SOUND[name]
    ]
    return [changes.get(place, one) for place, one in enumerate(filled)]


async def everything(store: Store) -> dict[bytes, object]:
    """All that is stored, key by key."""
    keys = await store.client.keys(store.scripts.key("*"))
    return {key: await store.scripts.command("DUMP", key) for key in keys}


@pytest.mark.parametrize(("name", "changes"), ROWS)
async def test_what_is_wrong_changes_nothing(store: Store, name: str, changes: dict[int, str]) -> None:
    lease = await leased(store)
    before = await everything(store)
    with pytest.raises(ResponseError, match="BADARG"):
        await store.scripts.run(name, *await arguments(store, lease, name, changes))
    assert await everything(store) == before


@pytest.mark.parametrize("name", SOUND)
async def test_what_is_sound_is_done(store: Store, name: str) -> None:
    """Else the rows above would show nothing."""
    lease = await leased(store)
    before = await everything(store)
    await store.scripts.run(name, *await arguments(store, lease, name, {}))
    assert await everything(store) != before


async def test_what_people_say_passes(store: Store) -> None:
    """Odd words are words: only what a script counts with has to be a number."""
    lease = await leased(store)
    words = ("", "-1", "0" * 100, "\x00", "ﷺ", "'; return 1")
    assert await store.runs.vote(lease.run, Word("c", steers=words))
    assert await store.turns.waiting(lease, 0) == list(words)
