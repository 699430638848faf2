"""Answers outside a step: one for each cause, whoever else answers at the same time."""

from __future__ import annotations

import asyncio

import pytest

from handlers.messages.replies import Failed
from handlers.ports import Later
from handlers.replies import reply_once
from tests.fakes.team import Team

REPLY = Failed("stop", "it cannot be done now")


async def answer(team: Team, cause: str = "d1") -> None:
    await reply_once(team.context, team.repo, team.issue, cause, REPLY)


async def test_the_same_cause_is_answered_once(team: Team) -> None:
    await answer(team)
    await answer(team)
    await answer(team, "d2")
    assert len(team.comments()) == 2


async def test_of_two_workers_at_once_one_takes_its_answer_back(team: Team) -> None:
    """One was frozen between its look and its post, and its event was given to the other."""
    await asyncio.gather(*(answer(team) for _ in range(3)))
    assert len(team.comments()) == 1


async def test_an_answer_whose_fate_is_unknown_is_looked_for_later(team: Team) -> None:
    team.world.drop_reply("issues.comment")
    with pytest.raises(Later):
        await answer(team)
    await answer(team)
    assert len(team.comments()) == 1
