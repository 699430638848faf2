"""People's own pull requests and merge groups never hang on our checks, and get nothing of the team's past them."""

from __future__ import annotations

import pytest

from handlers.events import Actor, ChecksRerequested, MergeGroupRequested, PrSynchronized
from handlers.ports import BranchRules, CheckState
from tests.fakes.github_world import FakePull
from tests.fakes.team import Team
from tests.handlers.steps.scene import published, pull_of

REQUIRED = BranchRules(checks=frozenset({"seconder/quality", "seconder/security", "ci"}))


def opened(team: Team, who: Actor, branch: str, head: str | None = None) -> PrSynchronized:
    """Somebody opens a pull request from a branch (at `head`, or with a commit of its own)."""
    at = team.world.at(team.repo)
    if head is None:
        head = team.world.push(team.repo, branch, {f"{len(at.issues)}.py": "x\n"})
    at.branches[branch] = head
    number = team.world.add_issue(team.repo, who, "By hand")
    at.pulls[number] = FakePull(branch, "main", False, head)
    return PrSynchronized(
        repo=team.repo,
        sender=who,
        number=number,
        head=head,
        head_ref=branch,
        head_repo_id=team.repo.id,
        base_ref="main",
        author=who,
    )


def checks(team: Team, head: str) -> dict[str, str | None]:
    """Our check runs on a commit with their conclusions."""
    found = team.world.at(team.repo).checks.values()
    return {check.name: check.conclusion for check in found if check.head_sha == head}


async def test_a_pull_request_of_somebody_concludes_what_is_required(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    seen = opened(team, team.ann, "feature")
    for _ in range(2):
        await team.send(seen)
    assert checks(team, seen.head) == {"seconder/quality": "success", "seconder/security": "success"}
    assert len(team.world.at(team.repo).checks) == 2
    assert all("did not write" in check.summary for check in team.world.at(team.repo).checks.values())


@pytest.mark.parametrize("rules", [BranchRules(), BranchRules(checks=frozenset({"ci", "other/quality"}))])
async def test_where_nothing_is_required_nothing_is_said(team: Team, rules: BranchRules) -> None:
    team.world.at(team.repo).rules["main"] = rules
    seen = opened(team, team.ann, "feature")
    await team.send(seen)
    assert checks(team, seen.head) == {}


@pytest.mark.parametrize(
    ("who", "branch"),
    [
        pytest.param("bot", "feature", id="our own, not known yet"),
        pytest.param("ann", "seconder/issue-9-x", id="from a branch that is named like ours"),
    ],
)
async def test_what_may_be_ours_is_left_alone(team: Team, who: str, branch: str) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    seen = opened(team, team.world.bot if who == "bot" else team.ann, branch)
    await team.send(seen)
    assert checks(team, seen.head) == {}


async def test_another_pull_request_opens_no_gate_on_a_runs_head(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    await team.begin()
    pull = await published(team)
    await team.send(opened(team, team.ann, "sneaky", pull.head_sha))
    assert checks(team, pull.head_sha) == {}


async def test_nor_on_a_head_whose_run_is_over(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    seen = opened(team, team.ann, "sneaky")
    state = CheckState("seconder/quality", seen.head, "old-run:quality:x", "action_required", "Waits", "For people")
    await team.world.checks.create(team.repo, state)
    await team.send(seen)
    assert checks(team, seen.head) == {"seconder/quality": "action_required"}


async def test_a_closed_pull_request_needs_nothing(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    seen = opened(team, team.ann, "feature")
    team.world.issue(team.repo, seen.number).state = "closed"
    await team.send(seen)
    assert checks(team, seen.head) == {}


async def test_a_merge_group_never_waits(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = REQUIRED
    head = team.world.push(team.repo, "gh-readonly-queue/main/pr-1", {"q.py": "x\n"})
    record = MergeGroupRequested(repo=team.repo, sender=team.ann, head=head, base_ref="main")
    for _ in range(2):
        await team.send(record)
    assert checks(team, head) == {"seconder/quality": "success", "seconder/security": "success"}
    assert len(team.world.at(team.repo).checks) == 2


@pytest.mark.parametrize("name", [None, "seconder/quality"])
async def test_asked_again_it_concludes_again(team: Team, name: str | None) -> None:
    team.world.at(team.repo).rules["main"] = BranchRules(checks=frozenset({"seconder/quality"}))
    seen = opened(team, team.ann, "feature")
    await team.send(seen)
    [(number, state)] = team.world.at(team.repo).checks.items()
    reset = CheckState(state.name, state.head_sha, state.external_id, None, state.title, state.summary)
    team.world.at(team.repo).checks[number] = reset
    await team.send(ChecksRerequested(repo=team.repo, sender=team.ann, head=seen.head, name=name))
    assert checks(team, seen.head) == {"seconder/quality": "success"}


async def test_asked_again_on_ours_the_gate_looks_again(team: Team) -> None:
    await team.file()
    await team.idle()
    pull = await pull_of(team)
    team.world.add_review(team.repo, pull.number, team.ann, "approved")  # its delivery is lost
    await team.send(ChecksRerequested(repo=team.repo, sender=team.guest, head=pull.head_sha))
    await team.idle()
    assert "gate_resolved" in await team.said()
