"""Buttons on our checks: a press votes on what it stood under, or is answered."""

from __future__ import annotations

import pytest

from agents.board import Vote, value_of
from handlers.buttons import decide_buttons
from handlers.events import Actor, GateButtonPressed
from tests.fakes.team import Team
from tests.handlers.orders_scene import pull_of_ours, replies

DIGEST = "fedcba9876543210"
YES, NO = (button.identifier for button in decide_buttons(DIGEST))


async def at_a_gate(team: Team) -> tuple[str, int]:
    """A run with a pull request, on whose head the cost gate waits: the head, and the pull request's number."""
    await team.begin()
    head, number = await pull_of_ours(team)
    await team.say("gate_opened", gate="cost", head=head, digest=DIGEST)
    return head, number


async def press(team: Team, head: str, button: str, who: Actor | None = None, gate: str = "cost", run: str = "") -> str:
    """Somebody presses a button; returns the event's id."""
    record = GateButtonPressed(
        repo=team.repo,
        sender=who or team.ann,
        head=head,
        check_name=f"seconder/{gate}",
        check_run_id=5,
        external_id=f"{run or team.run}:{gate}:{head}",
        button=button,
    )
    return await team.send(record)


async def votes(team: Team) -> int:
    return len((await team.state()).entries("vote"))


@pytest.mark.parametrize("identifier", [YES, NO])
def test_github_takes_the_identifiers(identifier: str) -> None:
    assert len(identifier) <= 20


async def test_a_press_is_a_vote(team: Team) -> None:
    head, number = await at_a_gate(team)
    await press(team, head, YES)
    [entry] = (await team.state()).entries("vote")
    vote = value_of(entry, Vote)
    assert (vote.gate, vote.digest, vote.word, vote.via) == ("cost", DIGEST, "yes", "button")
    assert (entry.author.name, entry.author.id) == ("ann", team.ann.id)
    assert replies(team, number) == []


async def test_a_no_by_button_pauses_and_asks(team: Team) -> None:
    head, number = await at_a_gate(team)
    await press(team, head, NO)
    assert "/reject cost" in replies(team, number)[0]
    assert await votes(team) == 0
    assert (await team.facts()).status == "open"


OTHERS = [
    pytest.param("guest", YES, "cost", 0, id="somebody who may not"),
    pytest.param("ann", "approve:000000000000", "cost", 1, id="under other findings"),
    pytest.param("ann", "approve:", "cost", 1, id="under nothing"),
    pytest.param("ann", "approve:fedc", "cost", 1, id="under too little"),
    pytest.param("ann", YES, "security", 1, id="a gate that is not open"),
    pytest.param("ann", YES, "quality", 0, id="a gate that is decided by review"),
    pytest.param("max", YES, "merge", 0, id="the merge is asked for by command"),
    pytest.param("ann", YES, "dance", 0, id="no gate"),
    pytest.param("ann", "look-again", "cost", 0, id="look again decides nothing"),
    pytest.param("ann", "format-disk", "cost", 0, id="a button that is none of ours"),
]


@pytest.mark.parametrize(("who", "button", "gate", "answers"), OTHERS)
async def test_what_decides_nothing(team: Team, who: str, button: str, gate: str, answers: int) -> None:
    head, number = await at_a_gate(team)
    await press(team, head, button, getattr(team, who), gate)
    assert await votes(team) == 0
    assert len(replies(team, number)) == answers


async def test_a_press_after_a_push_is_answered_with_the_new_head(team: Team) -> None:
    head, number = await at_a_gate(team)
    new = team.world.push(team.repo, "seconder/x", {"x.py": "x = 2\n"})
    await press(team, head, YES)
    assert await votes(team) == 0
    assert new[:7] in replies(team, number)[0]


@pytest.mark.parametrize("run", ["9-9-9", "x"])
async def test_a_check_of_no_run_is_nothing(team: Team, run: str) -> None:
    head, number = await at_a_gate(team)
    await press(team, head, YES, run=run)
    assert await votes(team) == 0
    assert replies(team, number) == []


async def test_a_bot_does_not_vote(team: Team) -> None:
    head, _ = await at_a_gate(team)
    robot = team.world.add_person(team.repo, "robot", "admin", "Bot")
    await press(team, head, YES, robot)
    assert await votes(team) == 0
