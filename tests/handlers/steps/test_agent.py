"""The step of a role: resumed from its stored turns, paid once, paused for money, steered while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from agents.board import TestResults
from agents.ports import ModelError, ModelRequest, Reply, Usage
from handlers.ports import Lease, StoredTurn
from handlers.state import RunState
from infra.store import embedded
from infra.store.tasks import RedisTurns
from tests.fakes.actors import CODE, TEST, submit, write
from tests.fakes.model import FakeModel, calls, replies_so_far, says
from tests.fakes.store import RealStore
from tests.fakes.team import OPTIONS, Team
from tests.fakes.workspaces import tree_id
from tests.handlers.orders_scene import command
from tests.handlers.steps.scene import asked, code_of, requests

DEAR = Usage(input_tokens=0, output_tokens=200_000)
"""Costs a dollar at the fake prices."""


def bill(state: RunState, node: str) -> int:
    return state.bills[node].cost


class Hooked(RedisTurns):
    """Calls `then` once, right after a turn that used this tool was stored."""

    def __init__(self, store: RealStore, tool: str, then: Callable[[], Awaitable[object]]) -> None:
        super().__init__(store.scripts, store.blobs)
        self._tool = tool
        self._then: Callable[[], Awaitable[object]] | None = then

    async def store(self, lease: Lease, number: int, turn: StoredTurn, cost: int, steers_seen: int) -> Sequence[str]:
        steers = await super().store(lease, number, turn, cost, steers_seen)
        tools = turn.data["tools"]
        if self._then is not None and isinstance(tools, Sequence) and self._tool in tools and lease.node == "developer":
            then, self._then = self._then, None
            await then()
        return steers


def hook(team: Team, tool: str, then: Callable[[], Awaitable[object]]) -> None:
    """Something happens right after the developer's reply that calls this tool was stored."""
    team.context = replace(team.context, store=replace(team.context.store, turns=Hooked(team.store, tool, then)))


# --- Resumed


async def test_a_step_goes_on_from_its_stored_turns_and_pays_for_nothing_again(team: Team) -> None:
    """The endpoint fails after the first reply; what was stored is not asked for again."""
    failing = ModelError("unavailable", "cut off")
    team.actors.plays["developer"] = [[write("calc.py", CODE), failing]]
    await team.file()
    await team.until(lambda state: any(note.startswith("developer") for note in state.notes))
    team.actors.plays["developer"] = [[write("calc.py", "never = 1\n"), submit(summary="Add total.")]]
    state = await team.until(lambda state: state.board.live("code") is not None)
    code = code_of(state)
    async with team.workspaces.open(
        team.repo, code.base_sha, code.tree, [await team.store.blobs.get(code.pack)]
    ) as workspace:
        assert (await workspace.read("calc.py")).text == CODE
    stored = [turn for turn in requests(team, "developer") if len(turn.messages) == 1]
    assert len(stored) == 1
    assert bill(state, "developer") == 2 * 200


async def test_a_resumed_step_works_on_the_tree_that_it_left(team: Team) -> None:
    team.actors.plays["developer"] = [[write("calc.py", CODE), ModelError("overloaded", "529")]]
    await team.file()
    await team.until(lambda state: any(note.startswith("developer") for note in state.notes))
    base = (await team.facts()).base_sha
    kept = tree_id({**team.workspaces.base_files(team.repo, base), "calc.py": CODE})
    team.actors.plays["developer"] = [[write("calc.py", CODE), submit(summary="Add total.")]]
    team.workspaces.opened.clear()
    await team.until(lambda state: state.board.live("code") is not None)
    assert (base, kept) in team.workspaces.opened


