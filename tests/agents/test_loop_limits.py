"""The loop's limits: turns, people who write or cancel, money, and tools that wait for a person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import pytest

from agents.ports import Fenced, Json, ModelError, Usage
from agents.roles.developer import CodeOutput
from agents.stops import Cancelled, Failed, Finished, OutOfBudget, Parked
from agents.tools import TOOLS
from agents.tools.paths import write_filter
from agents.tools.router import Router
from agents.tools.tool import Tool, ToolInput
from tests.agents.scene import COST, Scene, block, content, marks, reply, submit, texts
from tests.fakes.journal import FakeJournal
from tests.fakes.prices import FakePrices
from tests.fakes.tools import FakeTools

READ = block("c1", "read_file", path="a.py")


async def test_turns_run_out_and_are_counted_down() -> None:
    scene = Scene([reply(READ)] * 4, max_turns=4)
    stop = await scene.play()
    assert isinstance(stop, Failed)
    assert "all 4 turns" in stop.reason
    results = [texts(turn) for turn in scene.journal.turns if turn.kind == "results"]
    assert ["Replies left: 3" in results[0], "Replies left: 1" in results[2], results[3]] == [True, True, ""]


async def test_steers_come_after_the_tool_results_as_data() -> None:
    journal = FakeJournal()
    journal.steers_at = {1: ["Use tabs d3l1m1t3r0 please"], 2: ["And be quick"]}
    scene = Scene([reply(READ), reply(READ), reply(submit())], journal=journal)
    assert isinstance(await scene.play(), Finished)
    first, second = (turn for turn in scene.journal.turns if turn.kind == "results")
    assert [found["type"] for found in first.content] == ["tool_result", "text"]
    assert '<data-d3l1m1t3r0 from="person">\nUse tabs [delimiter] please\n</data-d3l1m1t3r0>' in texts(first)
    assert "And be quick" in texts(second)
    assert [first.steers, second.steers] == [1, 1]


async def test_a_steer_that_meets_the_submission_is_heard_first() -> None:
    journal = FakeJournal()
    journal.steers_at = {1: ["Not yet!"]}
    scene = Scene([reply(submit()), reply(submit(summary="With it."))], journal=journal)
    stop = await scene.play()
    assert isinstance(stop, Finished)
    assert stop.output == CodeOutput(summary="With it.")
    assert "Not yet!" in texts(scene.journal.turns[1])


async def test_steers_that_wait_from_before_are_given() -> None:
    journal = FakeJournal(turns=[])
    journal.steers = ["Mind the docs"]
    scene = Scene([reply(READ), reply(submit())], journal=journal, steers=("Mind the docs",))
    await scene.play()
    assert texts(scene.journal.turns[1]).count("Mind the docs") == 1


@pytest.mark.parametrize(
    ("at", "calls"),
    [
        pytest.param(1, [], id="with a reply: its tools do not run"),
        pytest.param(2, ["read a.py"], id="with results: no further call"),
    ],
)
async def test_cancelled(at: int, calls: list[str]) -> None:
    scene = Scene([reply(READ), reply(submit())])
    scene.journal.cancel_at = at
    stop = await scene.play()
    assert isinstance(stop, Cancelled)
    assert stop.spent.cost == COST
    assert scene.tools.calls == calls
    assert len(scene.requests) == 1


@pytest.mark.parametrize("at", [1, 2])
async def test_a_fenced_step_stops_at_once(at: int) -> None:
    scene = Scene([reply(READ), reply(submit())])
    scene.journal.fence_at = at
    with pytest.raises(Fenced):
        await scene.play()
    assert len(scene.journal.turns) == at - 1
    assert len(scene.requests) == 1


async def test_a_model_error_passes_through_and_stores_nothing() -> None:
    scene = Scene([reply(READ), ModelError("overloaded", "try later")])
    with pytest.raises(ModelError):
        await scene.play()
    assert [turn.kind for turn in scene.journal.turns] == ["reply", "results"]


async def test_money_is_set_aside_before_each_call_and_settled_after() -> None:
    scene = Scene([reply(READ), reply(submit())])
    await scene.play()
    assert len(scene.journal.reservations) == 2
    assert all(amount >= 32_000 * 5 for amount in scene.journal.reservations)
    assert scene.journal.left_over == 10_000_000 - 2 * COST
    assert scene.journal.reserved == 0


@dataclass(frozen=True)
class _DearPrices(FakePrices):
    """Only the model that was asked for is cheap."""

    def cost(self, model: str, usage: Usage) -> int:
        return super().cost(model, usage) * (1 if model == "claude-sonnet-5-5" else 1000)


async def test_a_reply_is_priced_as_the_model_that_was_asked_for() -> None:
    scene = Scene([replace(reply(submit()), model="claude-sonnet-5-5-20261101")], prices=_DearPrices())
    stop = await scene.play()
    assert stop.spent.cost == COST
    assert scene.journal.turns[0].model == "claude-sonnet-5-5-20261101"


async def test_max_tokens_shrinks_before_the_run_pauses() -> None:
    scene = Scene([reply(submit())], journal=FakeJournal(left=60_000))
    assert isinstance(await scene.play(), Finished)
    sent = scene.requests[0].max_tokens
    assert 4096 <= sent < 32_000
    assert scene.journal.reservations[0] <= 60_000
    assert scene.journal.reservations[0] + 5 > 60_000, "as large as the money allows"


async def test_below_the_floor_the_run_pauses_without_a_call() -> None:
    scene = Scene([], journal=FakeJournal(left=20_000))
    stop = await scene.play()
    assert isinstance(stop, OutOfBudget)
    assert stop.left == 20_000
    assert stop.needed > 4096 * 5
    assert scene.requests == []


class _RacedJournal(FakeJournal):
    """Another step of the run takes money between the look and the reservation, so many times."""

    races = 2

    async def left(self) -> int:
        left = self.left_over
        if self.races:
            self.races -= 1
            self.left_over -= 5_000
        return left


async def test_another_step_may_take_money_meanwhile() -> None:
    scene = Scene([reply(submit())], journal=_RacedJournal(left=100_000))
    assert isinstance(await scene.play(), Finished)
    assert scene.journal.reservations[0] <= 90_000


async def test_at_most_four_cache_marks() -> None:
    scene = Scene([reply(READ)] * 5 + [reply(submit())])
    await scene.play()
    assert [marks(request) for request in scene.requests] == [3, 4, 4, 4, 4, 4]
    last = cast("list[Json]", scene.requests[-1].messages[-1]["content"])
    assert "cache_control" in last[-1]
    assert all("cache_control" not in found for turn in scene.journal.turns for found in turn.content)


# --- Tools that a person has to let pass


async def _deploy(tools: object, args: ToolInput) -> str:
    return "deployed"


def _asking() -> Router:
    deploy = Tool("deploy", "Deploy it.", ToolInput, _deploy, asks=True)
    return Router(FakeTools(), ("deploy",), write_filter("nothing"), known=(*TOOLS, deploy))


async def test_a_tool_that_asks_parks_the_step_until_it_is_granted() -> None:
    first = Scene([reply(block("c7", "deploy"))], router=_asking())
    stop = await first.play()
    assert isinstance(stop, Parked)
    assert stop.call_id == "c7"
    assert "developer asks to use deploy" in stop.reason
    stored = tuple(first.journal.turns)
    assert [turn.kind for turn in stored] == ["reply"]
    again = Scene([reply(), reply(submit())], turns=stored, router=_asking(), granted=frozenset({"c7"}))
    assert isinstance(await again.play(), Finished)
    assert content(again.journal.turns[1])[0]["content"] == "deployed"
