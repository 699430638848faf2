"""Words that come before anybody waits for them: they are kept, and count when the gate opens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import Review
from handlers.events import Actor, ReviewSubmitted
from handlers.states import States
from handlers.steps import mark_ready, quality
from tests.fakes.team import Team
from tests.handlers.steps.scene import end, published, pull_of


async def approve(team: Team, who: Actor) -> None:
    """A review of the draft, while the reviewer agent is still at work."""
    pull = await pull_of(team)
    made = team.world.add_review(team.repo, pull.number, who, "approved")
    record = ReviewSubmitted(
        repo=team.repo,
        sender=who,
        number=pull.number,
        review_id=made,
        state="approved",
        body="",
        head=pull.head_sha,
        current_head=pull.head_sha,
        author=who,
    )
    await team.send(record)


async def the_gate_opens(team: Team) -> str:
    """The pull request leaves draft; returns what the gate's first look came to."""
    pull = await pull_of(team)
    await team.put(team.entry("review", Review(approved=True, summary="Good.", tree=pull.tree), "reviewer"))
    work = await team.work("mark_ready")
    await end(team, work, await mark_ready.run(work))
    gate = await team.work("quality")
    return (await end(team, gate, await quality.run(gate))).outcome


@pytest.mark.parametrize(
    ("who", "outcome"),
    [
        pytest.param("max", "done", id="an approval that counts"),
        pytest.param("rita", "parked", id="the requester's, which counts neither early nor late"),
        pytest.param("guest", "parked", id="one of somebody without write"),
    ],
)
async def test_an_approval_before_the_gate_opens_waits_for_it(team: Team, who: str, outcome: str) -> None:
    await team.begin()
    await published(team)
    person: Actor = getattr(team, who)
    await approve(team, person)
    [vote] = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    assert (vote.author.name, vote.value["digest"]) == (who, (await pull_of(team)).head_sha)
    assert "gate_opened" not in await team.said()
    assert await the_gate_opens(team) == outcome


async def test_a_restart_between_the_vote_and_the_gate_loses_nothing(team: Team) -> None:
    """The vote lives in the run's log, in nobody's memory."""
    await team.begin()
    await published(team)
    await approve(team, team.max)
    team.context = replace(team.context, states=States(team.store.checkpoints))  # as in a new process
    assert await the_gate_opens(team) == "done"