class Hanging(FakeModel):
    """Never answers the developer's second call, until `free`."""

    def __init__(self, answers: Callable[[ModelRequest], Reply | ModelError]) -> None:
        super().__init__(answers)
        self.hangs = asyncio.Event()
        self.free = False

    async def reply(self, request: ModelRequest) -> Reply:
        is_developer = "role: developer" in str(request.system[0]["text"])
        if is_developer and len(request.messages) > 1 and not self.free:
            self.hangs.set()
            await asyncio.sleep(60)
        return await super().reply(request)


async def test_a_killed_worker_costs_the_call_in_flight_and_nothing_else(valkey: embedded.EmbeddedServer) -> None:
    store = RealStore(valkey, lease_s=1.0)
    try:
        team = Team(store)
        model = Hanging(team.actors)
        team.model = model
        team.context = replace(team.context, model=model)
        await team.file()
        worker = asyncio.create_task(team.idle())
        await asyncio.wait_for(model.hangs.wait(), 20)
        task = f"{team.run}/developer.1"
        token = int(await store.scripts.command("HGET", store.scripts.key("task", task), "token"))
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
        store.renewer.release(task, token)
        model.free = True
        state = await team.until(lambda state: state.last("gate_opened") is not None, within_s=30)
        assert bill(state, "developer") == 2 * 200
        assert (await team.facts()).unconfirmed > 0
        assert len(team.world.at(team.repo).pulls) == 1
    finally:
        await store.close()


# --- Results that cannot be used


async def error_of(team: Team, node: str) -> str:
    await team.file()
    await team.idle()
    return (await team.state()).steps[f"{team.run}/{node}.1"].error


async def test_a_developer_who_changed_nothing_has_failed(team: Team) -> None:
    team.actors.plays["developer"] = [[submit(summary="Nothing to do.")] * 3]
    assert "no file differs from the base commit" in await error_of(team, "developer")
    assert "run_stuck" in await team.said()


async def test_a_refusal_is_said(team: Team) -> None:
    refusal = Reply(({"type": "text", "text": "I will not."},), "refusal", Usage(1, 1), "m")
    team.actors.plays["architect"] = [[refusal]]
    assert await error_of(team, "architect") == "I will not."


async def test_three_results_that_do_not_fit_fail_the_step(team: Team) -> None:
    team.actors.plays["architect"] = [[submit(nonsense=1)] * 3]
    assert "does not fit 3 times" in await error_of(team, "architect")


async def test_words_without_a_result_fail_the_step(team: Team) -> None:
    team.actors.plays["architect"] = [[says("Let me think.")] * 3]
    assert "without submitting" in await error_of(team, "architect")


async def test_an_unknown_tool_is_explained_and_the_work_goes_on(team: Team) -> None:
    team.actors.plays["tester"] = [
        [calls(("shell", {"command": "rm"})), write("tests/test_x.py", TEST), submit(summary="x")]
    ]
    assert await error_of(team, "tester") == ""
    assert "There is no tool 'shell'" in str(requests(team, "tester")[1].messages)


async def test_a_tester_writes_tests_only(team: Team) -> None:
    team.actors.plays["tester"] = [[write("calc.py", "x"), write("tests/test_x.py", TEST), submit(summary="x")]]
    assert await error_of(team, "tester") == ""
    results = (await team.state()).board.value("test_results", TestResults)
    assert results is not None
    assert "is not a test file" in str(requests(team, "tester")[1].messages)


# --- Money


async def test_without_enough_money_the_run_waits_before_the_call(calm_store: RealStore) -> None:
    team = Team(calm_store, options=replace(OPTIONS, budget=10_000))
    await team.file()
    await team.idle()
    state = await team.state()
    parked = state.last("run_parked")
    assert parked is not None
    assert parked.data["why"] == "budget"
    assert team.actors.asked == []
    assert state.last("run_stuck") is None
    await command(team, "/budget +5")
    await team.idle()
    assert (await team.said())[-1] == "gate_opened"


