"""Events that come days late, from deliveries that were asked for again: they start nothing and stop nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.events import CommandGiven, IssueClosed, IssueCreated, IssueLabeled, PrClosed
from handlers.lateness import CLOCKS_DIFFER_MS, comes_late
from tests.fakes.runs import run_facts
from tests.fakes.team import Team

OVER = 1_800_000_000_000
MINUTE = 60_000


@pytest.mark.parametrize(
    ("at", "ended_at", "after", "late"),
    [
        pytest.param(OVER - 5 * MINUTE, OVER, None, True, id="before the run's end"),
        pytest.param(OVER - CLOCKS_DIFFER_MS, OVER, None, False, id="at its end, as far as clocks tell"),
        pytest.param(OVER + 1, OVER, None, False, id="after its end"),
        pytest.param(OVER - 5 * MINUTE, None, OVER, True, id="before the run in front of the open one ended"),
        pytest.param(OVER + 1, None, OVER, False, id="between the two: meant for the open one"),
        pytest.param(OVER - 5 * MINUTE, None, None, False, id="the first run"),
        pytest.param(0, OVER, None, False, id="no date"),
    ],
)
def test_what_comes_late(at: int, ended_at: int | None, after: int | None, late: bool) -> None:
    assert comes_late(at, replace(run_facts(), ended_at=ended_at, after=after)) is late


async def over(team: Team) -> int:
    """A run that has ended; returns when, as the store's clock says."""
    await team.begin()
    await team.store.runs.cancel(team.run, "c", "enough")
    await team.idle()
    ended = (await team.facts()).ended_at
    assert ended is not None
    return ended


async def attempts(team: Team) -> int:
    """How often a run was begun on the issue."""
    newest = await team.store.runs.find(team.repo, issue=team.issue)
    facts = await team.store.runs.facts(newest) if newest is not None else None
    return facts.attempt if facts is not None else 0


def given(team: Team, verb: str) -> CommandGiven:
    return CommandGiven(
        repo=team.repo,
        sender=team.max,
        author=team.max,
        number=team.issue,
        on_pull_request=False,
        where="issue",
        comment_id=team.world.add_comment(team.repo, team.issue, team.max, f"/{verb}"),
        body=f"/{verb}",
        verb=verb,
        arguments="",
    )


async def test_the_filing_of_an_issue_that_had_a_run_starts_none(team: Team) -> None:
    await over(team)
    await team.send(IssueCreated(repo=team.repo, sender=team.rita, number=team.issue, author=team.rita), "failed-once")
    assert await attempts(team) == 1


@pytest.mark.parametrize(("age", "starts"), [(5 * MINUTE, 1), (-1_000, 2)], ids=["older than the end", "younger"])
async def test_a_label_starts_a_run_only_if_it_is_younger_than_the_last_ones_end(
    team: Team, age: int, starts: int
) -> None:
    ended = await over(team)
    record = IssueLabeled(repo=team.repo, sender=team.max, number=team.issue, author=team.rita, label="seconder")
    await team.send(record, at=ended - age)
    assert await attempts(team) == starts


@pytest.mark.parametrize(("age", "starts"), [(5 * MINUTE, 1), (-1_000, 2)], ids=["older than the end", "younger"])
async def test_an_old_start_is_answered_and_starts_nothing(team: Team, age: int, starts: int) -> None:
    ended = await over(team)
    await team.send(given(team, "start"), at=ended - age)
    assert await attempts(team) == starts
    assert any("meant for is over" in body for body in team.comments()) is (starts == 1)


async def test_an_old_stop_does_not_stop_the_run_that_came_after(team: Team) -> None:
    ended = await over(team)
    await team.send(given(team, "start"), at=ended + 1_000)
    await team.send(given(team, "stop"), at=ended - 5 * MINUTE)
    team.run = await team.store.runs.find(team.repo, issue=team.issue) or ""
    assert (await team.facts()).status == "open"
    await team.send(given(team, "stop"), at=ended + 5 * MINUTE)
    assert (await team.facts()).status == "cancelling"


@pytest.mark.parametrize("record", [IssueClosed, PrClosed])
async def test_a_closing_that_was_taken_back_stops_nothing(
    team: Team, record: type[IssueClosed] | type[PrClosed]
) -> None:
    await team.begin()
    await team.idle()
    about: dict[str, object] = {"repo": team.repo, "sender": team.max, "author": team.rita}
    if record is PrClosed:
        about |= {"number": 2, "head": "a" * 40, "head_ref": "x", "head_repo_id": 1, "base_ref": "main"}
    else:
        about |= {"number": team.issue}
    await team.send(record.model_validate(about))
    assert (await team.facts()).status == "open"
