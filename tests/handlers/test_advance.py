"""One wake-up: claim, run, commit; and what becomes of everything that can go wrong in a step."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
import structlog.testing

from agents.ports import Fenced, ModelError, ToolError
from handlers.advance import Advancer
from handlers.ports import Checkpoint, Commit, Conflicted, Later, Missing, NewRun, NewTask, Refused, TooBig, Unknown
from handlers.publisher import Unsettled
from handlers.states import States
from handlers.work import Work
from handlers.workflow import WorkflowError
from infra.store import embedded
from tests.fakes.store import RealStore
from tests.fakes.team import Team

Act = Callable[[Work], Awaitable[Commit]]


def acts(team: Team, act: Act, name: str = "action:survey") -> Advancer:
    """A worker whose survey step does this and nothing else."""
    return Advancer(team.context, {name: act}, "w")


async def due(team: Team) -> str:
    """A run whose survey is due; returns the task."""
    await team.begin()
    state = await team.state()
    task = NewTask("survey|1", "survey", ("issue.1",), ("repo_map",), 1)
    assert await team.store.tasks.activate(team.run, state.position, [task], [])
    return f"{team.run}/survey.1"


def raises(error: Exception) -> Act:
    async def act(work: Work) -> Commit:
        raise error

    return act


async def outcome(team: Team, act: Act) -> tuple[str, str]:
    """How the step's commit ended, and its error, as the log tells."""
    task = await due(team)
    await acts(team, act).advance(task)
    for record in reversed(await team.store.runs.read(team.run, 0)):
        if record.data.get("task") == task and record.type in ("ended", "note"):
            return str(record.data["outcome"]), str(record.data["error"])
    return "", ""


FAILS = [
    pytest.param(ModelError("unauthorised", "bad key"), "model's endpoint refused .*unauthorised.*bad key", id="key"),
    pytest.param(ModelError("rejected", "too long"), "rejected.*too long", id="request"),
    pytest.param(ModelError("spend_limit", "over"), "spend_limit", id="spend limit"),
    pytest.param(Missing("no such repository"), "no such repository", id="missing"),
    pytest.param(Refused("422 no"), "422 no", id="refused"),
    pytest.param(Conflicted("409 moved"), "409 moved", id="conflicted"),
    pytest.param(TooBig("900 MB; the limit is 500"), "the limit is 500", id="too big"),
    pytest.param(ToolError("a link may not be committed"), "a link", id="tool"),
    pytest.param(WorkflowError("made due without a code"), "without a code", id="workflow"),
]
RETRIES = [
    pytest.param(ModelError("overloaded", "529"), "model overloaded: 529", id="overloaded"),
    pytest.param(ModelError("rate_limited", "429", 0.05), "model rate_limited", id="rate limited"),
    pytest.param(ModelError("unavailable", "cut off"), "model unavailable", id="unavailable"),
    pytest.param(Later("secondary limit", 0.05), "secondary limit", id="later"),
    pytest.param(Unknown("broken line"), "broken line", id="unknown"),
    pytest.param(Unsettled("branch:x", 40), "not known yet whether branch:x", id="unsettled"),
    pytest.param(ZeroDivisionError("oops"), "unexpected ZeroDivisionError: oops", id="not foreseen"),
]


@pytest.mark.parametrize(("error", "said"), FAILS)
async def test_what_cannot_heal_fails_and_is_said(team: Team, error: Exception, said: str) -> None:
    ended, why = await outcome(team, raises(error))
    assert ended == "failed"
    assert re.search(said, why)
    state = await team.state()
    failed = state.last("step_failed")
    assert state.node("survey").failed
    assert failed is not None
    assert failed.data["node"] == "survey"


@pytest.mark.parametrize(("error", "said"), RETRIES)
async def test_what_heals_with_time_is_tried_again(team: Team, error: Exception, said: str) -> None:
    ended, why = await outcome(team, raises(error))
    assert ended == "retry"
    assert said in why
    assert "step_failed" not in await team.said()


WAITS = [
    pytest.param(Later("limit", 0.4), 400, id="as GitHub asks"),
    pytest.param(Later("limit", 3600.0), 300_000, id="at most five minutes"),
    pytest.param(Later("limit", 0.0), 50, id="never at once"),
    pytest.param(Later("limit", -5.0), 50, id="a negative wait"),
    pytest.param(ModelError("rate_limited", "429", 0.7), 700, id="as the model asks"),
    pytest.param(Unknown("line"), 150, id="the settle window"),
    pytest.param(Unsettled("k", 90), 90, id="the rest of the settle window"),
]


@pytest.mark.parametrize(("error", "wait_ms"), WAITS)
async def test_how_long_it_waits(team: Team, error: Exception, wait_ms: int) -> None:
    task = await due(team)
    await acts(team, raises(error)).advance(task)
    score = await team.store.scripts.command("ZSCORE", team.store.scripts.key("due"), task)
    seconds, micro = await team.store.scripts.command("TIME")
    left = float(score) - (int(seconds) * 1000 + int(micro) / 1000)
    assert wait_ms - 2_000 < left <= wait_ms


async def test_back_off_doubles_and_is_capped(team: Team) -> None:
    team.with_options(backoff_base_ms=1_000)
    task = await due(team)
    work = await team.claim(task)
    waits = []
    for attempts in (1, 2, 3, 6, 8):
        again = replace(work, lease=replace(work.lease, attempts=attempts), context=team.context)
        commit = await acts(team, raises(ModelError("overloaded", "529")))._outcome(again)
        waits.append(commit.retry_in_ms)
    assert waits == [1_000, 2_000, 4_000, 32_000, 60_000]


