"""The cost gate before paid steps: it asks once, nothing is spent meanwhile, and a yes goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agents.board import Vote, value_of
from handlers.telling import warnings
from handlers.votes import open_cost
from tests.fakes.store import RealStore
from tests.fakes.team import OPTIONS, Team
from tests.handlers.orders_scene import command, replies
from tests.handlers.values import DESIGN

LATER = 9_999_999_999_999


async def designed(store: RealStore, monthly_usd: float = 0.0, **options: int) -> Team:
    """A run with a design, whose developer is due."""
    team = Team(store, options=replace(OPTIONS, **options))  # type: ignore[arg-type]
    await team.begin()
    await team.put(team.entry("design", DESIGN.model_copy(update={"monthly_usd": monthly_usd}), "architect"))
    return team


@pytest.mark.parametrize(
    ("money", "budget", "why"),
    [
        pytest.param(0.0, 900_000, "estimated", id="the estimate is over the limit"),
        pytest.param(40.0, 5_000_000, "$40.00 a month", id="the design commits money"),
    ],
)
async def test_it_asks_before_anything_is_spent_and_goes_on_at_a_yes(
    calm_store: RealStore, money: float, budget: int, why: str
) -> None:
    team = await designed(calm_store, money, budget=budget)
    await team.idle()
    gate = open_cost(await team.state())
    assert gate is not None
    assert why in gate.why
    assert team.actors.asked == []
    assert (await team.facts()).spent == 0
    await command(team, "/approve cost", team.ann, at=LATER)
    assert open_cost(await team.state()) is None
    assert replies(team) == []
    assert (await team.facts()).budget == budget + gate.suggested
    await team.idle()
    assert team.actors.asked


async def test_a_no_ends_the_run(calm_store: RealStore) -> None:
    team = await designed(calm_store, 40.0)
    await team.idle()
    await command(team, "/reject cost not for us", team.ann)
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert team.actors.asked == []


async def test_a_hard_limit_waits_for_who_hosts_us(calm_store: RealStore) -> None:
    team = await designed(calm_store, day_limit=1)
    await team.idle()
    gate = open_cost(await team.state())
    assert gate is not None
    assert gate.operator
    await command(team, "/approve cost +5", team.ann, at=LATER)
    assert "hosts me" in replies(team)[0]
    assert (await team.facts()).budget == 5_000_000
    assert team.actors.asked == []


async def test_a_yes_gives_at_most_the_ceiling(calm_store: RealStore) -> None:
    team = await designed(calm_store, budget=900_000)
    await team.idle()
    await command(team, "/approve cost +25", team.ann, at=LATER)
    assert "$25.00" in replies(team)[0]
    assert open_cost(await team.state()) is not None


async def test_two_people_at_once_are_two_votes_and_the_money_is_given_twice_only_by_two_words(
    calm_store: RealStore,
) -> None:
    """Whoever is second finds the gate open already, or votes on the same question: nothing is lost or doubled."""
    team = await designed(calm_store, budget=900_000)
    await team.idle()
    await asyncio.gather(
        command(team, "/approve cost +1", team.ann, at=LATER), command(team, "/approve cost +1", team.max, at=LATER)
    )
    state = await team.state()
    votes = [value_of(entry, Vote) for entry in state.entries("vote")]
    assert len(votes) in (1, 2)
    assert {vote.digest for vote in votes} == {votes[0].digest}
    assert (await team.facts()).budget == 900_000 + 1_000_000 * len(votes)
    assert len(replies(team)) == 2 - len(votes)


async def test_a_yes_and_a_no_at_once_end_in_the_no(calm_store: RealStore) -> None:
    """The no is the safe side: it ends the run, whether the yes was there first or not."""
    team = await designed(calm_store, 40.0)
    await team.idle()
    await asyncio.gather(
        command(team, "/approve cost", team.ann, at=LATER), command(team, "/reject cost no", team.max, at=LATER)
    )
    words = [entry.value["word"] for entry in (await team.state()).entries("vote")]
    status = (await team.facts()).status
    assert status == ("cancelling" if "no" in words else "open")
    assert words in (["yes"], ["no"], ["yes", "no"])


async def test_people_are_warned_once_at_each_mark(calm_store: RealStore) -> None:
    team = await designed(calm_store)
    run = await team.facts()
    for spent, marks in ((3_900_000, []), (4_000_000, [80]), (4_600_000, [80, 90]), (4_700_000, [80, 90])):
        for event in warnings(replace(run, spent=spent), await team.state()):
            await team.put(events=(event,))
        assert [said.data["share"] for said in (await team.state()).heard("budget_warned")] == marks
