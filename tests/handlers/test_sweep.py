"""The slow sweep: what no event told of is found, and the run settled with the reason; what cannot be read is left."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from handlers.events import Actor, IssueCreated, RepoRef
from handlers.ports import (
    GitHubError,
    IssueFacts,
    Later,
    Missing,
    PullFacts,
    Refused,
    RepoFacts,
    ReviewFacts,
    RunFacts,
    Unknown,
)
from handlers.sweep import Seen, Settled, look_of, sweep, why_over
from tests.fakes.installations import move, suspend
from tests.fakes.runs import run_facts
from tests.fakes.team import Team

ADA = Actor(id=5, login="ada")
REPO = RepoFacts(RepoRef(id=1, full_name="o/r", installation=3), "main", "a" * 40, archived=False, private=False)
ISSUE = IssueFacts(4, "T", "B", "open", ADA, ("bug",), "url", is_pull_request=False)
PULL = PullFacts(9, "url", "T", "B", "open", True, False, None, "b" * 40, "seconder/x", 1, "main", ADA, "PR_9")
SOUND = Seen(REPO, ISSUE, PULL)
RUN = replace(run_facts(), pull=9, branch="seconder/x")
MERGED = replace(PULL, state="closed", merged=True)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param(SOUND, None, id="all is well"),
        pytest.param(Seen(REPO, ISSUE), None, id="no pull request yet"),
        pytest.param(replace(SOUND, issue=replace(ISSUE, state="closed")), "the issue was closed", id="issue closed"),
        pytest.param(replace(SOUND, issue=None), "the issue is gone: .*moved to another", id="issue gone"),
        pytest.param(replace(SOUND, pull=replace(PULL, state="closed")), "the pull request was closed", id="closed"),
        pytest.param(replace(SOUND, pull=MERGED), None, id="merged by hand: the gates see to it"),
        pytest.param(
            Seen(REPO, replace(ISSUE, state="closed"), MERGED, branch=False), None, id="merged, closed, tidied up"
        ),
        pytest.param(replace(SOUND, branch=False), "the branch seconder/x was deleted", id="branch deleted"),
        pytest.param(replace(SOUND, repo=replace(REPO, archived=True)), "archived", id="archived"),
    ],
)
def test_why_a_run_is_over(seen: Seen, why: str | None) -> None:
    found = why_over(RUN, seen)
    assert found is None if why is None else re.search(why, found or "")


REVIEW = ReviewFacts(1, "approved", "", "b" * 40, ADA, "url", 0)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(SOUND, True, id="nothing"),
        pytest.param(replace(SOUND, issue=replace(ISSUE, title="New", body="New")), True, id="words"),
        pytest.param(replace(SOUND, issue=replace(ISSUE, labels=("bug", "seconder:hold"))), False, id="a label"),
        pytest.param(replace(SOUND, pull=replace(PULL, head_sha="c" * 40)), False, id="a push"),
        pytest.param(replace(SOUND, pull=replace(PULL, draft=False)), False, id="ready"),
        pytest.param(replace(SOUND, pull=replace(PULL, base_ref="other")), False, id="another base"),
        pytest.param(replace(SOUND, pull=MERGED), False, id="a merge"),
        pytest.param(replace(SOUND, reviews=(REVIEW,)), False, id="a review"),
        pytest.param(replace(SOUND, pull=None), False, id="no pull request"),
    ],
)
def test_when_waiting_steps_are_woken(other: Seen, same: bool) -> None:
    assert (look_of(other) == look_of(SOUND)) is same


async def ready(team: Team) -> RunFacts:
    """A run whose pull request waits for people."""
    await team.begin()
    await team.idle()
    assert "gate_opened" in await team.said()
    return await team.facts()


def close_issue(team: Team) -> None:
    team.world.issue(team.repo, team.issue).state = "closed"


def lose_issue(team: Team) -> None:
    del team.world.at(team.repo).issues[team.issue]


def close_pull(team: Team) -> None:
    team.world.issue(team.repo, 2).state = "closed"


def delete_branch(team: Team) -> None:
    branches = team.world.at(team.repo).branches
    for name in [name for name in branches if name.startswith("seconder/")]:
        del branches[name]


def archive(team: Team) -> None:
    team.world.at(team.repo).archived = True


def lose_repo(team: Team) -> None:
    del team.world.repos[team.repo.id]


def take_away(team: Team) -> None:
    """The repository is taken out of the installation."""
    team.world.repos[team.repo.id].ref = team.repo.model_copy(update={"installation": 999})


def remove_app(team: Team) -> None:
    del team.world.installed[500]


CHANGES = [
    pytest.param(close_issue, "the issue was closed", id="issue closed"),
    pytest.param(lose_issue, "the issue is gone", id="issue deleted or transferred"),
    pytest.param(close_pull, "the pull request was closed", id="pull request closed"),
    pytest.param(delete_branch, "was deleted", id="branch deleted"),
    pytest.param(archive, "the repository was archived", id="archived"),
    pytest.param(lose_repo, "the repository octo/calc is gone", id="repository gone"),
    pytest.param(take_away, "the App may not see it any more", id="repository taken from the App"),
    pytest.param(remove_app, "the App was removed", id="App removed"),
    pytest.param(lambda team: suspend(team.world), "the App was suspended", id="App suspended"),
]


@pytest.mark.parametrize(("change", "why"), CHANGES)
async def test_a_run_that_is_over_ends_with_the_reason(team: Team, change: Callable[[Team], None], why: str) -> None:
    run = await ready(team)
    change(team)
    settled = await sweep(team.context)
    assert why in settled.cancelled[run.id]
    for _ in range(200):  # closing waits for what may be under way
        await team.idle()
        if (await team.facts()).status != "cancelling":
            break
        await asyncio.sleep(0.02)
    assert (await team.facts()).status == "run_cancelled"
    assert (await sweep(team.context)) == Settled()


async def test_what_is_missing_only_for_a_moment_ends_nothing(team: Team) -> None:
    """A replica that lags says that something is not there, or that it still is as it was."""
    run = await ready(team)
    for verb in ("issues.get", "repository.facts"):
        team.world.fail(verb, Missing("GitHub: 404"))
        settled = await sweep(team.context)
        assert settled.cancelled == {}
    assert (await team.facts()).status == "open"
    assert run.id == team.run


@pytest.mark.parametrize("verb", ["repository.facts", "issues.get", "pulls.get", "reviews.list", "repository.branch"])
@pytest.mark.parametrize("error", [Later("limit", 30.0), Unknown("broken"), Refused("403 no permission")])
async def test_what_cannot_be_read_settles_nothing(team: Team, verb: str, error: GitHubError) -> None:
    await ready(team)
    close_issue(team)
    team.world.fail(verb, error, times=4)
    settled = await sweep(team.context)
    assert settled.cancelled == {}
    assert settled.errors
    assert (await team.facts()).status == "open"


async def test_without_the_installations_nothing_is_concluded(team: Team) -> None:
    await ready(team)
    remove_app(team)
    team.world.fail("installations.all", Later("GitHub: 503", 15.0))
    with pytest.raises(Later):
        await sweep(team.context)
    assert (await team.facts()).status == "open"


async def test_one_repository_that_fails_stops_no_other(team: Team) -> None:
    """The first run's repository cannot be read, the second's issue is closed."""
    first = await ready(team)
    other = team.world.add_repo("octo/other", {"a.py": ""})
    team.world.permit(other, team.rita, "write")
    number = team.world.add_issue(other, team.rita, "Fix it")
    await team.send(IssueCreated(repo=other, sender=team.rita, number=number, author=team.rita))
    second = await team.store.runs.find(other, issue=number)
    assert second is not None
    team.world.issue(other, number).state = "closed"
    team.world.fail("repository.facts", Refused("GitHub: 451 legal reasons"), times=2)
    settled = await sweep(team.context)
    assert settled.cancelled == {second: "the issue was closed"}
    assert len(settled.errors) == 1
    assert (await team.store.runs.facts(first.id) or first).status == "open"


async def test_an_installation_that_has_to_wait_is_asked_nothing_more(team: Team) -> None:
    await ready(team)
    second = team.world.add_issue(team.repo, team.rita, "Another")
    await team.send(IssueCreated(repo=team.repo, sender=team.rita, number=second, author=team.rita))
    team.world.calls.clear()
    team.world.fail("repository.facts", Later("limit", 60.0))
    settled = await sweep(team.context)
    assert team.world.count("repository.facts") == 1
    assert len(settled.errors) == 1


@pytest.mark.parametrize(
    ("name", "installation"),
    [pytest.param("octo/renamed", 500, id="renamed"), pytest.param("new/home", 501, id="transferred")],
)
async def test_a_repository_that_moved_goes_on_under_its_new_name(team: Team, name: str, installation: int) -> None:
    run = await ready(team)
    moved = move(team.world, team.repo, name, installation)
    settled = await sweep(team.context)
    assert settled.cancelled == {}
    assert (await team.facts()).repo == moved
    team.repo = moved
    team.world.add_review(moved, 2, team.max, "approved")
    await sweep(team.context)
    await team.until(lambda state: any(said.data.get("gate") == "merge" for said in state.said))
    assert run.id == team.run


async def test_a_review_of_which_nobody_told_is_seen(team: Team) -> None:
    run = await ready(team)
    await sweep(team.context)  # the first look at a run wakes it once
    await team.idle()
    assert (await sweep(team.context)).woken == ()
    team.world.add_review(team.repo, 2, team.max, "approved")
    assert (await sweep(team.context)).woken == (run.id,)
    await team.until(lambda state: any(said.data.get("gate") == "merge" for said in state.said))


async def test_a_merge_by_hand_ends_the_run_as_merged(team: Team) -> None:
    await ready(team)
    pull = await team.world.pulls.get(team.repo, 2)
    await team.world.pulls.mark_ready(team.repo, 2)
    await team.world.pulls.merge(team.repo, 2, pull.head_sha, "By hand")
    close_issue(team)
    await sweep(team.context)
    await team.idle()
    assert (await team.facts()).status == "run_completed"


async def test_an_ended_run_is_looked_at_no_more(team: Team) -> None:
    await ready(team)
    close_issue(team)
    await sweep(team.context)
    await team.idle()
    team.world.calls.clear()
    assert await sweep(team.context) == Settled()
    assert team.world.calls == []