async def test_a_step_that_works_is_committed_and_what_follows_is_decided(team: Team) -> None:
    task = await due(team)

    async def act(work: Work) -> Commit:
        return work.done(extra=(work.event("run_parked", {}),))

    await acts(team, act).advance(task)
    assert (await team.state()).steps[task].state == "done"
    assert "product_manager" not in {step.node for step in (await team.state()).open_steps()}


async def test_too_many_tries_fail_with_the_last_reason_of_this_step(team: Team) -> None:
    team.with_options(max_attempts=3)
    task = await due(team)
    worker = acts(team, raises(ModelError("overloaded", "529 again")))
    end = asyncio.get_running_loop().time() + 8
    while (await team.state()).steps[task].state == "open":
        await worker.advance(task)
        await asyncio.sleep(0.005)
        assert asyncio.get_running_loop().time() < end
    step = (await team.state()).steps[task]
    assert step.state == "failed"
    assert step.error == "gave up after 3 tries; the last said: survey: model overloaded: 529 again"
    assert len([note for note in (await team.state()).notes if "529" in note]) == 3


async def test_a_run_that_failed_says_that_it_is_stuck(team: Team) -> None:
    team.actors.faults = [ModelError("unauthorised", "bad key")]
    await team.begin()
    await team.idle()
    state = await team.state()
    stuck = state.last("run_stuck")
    assert stuck is not None
    assert "product_manager" in str(stuck.data["why"])
    assert "bad key" in str(stuck.data["why"])


async def test_a_task_that_is_not_to_be_had_is_left_alone(team: Team) -> None:
    task = await due(team)
    await team.claim(task)
    await acts(team, raises(AssertionError("must not run"))).advance(task)
    await acts(team, raises(AssertionError("must not run"))).advance("no-such/task.1")
    assert (await team.state()).steps[task].state == "open"
    assert (await team.state()).notes == []


async def test_a_decision_about_a_run_that_is_not_there(team: Team) -> None:
    with structlog.testing.capture_logs() as logs:
        await acts(team, raises(AssertionError("must not run"))).advance("control:nobody")
    assert [line["event"] for line in logs] == ["run_missing"]


async def test_deciding_twice_makes_nothing_twice(team: Team) -> None:
    await team.begin()
    worker = acts(team, raises(AssertionError("must not run")))
    await asyncio.gather(*(worker.advance(f"control:{team.run}") for _ in range(4)))
    assert sorted((await team.state()).steps) == [f"{team.run}/survey.1"]


async def test_hints_are_given_for_what_became_due(team: Team) -> None:
    await due(team)
    await acts(team, raises(Fenced("gone"))).advance(f"control:{team.run}")
    assert f"{team.run}/status.1" in dict(team.wake.asked)


async def test_a_lost_lease_cancels_the_step_under_way(valkey: embedded.EmbeddedServer) -> None:
    store = RealStore(valkey, lease_s=2.0)
    try:
        team = Team(store)
        task = await due(team)
        begun, stopped = asyncio.Event(), asyncio.Event()

        async def act(work: Work) -> Commit:
            begun.set()
            try:
                await asyncio.sleep(30)
            finally:
                stopped.set()
            return work.done()

        worker = asyncio.create_task(acts(team, act).advance(task))
        await begun.wait()
        assert await store.runs.cancel(team.run, "d9", "stopped")
        await asyncio.wait_for(worker, 8)
        assert stopped.is_set()
        assert (await team.state()).steps[task].state == "open"
    finally:
        await store.close()


class Away:
    """Checkpoints of a store that has gone away."""

    async def load(self, run: str) -> Checkpoint | None:
        raise ConnectionError(f"the store is away: no checkpoint of {run}")

    async def save(self, run: str, checkpoint: Checkpoint) -> bool:
        return False


async def test_a_step_that_could_not_even_begin_is_let_go(team: Team) -> None:
    """Nobody else could take it otherwise, for as long as this process lives."""
    task = await due(team)
    team.context = replace(team.context, states=States(Away()))
    with pytest.raises(ConnectionError, match="the store is away"):
        await acts(team, raises(AssertionError("must not run"))).advance(task)
    assert not team.store.renewer.alive(task, 1)


async def test_a_worker_that_is_stopped_stops_its_step(team: Team) -> None:
    task = await due(team)
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def act(work: Work) -> Commit:
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()
        return work.done()

    worker = asyncio.create_task(acts(team, act).advance(task))
    await begun.wait()
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert stopped.is_set()


async def test_a_run_that_cannot_be_closed_tidily_is_over_all_the_same(team: Team) -> None:
    await team.begin()
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await acts(team, raises(Refused("403")), "close").advance(f"{team.run}/close.1")
    assert (await team.facts()).status == "run_cancelled"


async def test_the_whole_way_to_the_gate(team: Team) -> None:
    await team.file()
    await team.idle()
    assert await team.said() == [
        "run_started",
        "requirements_ready",
        "design_ready",
        "code_updated",
        "tests_written",
        "tests_passed",
        "pr_opened",
        "review_approved",
        "gate_resolved",
        "pr_ready",
        "gate_opened",
    ]


async def test_a_run_of_a_workflow_that_is_no_longer_shipped_goes_on(team: Team) -> None:
    """The run carries its own copy."""
    facts = await team.context.github.repository.facts(team.repo)
    assert facts.head is not None
    stored = team.context.workflows["feature"].model_dump(mode="json", by_alias=True, exclude_defaults=True)
    new = NewRun(team.repo, team.issue, team.rita, facts.head, "main", {**stored, "name": "gone"}, 10, "d", ())
    run = await team.store.runs.start(new)
    assert run is not None
    team.run = run
    await team.idle()
    assert await team.said() == ["run_started", "run_stuck"]