async def test_out_of_money_in_the_middle_the_same_step_goes_on(calm_store: RealStore) -> None:
    team = Team(calm_store, options=replace(OPTIONS, budget=2_010_000))
    dear = calls(("write_file", {"path": "calc.py", "text": CODE}), usage=DEAR)
    team.actors.plays["developer"] = [[dear, dear, submit(summary="Add total.")]]
    await team.file()
    await team.idle()
    assert asked(team, "developer") == 2
    assert "run_parked" in await team.said()
    await command(team, "/budget +5")
    await team.idle()
    state = await team.state()
    assert asked(team, "developer") == 3
    assert bill(state, "developer") == 2_000_000 + 200
    assert state.steps[f"{team.run}/developer.1"].state == "done"
    assert code_of(state).files[0].path == "calc.py"


async def test_too_little_more_pauses_again_and_loses_nothing(calm_store: RealStore) -> None:
    team = Team(calm_store, options=replace(OPTIONS, budget=5_000))
    await team.file()
    await team.idle()
    await command(team, "/budget +0.01")
    await team.idle()
    assert (await team.said()).count("run_parked") >= 2
    assert team.actors.asked == []
    assert (await team.facts()).reserved == 0


# --- Steered


class Before(FakeModel):
    """Something happens while the developer's reply number `turn` (from 0) is written."""

    def __init__(self, team: Team, turn: int, then: Callable[[], Awaitable[object]]) -> None:
        super().__init__(team.actors)
        self._turn = turn
        self._then: Callable[[], Awaitable[object]] | None = then

    async def reply(self, request: ModelRequest) -> Reply:
        is_developer = "role: developer" in str(request.system[0]["text"])
        if is_developer and replies_so_far(request) == self._turn and self._then is not None:
            then, self._then = self._then, None
            await then()
        return await super().reply(request)


def before(team: Team, turn: int, then: Callable[[], Awaitable[object]]) -> None:
    team.model = Before(team, turn, then)
    team.context = replace(team.context, model=team.model)


async def test_words_that_come_while_it_works_are_in_its_next_call(team: Team) -> None:
    before(team, 0, lambda: command(team, "/steer name it summe"))
    await team.file()
    await team.idle()
    assert "name it summe" in str(requests(team, "developer")[1].messages)
    said = [one.data["via"] for one in (await team.state()).said if one.name == "steered"]
    assert said == ["running"]


async def test_words_that_come_with_the_result_are_heeded_before_it_counts(team: Team) -> None:
    """They came while the model wrote its result, so that they are known when the result is stored."""
    team.actors.plays["developer"] = [[write("calc.py", CODE), submit(summary="One."), submit(summary="Two.")]]
    before(team, 1, lambda: command(team, "/steer name it summe"))
    await team.file()
    await team.idle()
    assert "a person has just written to you" in str(requests(team, "developer")[2].messages)
    assert code_of(await team.state()).summary == "Two."


async def test_words_that_come_too_late_wake_the_developer_again(team: Team) -> None:
    """They came after the result was stored: it stands, and the words are work for another round."""
    team.actors.plays["developer"].append([write("calc.py", f"{CODE}# summe\n"), submit(summary="Name it summe.")])
    hook(team, "submit", lambda: command(team, "/steer name it summe"))
    await team.file()
    await team.idle()
    said = [one.data for one in (await team.state()).said if one.name == "steered"]
    assert [one["via"] for one in said] == ["running", "steer"]
    assert said[1]["late"] == 1
    assert ("developer", 2) in team.actors.asked
    second = next(
        one for one, who in zip(team.model.requests, team.actors.asked, strict=True) if who == ("developer", 2)
    )
    assert "name it summe" in str(second.messages)


async def test_two_notes_are_both_heard(team: Team) -> None:
    await team.file()
    await team.idle()
    await command(team, "/steer first thing")
    await command(team, "/steer second thing", team.max)
    await team.idle()
    request = requests(team, "developer")[2]
    assert "first thing" in str(request.messages)
    assert "second thing" in str(request.messages)
