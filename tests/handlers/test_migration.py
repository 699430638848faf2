"""A run that this version does not know all of: it waits, visibly, and goes on by itself where it is known."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import pytest
import structlog.testing

from agents.board import Author, Entry
from handlers.advance import Advancer
from handlers.events import Event
from handlers.ports import NewRun, NewTask
from handlers.states import States
from handlers.steps import steps
from tests.fakes.team import Team

FUTURE = "from_the_future"
STRANGER = Author(kind="agent", name="planner")
Change = Callable[[dict[str, object]], None]


async def started(team: Team, change: Change) -> None:
    """A run whose stored workflow was changed, as another version would have written it."""
    stored = team.context.workflows["feature"].model_dump(mode="json", by_alias=True, exclude_defaults=True)
    change(stored)
    facts = await team.context.github.repository.facts(team.repo)
    assert facts.head is not None
    new = NewRun(team.repo, team.issue, team.rita, facts.head, "main", stored, 10_000_000, "d", ())
    run = await team.store.runs.start(new)
    assert run is not None
    team.run = run


def nodes(stored: dict[str, object]) -> dict[str, dict[str, object]]:
    found = stored["nodes"]
    assert isinstance(found, dict)
    return found


def field(stored: dict[str, object]) -> None:
    stored[FUTURE] = 1


def node_field(stored: dict[str, object]) -> None:
    nodes(stored)["survey"][FUTURE] = 1


def operator(stored: dict[str, object]) -> None:
    nodes(stored)["survey"]["when"] = {"field": "issue.title", "op": "sounds like", "value": "x"}


def action(stored: dict[str, object]) -> None:
    nodes(stored)["survey"] |= {"action": FUTURE, "reads": []}


def gate(stored: dict[str, object]) -> None:
    del nodes(stored)["survey"]["action"]
    nodes(stored)["survey"] |= {"gate": FUTURE, "reads": []}


def role(stored: dict[str, object]) -> None:
    del nodes(stored)["survey"]["action"]
    nodes(stored)["survey"] |= {"role": FUTURE, "reads": []}


def no_nodes(stored: dict[str, object]) -> None:
    del stored["nodes"]


async def put(team: Team, kind: str, value: Mapping[str, object]) -> None:
    await team.begin()
    await team.put(Entry(id=f"{kind}.9", kind=kind, value=dict(value), author=STRANGER))


async def event(team: Team) -> None:
    await team.begin()
    await team.put(events=(Event(id="e9", name="design_ready", run=team.run, v=2),))


async def rewritten(team: Team, position: int, changes: Mapping[str, str]) -> None:
    """The log with one of its records as another version, or nobody, would have stored it."""
    key = team.store.scripts.key("log", team.run)
    known = await team.store.client.xrange(key)
    await team.store.client.delete(key)
    for row, values in known:
        if row == f"{position}-0".encode():
            values.update({name.encode(): value.encode() for name, value in changes.items()})
        await team.store.client.xadd(key, dict(values), id=row)


async def record(team: Team, **changes: str) -> None:
    await team.begin()
    await rewritten(team, 3, changes)


Make = Callable[[Team], Awaitable[None]]
UNKNOWN = [
    pytest.param(lambda team: started(team, field), f"workflow cannot be read.*{FUTURE}", id="field of a workflow"),
    pytest.param(lambda team: started(team, node_field), f"cannot be read.*survey.{FUTURE}", id="field of a node"),
    pytest.param(lambda team: started(team, operator), "cannot be read.*survey.when.op", id="operator of a guard"),
    pytest.param(lambda team: started(team, no_nodes), "cannot be read.*nodes", id="workflow without nodes"),
    pytest.param(lambda team: started(team, action), f"step survey.*'action:{FUTURE}'", id="action"),
    pytest.param(lambda team: started(team, gate), f"step survey.*'gate:{FUTURE}'", id="gate"),
    pytest.param(lambda team: started(team, role), f"step survey.*role '{FUTURE}'", id="role"),
    pytest.param(lambda team: put(team, FUTURE, {"x": 1}), f"entry {FUTURE}.9: .*kind", id="kind on the board"),
    pytest.param(lambda team: put(team, "design", {"x": 1}), "entry design.9: it is no design", id="schema of a kind"),
    pytest.param(event, "event design_ready at 4: its schema is 2", id="schema of an event"),
    pytest.param(lambda team: record(team, v="2"), "record 3: its schema is 2", id="schema of a record"),
    pytest.param(lambda team: record(team, t=FUTURE), f"record 3: .*type '{FUTURE}'", id="type of a record"),
]


@pytest.mark.parametrize(("make", "why"), UNKNOWN)
async def test_what_is_unknown_is_said_and_waited_for(team: Team, make: Make, why: str) -> None:
    await make(team)
    team.with_options(status_gap_ms=1)
    with structlog.testing.capture_logs() as logs:
        await team.idle()
        await asyncio.sleep(0.02)
        await team.idle()
    state = await team.state()
    [said] = state.heard("migration_needed")
    assert "needs_migration" in [line["event"] for line in logs if line["log_level"] == "error"]
    assert re.search(why, str(said.data["why"]))
    assert (await team.facts()).status == "open"
    assert "Waiting for another version of Seconder" in team.comments()[0]
    assert not {"step_failed", "run_stuck"} & set(await team.said())


@pytest.mark.parametrize(("make", "why"), UNKNOWN)
async def test_it_is_not_tried_again_and_again(team: Team, make: Make, why: str) -> None:
    await make(team)
    await team.idle()
    length = (await team.facts()).length
    for _ in range(3):
        await team.idle()
        assert await team.store.tasks.due(50) == []
    assert (await team.facts()).length == length


@pytest.mark.parametrize(("make", "why"), UNKNOWN)
async def test_it_can_be_stopped(team: Team, make: Make, why: str) -> None:
    await make(team)
    await team.idle()
    assert await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"


async def test_it_goes_on_by_itself_where_it_is_known(team: Team) -> None:
    """An older worker parks the step; one that knows the action takes it up after a while, and nobody has to act."""
    await team.begin()
    known = team.steps
    team.steps = {name: step for name, step in steps().items() if name != "action:survey"}
    team.with_options(look_again_ms=200)
    await team.idle()
    assert (await team.said())[-1] == "migration_needed"
    team.steps = known
    await team.until(lambda state: "gate_opened" in [said.name for said in state.said])
    assert [said.data["why"] for said in (await team.state()).heard("run_resumed")] == ["this version knows all of it"]


async def test_a_fold_of_what_is_unknown_is_no_checkpoint(team: Team) -> None:
    await put(team, FUTURE, {})
    await States(team.store.checkpoints, every=1).of(team.run, team.store.runs)
    assert await team.store.checkpoints.load(team.run) is None


# --- A log that cannot be read


async def gap(team: Team) -> int:
    await team.store.client.xdel(team.store.scripts.key("log", team.run), "2-0")
    return 2


async def cut(team: Team) -> int:
    length = (await team.facts()).length
    await team.store.client.xdel(team.store.scripts.key("log", team.run), f"{length}-0")
    return length


async def no_json(team: Team) -> int:
    await rewritten(team, 2, {"d": "{"})
    return 2


async def facts_gone(team: Team) -> int:
    key = team.store.scripts.key("run", team.run)
    await team.store.scripts.command("HSET", key, "meta", json.dumps({"repo": 1}))
    return 0


@pytest.mark.parametrize("damage", [gap, cut, no_json, facts_gone], ids=["gap", "cut tail", "no JSON", "facts"])
@pytest.mark.parametrize("member", ["control", "step"])
async def test_a_log_that_cannot_be_read_is_said_and_nothing_is_done(
    team: Team, damage: Callable[[Team], Awaitable[int]], member: str
) -> None:
    await team.begin()
    state = await team.state()
    task = NewTask("survey|1", "survey", ("issue.1",), ("repo_map",), 1)
    if member == "step":
        assert await team.store.tasks.activate(team.run, state.position, [task], [])
    stored = await team.store.scripts.command("HGET", team.store.scripts.key("run", team.run), "length")
    position = await damage(team)
    worker = Advancer(replace(team.context, states=States(team.store.checkpoints)), team.steps, "w")
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            for due, _version in await team.store.tasks.due(50):
                await worker.advance(due)
    said = [line for line in logs if line["event"] == "log_unreadable"]
    assert {(line["run"], line["position"], line["log_level"]) for line in said} == {(team.run, position, "error")}
    assert await team.store.tasks.due(50) == []
    assert await team.store.scripts.command("HGET", team.store.scripts.key("run", team.run), "length") == stored
