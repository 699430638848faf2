"""The status comment: posted once, edited in place, true to the end."""

from __future__ import annotations

import asyncio

import pytest

from handlers.advance import Advancer
from handlers.ports import GitHubError, Later, Missing, Refused
from handlers.publisher import Unsettled
from handlers.steps.status import Status
from handlers.work import Work
from tests.fakes.team import Team


@pytest.fixture
async def work(team: Team) -> Work:
    await team.begin()
    return await team.claim(f"{team.run}/status.1")


async def test_it_is_posted_once_and_the_issue_gets_its_eyes(team: Team, work: Work) -> None:
    commit = await Status().run(work)
    [body] = team.comments()
    assert (commit.outcome, commit.retry_in_ms) == ("parked", team.context.options.status_gap_ms)
    assert body.startswith(f"<!-- seconder:status run={team.run} -->")
    assert ("issue", team.issue, "eyes") in team.world.at(team.repo).reactions


async def test_it_is_edited_in_place(team: Team, work: Work) -> None:
    status = Status()
    await status.run(work)
    await team.say("run_stuck", why="developer: no")
    await team.state()
    await status.run(work)
    await status.run(work)
    body, told = team.comments()
    assert "### Stuck" in body
    assert "I cannot go on by myself" in told, "an edit notifies nobody, a comment does"
    assert "/retry" in body
    assert "/retry" in told


async def test_a_spent_budget_is_told_once(team: Team, work: Work) -> None:
    status = Status()
    await status.run(work)
    await team.say("run_parked", why="budget")
    await team.state()
    await status.run(work)
    await status.run(work)
    _, told = team.comments()
    assert "/approve cost +5" in told


async def test_an_unchanged_text_is_not_written_again(team: Team, work: Work) -> None:
    status = Status()
    team.clock.now = 0
    await status.run(work)
    await status.run(work)
    assert team.world.count("issues.edit_comment") == 0
    assert team.world.count("issues.comment") == 1


async def test_another_process_takes_the_comment_over(team: Team, work: Work) -> None:
    await Status().run(work)
    await team.say("run_stuck", why="no")
    await team.state()
    await Status().run(work)
    assert len(team.comments()) == 2
    assert "### Stuck" in team.comments()[0]


async def test_a_comment_that_somebody_removed_stays_removed(team: Team, work: Work) -> None:
    status = Status()
    await status.run(work)
    team.world.issue(team.repo, team.issue).comments.clear()
    await team.say("run_stuck", why="no")
    await team.state()
    assert (await status.run(work)).outcome == "parked"
    assert len(team.comments()) == 1
    assert "seconder:status" not in team.comments()[0]


async def test_a_lost_answer_posts_no_second_comment(team: Team, work: Work) -> None:
    team.world.drop_reply("issues.comment")
    team.world.lag("issues.comments")
    with pytest.raises(Unsettled):
        await Status().run(work)
    await Status().run(work)
    assert len(team.comments()) == 1


async def test_it_links_to_the_runs_page_where_there_is_one(team: Team) -> None:
    team.with_options(public_url="https://bot.example")
    await team.begin()
    await Status().run(await team.claim(f"{team.run}/status.1"))
    assert f"https://bot.example/runs/{team.run}" in team.comments()[0]


async def test_its_last_text_tells_the_end(team: Team) -> None:
    team.with_options(status_gap_ms=1)
    await team.file()
    await team.until(lambda state: state.last("gate_opened") is not None)
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.until(lambda _: "### Stopped" in team.comments()[0])
    assert len(team.comments()) == 1
    assert await team.store.tasks.due(5) == []


async def test_it_shows_the_wait_for_people(team: Team) -> None:
    team.with_options(status_gap_ms=1)
    await team.file()
    await team.until(lambda _: "### Waiting for people" in "".join(team.comments()))
    [body] = team.comments()
    assert "one approving review" in body


TROUBLE = [
    pytest.param(Refused("403: locked"), id="refused"),
    pytest.param(Missing("404"), id="missing"),
    pytest.param(Later("limit", 0.01), id="limit"),
]


@pytest.mark.parametrize("error", TROUBLE)
async def test_it_is_told_at_last_whatever_went_wrong_before(team: Team, error: GitHubError) -> None:
    """It is the run's only voice: it may not fall silent for ever because GitHub was away for some minutes."""
    team.with_options(status_gap_ms=1, max_attempts=2)
    await team.begin()
    team.world.fail("issues.comment", error, times=4)
    advancer = Advancer(team.context, team.steps, "w")
    for _ in range(200):
        await advancer.advance(f"{team.run}/status.1")
        await asyncio.sleep(0.02)
        await team.say("step_failed", node="developer")
        if team.comments():
            break
    assert team.world.count("issues.comment") == 5


async def test_after_the_end_a_refusal_is_final(team: Team) -> None:
    team.with_options(status_gap_ms=1)
    await team.begin()
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    team.world.fail("issues.comment", Refused("403: locked"), times=100)
    await team.until(lambda state: state.last("run_cancelled") is not None)
    for _ in range(3):
        await asyncio.sleep(0.01)
        await team.idle()
    assert await team.store.tasks.due(5) == []
