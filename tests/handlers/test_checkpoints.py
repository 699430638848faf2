"""A checkpoint is a cache of a fold: it comes to the same as the log, or it is not believed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import pairwise

import pytest
import structlog.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.board import Author, Entry, HumanNote
from handlers.checkpoints import SCHEMA, BadCheckpoint, content_of, freeze, thaw
from handlers.events import Event
from handlers.ports import Checkpoint, LogRecord, LogUnreadable, RecordType, Word
from handlers.state import RunState
from handlers.states import States
from tests.fakes.store import RealStore
from tests.fakes.team import Team
from tests.handlers.log import Log

# --- Any log, folded at once or through a checkpoint

NODES = st.sampled_from(["developer", "tester", "quality", "merge"])
NAMES = st.sampled_from(
    ["run_started", "code_updated", "run_resumed", "visits_exhausted", "run_stuck", "steered", "ü\u2028"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
DATA = st.dictionaries(st.text(max_size=5), JSON, max_size=3)
VISITS = st.integers(1, 3)


def record(kind: str, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    return st.tuples(st.just(kind), st.fixed_dictionaries(fields))


def event(name: str, node: str, data: dict[str, object]) -> tuple[str, dict[str, object]]:
    return "event", {"id": "e", "name": name, "data": {**data, "node": node}}


def entry(number: int, kind: str, author: str, supersedes: int) -> tuple[str, dict[str, object]]:
    by = Author(kind=author, name=author[:3], id=5 if author == "person" else None)
    value: dict[str, object] = HumanNote(text="x", via="steer").model_dump(mode="json")
    replaced = f"e{supersedes}" if supersedes else None
    return "entry", Entry(id=f"e{number}", kind=kind, value=value, author=by, supersedes=replaced).model_dump()


def step(kind: str, node: str, visit: int, outcome: str) -> tuple[str, dict[str, object]]:
    data: dict[str, object] = {"task": f"r/{node}.{visit}", "node": node}
    if kind == "activated":
        return kind, {**data, "visit": visit, "inputs": ["e1"], "writes": ["code"], "key": f"{node}|{visit}"}
    return kind, {**data, "outcome": outcome, "error": "no" if outcome == "failed" else "", "ending": ""}


def turn(node: str, kind: str, cost: int, seconds: float, model: str) -> tuple[str, dict[str, object]]:
    usage = {"input_tokens": cost, "output_tokens": 2, "cache_read_tokens": 3}
    data = {"node": node, "kind": kind, "usage": usage, "cost": cost, "seconds": seconds, "model": model}
    return "turn", {**data, "tools": [model, "submit"]}


RECORDS = st.one_of(
    st.builds(event, NAMES, NODES, DATA),
    st.builds(
        entry,
        st.integers(0, 9),
        st.sampled_from(["human_note", "human_note", "report", "from_the_future"]),
        st.sampled_from(["agent", "person", "system"]),
        st.integers(0, 9),
    ),
    st.builds(step, st.sampled_from(["activated", "ended"]), NODES, VISITS, st.sampled_from(["done", "failed"])),
    st.builds(
        turn, NODES, st.sampled_from(["reply", "results"]), st.integers(0, 99), st.floats(0, 9), st.text(max_size=3)
    ),
    record("receipt", key=st.text(max_size=4), receipt=DATA),
    record("note", node=NODES, error=st.text(max_size=4), outcome=st.just("retry")),
    record("note", cause=st.text(min_size=1, max_size=3), cancel=st.text(max_size=4)),
    record("attempt", key=st.text(max_size=4)),
    record("attempt", key=st.text(max_size=4)) | record("unheard_of", x=JSON),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(RECORDS, max_size=25), st.data())
def test_a_checkpoint_and_the_rest_is_the_whole(
    made: list[tuple[RecordType, dict[str, object]]], data: st.DataObject
) -> None:
    records = [
        LogRecord(number, kind, json.loads(json.dumps(value)), number, chain=f"h{number}", erased=number % 7 == 0)
        for number, (kind, value) in enumerate(made, 1)
    ]
    cut = data.draw(st.integers(0, len(records)))
    whole = RunState().feed(records)
    part = RunState().feed(records[:cut])
    if part.strange:
        with pytest.raises(BadCheckpoint, match="did not know all"):
            thaw(freeze(part))
        return
    restored = thaw(freeze(part)).feed(records[cut:])
    assert vars(restored).keys() == vars(whole).keys()
    assert visible(restored) == visible(whole)
    assert freeze(restored).digest == freeze(whole).digest


def visible(state: RunState) -> dict[str, object]:
    """All attributes, the derived ones too; the board by what it answers."""
    kinds = {entry.kind for entry in state.board.all()}
    board = [state.board.all(), {kind: state.board.live(kind) for kind in kinds}]
    return {**vars(state), "board": board, "order": list(state.wrote), "open": list(state.open_steps())}


# --- What is not believed


def folded() -> Checkpoint:
    return freeze(Log().event("run_started").activated("developer").reply("developer").state())


def resealed(**changes: object) -> Checkpoint:
    """A checkpoint whose content was changed, and its digest with it."""
    content = json.dumps({**json.loads(folded().content), **changes}).encode()
    return replace(folded(), content=content, digest=hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(
    ("checkpoint", "why"),
    [
        pytest.param(replace(folded(), content=folded().content[:-1] + b" "), "digest", id="a byte differs"),
        pytest.param(replace(folded(), content=b""), "digest", id="nothing left"),
        pytest.param(replace(folded(), schema=SCHEMA + 1), "its schema is 2", id="a newer schema"),
        pytest.param(replace(folded(), schema=SCHEMA - 1), "its schema is 0", id="an older schema"),
        pytest.param(replace(folded(), position=9), "header", id="another position"),
        pytest.param(replace(folded(), chain="x"), "header", id="another chain"),
        pytest.param(resealed(steps={}), "not a fold", id="no list of steps"),
        pytest.param(resealed(entries=[{"id": 1}]), "not a fold", id="an entry that is none"),
        pytest.param(resealed(nodes={"a": {"unheard_of": 1}}), "not a fold", id="a field that nobody knows"),
        pytest.param(resealed(said=[3]), "not a fold", id="an event that is none"),
        pytest.param(resealed(bills=None), "not a fold", id="no bills"),
    ],
)
def test_what_is_damaged_is_not_believed(checkpoint: Checkpoint, why: str) -> None:
    with pytest.raises(BadCheckpoint, match=why):
        thaw(checkpoint)


# --- In the store


def noted(number: int) -> Word:
    value = HumanNote(text=f"note {number}", via="steer").model_dump(mode="json")
    author = Author(kind="person", name="rita", id=5)
    one = Entry(id=f"human_note.{number}", kind="human_note", value=value, author=author)
    return Word(f"c{number}", entries=(one,), events=(Event(id=f"e{number}", name="steered", data={"n": number}),))


async def long_run(team: Team, records: int) -> None:
    """A run whose log has at least so many records."""
    await team.begin()
    for number in range(records // 2):
        await team.store.runs.vote(team.run, noted(number))


async def from_log(team: Team) -> dict[str, object]:
    return content_of(RunState().feed(await team.store.runs.read(team.run, 0)))


class Reads:
    """Counts the records that are read."""

    def __init__(self, store: RealStore) -> None:
        self._runs = store.runs
        self.records = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._runs, name)

    async def read(self, run: str, after: int) -> list[LogRecord]:
        found = list(await self._runs.read(run, after))
        self.records += len(found)
        return found


async def test_a_new_process_begins_at_the_checkpoint(team: Team) -> None:
    await long_run(team, 140)
    reads = Reads(team.store)
    old = States(team.store.checkpoints)
    with structlog.testing.capture_logs() as logs:
        await old.of(team.run, team.store.runs)
    assert [(line["event"], line["why"]) for line in logs] == [("checkpoint_rebuilt", "there is none")]
    for number in range(200, 210):
        await team.store.runs.vote(team.run, noted(number))
    with structlog.testing.capture_logs() as logs:
        state = await States(team.store.checkpoints).of(team.run, reads)  # type: ignore[arg-type]
    assert logs == []
    assert reads.records == 21, "the checkpoint's own record, and what came after it"
    assert content_of(state) == await from_log(team)


async def test_it_is_replaced_every_so_many_records(team: Team) -> None:
    await team.begin()
    states = States(team.store.checkpoints, every=10)
    positions = []
    for number in range(150):
        await team.store.runs.vote(team.run, noted(number))
        await states.of(team.run, team.store.runs)
        stored = await team.store.checkpoints.load(team.run)
        positions.append(stored.position if stored is not None else 0)
    known = sorted(set(positions))
    grown = [(after - before, max(10, before // 10)) for before, after in pairwise(known[1:])]
    assert all(due <= gap <= due + 1 for gap, due in grown), "ten records, in a long log a tenth of it"
    assert grown[0][1] == 10
    assert grown[-1][1] > 20


async def damage(team: Team, how: str) -> None:
    stored = await team.store.checkpoints.load(team.run)
    assert stored is not None
    key, save = team.store.scripts.key("checkpoint", team.run), team.store.checkpoints.save
    match how:
        case "bytes":
            await team.store.client.setrange(key, 200, b"\x00\x01\x02")
        case "header":
            await team.store.client.setrange(key, 0, b"!")
        case "cut":
            await team.store.client.set(key, (await team.store.client.get(key) or b"")[:300])
        case "schema":
            await save(team.run, replace(stored, schema=SCHEMA + 1))
        case "ahead":
            state = thaw(stored)
            state.position += 1000
            await save(team.run, freeze(state))
        case "another run's":
            state = thaw(stored)
            state.chain = "0" * 40
            await save(team.run, freeze(state))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        pytest.param("bytes", "digest", id="some bytes"),
        pytest.param("header", "digest", id="the header"),
        pytest.param("cut", "digest", id="cut short"),
        pytest.param("schema", "its schema is 2", id="a newer schema"),
        pytest.param("ahead", "does not reach so far", id="too far ahead"),
        pytest.param("another run's", "another record", id="another chain"),
    ],
)
async def test_a_bad_one_is_said_and_made_anew(team: Team, how: str, why: str) -> None:
    await long_run(team, 120)
    await States(team.store.checkpoints).of(team.run, team.store.runs)
    await damage(team, how)
    with structlog.testing.capture_logs() as logs:
        state = await States(team.store.checkpoints).of(team.run, team.store.runs)
    [line] = logs
    assert (line["event"], line["run"]) == ("checkpoint_rebuilt", team.run)
    assert why in line["why"]
    assert content_of(state) == await from_log(team)
    with structlog.testing.capture_logs() as logs:
        await States(team.store.checkpoints).of(team.run, team.store.runs)
    assert logs == []


async def test_one_that_is_too_large_is_said_and_left_out(team: Team) -> None:
    await team.begin()
    value = HumanNote(text="x" * 5_000_000, via="steer").model_dump(mode="json")
    author = Author(kind="person", name="rita", id=5)
    await team.put(*(Entry(id=f"n{n}", kind="human_note", value=value, author=author) for n in range(2)))
    with structlog.testing.capture_logs() as logs:
        state = await States(team.store.checkpoints, every=2).of(team.run, team.store.runs)
    assert "checkpoint_too_large" in [line["event"] for line in logs]
    assert await team.store.checkpoints.load(team.run) is None
    assert state.position == 5


async def test_a_record_that_cannot_be_read_closes_the_run_and_nothing_of_it_is_kept(team: Team) -> None:
    await long_run(team, 20)
    states = States(team.store.checkpoints)
    before = await states.of(team.run, team.store.runs)
    last = before.position
    await team.store.runs.vote(team.run, noted(77))
    await team.store.client.xdel(team.store.scripts.key("log", team.run), f"{last + 1}-0")
    for _ in range(2):
        with pytest.raises(LogUnreadable, match=f"run {team.run} cannot be read at record {last + 1}"):
            await states.of(team.run, team.store.runs)
    assert before.position == last


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        pytest.param("entry", {"id": "x"}, id="an entry without a kind"),
        pytest.param("event", {"data": {}}, id="an event without a name"),
        pytest.param("activated", {"task": "t", "node": "n", "visit": "many"}, id="a step without inputs"),
        pytest.param("turn", {"node": "n", "kind": "reply", "usage": {"input_tokens": "x"}}, id="tokens in words"),
    ],
)
def test_a_record_that_is_none_of_its_type_is_not_folded(kind: RecordType, data: dict[str, object]) -> None:
    log = Log().event("run_started").add(kind, data)
    state = RunState()
    with pytest.raises(LogUnreadable, match="record 2: it is no"):
        state.feed(log.records, "r")
    assert state.position == 1
