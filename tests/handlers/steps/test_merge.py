"""The merge gate's step: everything is judged once more, then exactly that head is merged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import PullRequest, Vote
from handlers.events import Actor, RepoRef
from handlers.ports import Commit, Conflicted, Later, Refused
from handlers.publisher import Unsettled
from handlers.steps import merge
from tests.fakes.github import FakePulls
from tests.fakes.team import Team
from tests.handlers.orders_scene import command
from tests.handlers.steps.scene import ready

BRANCH = "seconder/issue-1-add-a-total"


@pytest.fixture
async def approved(team: Team) -> Team:
    await team.begin()
    await ready(team)
    team.world.add_review(team.repo, 2, team.ann, "approved")
    return team


async def head(team: Team) -> str:
    return (await team.world.pulls.get(team.repo, 2)).head_sha


async def ask(team: Team, who: Actor | None = None, sha: str | None = None) -> None:
    """Somebody says /merge on the present head."""
    vote = Vote(gate="merge", digest=sha or await head(team), word="yes", via="command")
    await team.put(team.entry("vote", vote, who or team.max))


async def step(team: Team, visit: int = 1) -> Commit:
    return await merge.run(await team.work("merge", visit))


def summary(commit: Commit) -> dict[str, object]:
    [entry] = commit.entries
    assert entry.kind == "summary"
    return entry.value


def sent_back(commit: Commit) -> PullRequest:
    """The pull request that goes back to the quality gate."""
    [entry] = commit.entries
    assert [event.name for event in commit.events] == ["gate_voided"]
    pull = PullRequest.model_validate(entry.value)
    assert pull.action == "pushed"
    return pull


async def test_it_waits_for_the_word_of_a_maintainer(approved: Team) -> None:
    commit = await step(approved)
    [event] = commit.events
    assert commit.outcome == "parked"
    assert (event.data["gate"], event.data["who"]) == ("merge", ["max"])
    assert "/merge" in str(event.data["need"])
    assert approved.world.count("pulls.merge") == 0


async def test_what_it_waits_for_is_said_once(approved: Team) -> None:
    work = await approved.work("merge")
    await approved.put(events=(await merge.run(work)).events)
    await approved.state()
    assert (await merge.run(work)).events == ()


async def test_it_merges_exactly_the_head(approved: Team) -> None:
    sha = await head(approved)
    await ask(approved)
    commit = await step(approved)
    pull = await approved.world.pulls.get(approved.repo, 2)
    assert pull.merged
    assert approved.world.commit(approved.repo, pull.merge_sha or "").parents[1] == sha
    assert (commit.outcome, commit.ending) == ("done", "run_completed")
    assert summary(commit)["merged_sha"] == pull.merge_sha
    assert [(event.name, event.data.get("by")) for event in commit.events] == [
        ("run_completed", None),
        ("gate_resolved", ["max"]),
    ]


@pytest.mark.parametrize("who", ["ann", "rita", "guest"])
async def test_who_may_not_merge(approved: Team, who: str) -> None:
    await ask(approved, getattr(approved, who))
    commit = await step(approved)
    assert commit.outcome == "parked"
    assert approved.world.count("pulls.merge") == 0


async def test_a_maintainer_who_is_none_any_more(approved: Team) -> None:
    await ask(approved)
    approved.world.permit(approved.repo, approved.max, "write")
    assert (await step(approved)).outcome == "parked"


async def test_the_word_for_an_older_head_does_not_count(approved: Team) -> None:
    await ask(approved, sha="b" * 40)
    assert (await step(approved)).outcome == "parked"
    assert approved.world.count("pulls.merge") == 0


async def test_a_push_gives_the_decision_back(approved: Team) -> None:
    await ask(approved)
    pushed = approved.world.push(approved.repo, BRANCH, {"x.py": "x = 1\n"})
    pull = sent_back(await step(approved))
    assert (pull.head_sha, pull.tree) == (pushed, "")
    assert approved.world.count("pulls.merge") == 0


@pytest.mark.parametrize("state", ["dismissed", "changes_requested"])
async def test_an_approval_that_is_taken_back_gives_the_decision_back(approved: Team, state: str) -> None:
    await ask(approved)
    approved.world.add_review(approved.repo, 2, approved.ann, state)
    tree = (await approved.state()).board.live("pull_request")
    assert tree is not None
    assert sent_back(await step(approved)).tree == tree.value["tree"]
    assert approved.world.count("pulls.merge") == 0


async def test_the_hold_label_gives_the_decision_back(approved: Team) -> None:
    await ask(approved)
    approved.world.issue(approved.repo, approved.issue).labels.append("seconder:hold")
    sent_back(await step(approved))
    assert approved.world.count("pulls.merge") == 0


async def test_what_cannot_be_read_merges_nothing(approved: Team) -> None:
    await ask(approved)
    work = await approved.work("merge")
    approved.world.fail("reviews.list", Refused("403"))
    sent_back(await merge.run(work))
    assert approved.world.count("pulls.merge") == 0


async def test_a_head_that_moves_in_the_last_moment(approved: Team) -> None:
    await ask(approved)
    work = await approved.work("merge")
    approved.world.fail("pulls.merge", Conflicted("409 Head branch was modified"))
    sent_back(await merge.run(work))


class Racing(FakePulls):
    """Somebody pushes after everything was judged, right before the merge."""

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        self._world.push(repo, BRANCH, {"calc.py": "sneaked = 1\n"})
        return await super().merge(repo, number, head_sha, title)


class Twice(FakePulls):
    """A worker that had lost the step merges in the moment between our look and our call."""

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        await super().merge(repo, number, head_sha, title)
        raise Conflicted("405 Pull request is not mergeable")


async def test_a_merge_that_happened_in_the_last_moment_is_the_merge(approved: Team) -> None:
    await ask(approved)
    approved.context = replace(approved.context, github=replace(approved.context.github, pulls=Twice(approved.world)))
    commit = await step(approved)
    assert commit.ending == "run_completed"
    assert commit.entries[0].value["text"] == "merged at the word of max"


async def test_what_was_pushed_in_the_last_moment_is_not_merged(approved: Team) -> None:
    await ask(approved)
    github = replace(approved.context.github, pulls=Racing(approved.world))
    approved.context = replace(approved.context, github=github)
    pull = sent_back(await step(approved))
    assert pull.head_sha == await head(approved)
    assert not (await approved.world.pulls.get(approved.repo, 2)).merged


async def test_a_merge_that_github_refuses_is_said(approved: Team) -> None:
    await ask(approved)
    work = await approved.work("merge")
    approved.world.fail("pulls.merge", Refused("405 At least 2 approving reviews are required"))
    with pytest.raises(Refused, match="At least 2"):
        await merge.run(work)


async def test_a_lost_answer_is_looked_for(approved: Team) -> None:
    await ask(approved)
    work = await approved.work("merge")
    approved.world.drop_reply("pulls.merge")
    commit = await merge.run(work)
    assert summary(commit)["merged_sha"] == (await approved.world.pulls.get(approved.repo, 2)).merge_sha
    assert approved.world.count("pulls.merge") == 1


async def test_a_limit_is_waited_out(approved: Team) -> None:
    await ask(approved)
    work = await approved.work("merge")
    approved.world.fail("pulls.merge", Later("limit", 2.0))
    with pytest.raises(Later):
        await merge.run(work)
    with pytest.raises(Unsettled):
        await merge.run(work)
    assert approved.world.count("pulls.merge") == 1


async def test_a_merge_whose_worker_died_before_it_said_so_is_no_merge_by_hand(approved: Team) -> None:
    sha = await head(approved)
    await ask(approved)
    work = await approved.work("merge")
    await approved.store.effects.attempt(work.lease, f"merge:{sha}")
    merged = await approved.world.pulls.merge(approved.repo, 2, sha, "ours")
    commit = await merge.run(work)
    assert summary(commit)["text"] == "merged at the word of max"
    assert (await approved.state()).receipts[f"merge:{sha}"] == {"merge": merged}


async def test_a_merge_by_hand_is_taken_as_it_is(approved: Team) -> None:
    sha = await approved.world.pulls.merge(approved.repo, 2, await head(approved), "by hand")
    commit = await step(approved)
    assert (summary(commit)["merged_sha"], summary(commit)["text"]) == (sha, "merged by hand")
    assert [event.name for event in commit.events] == ["run_completed"]


# --- The whole way


async def test_from_the_issue_to_the_merge(team: Team) -> None:
    await team.file()
    await team.idle()
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await command(team, "/merge", team.max, on_pull=2)
    await team.idle()
    assert (await team.facts()).status == "run_completed"
    assert (await team.world.pulls.get(team.repo, 2)).merged
    assert (await team.said())[-3:] == ["gate_resolved", "run_completed", "gate_resolved"]
    check = team.check()
    assert check.conclusion == "success"


async def test_merge_said_before_the_approval_waits_for_it(team: Team) -> None:
    await team.file()
    await team.idle()
    await command(team, "/merge", team.max, on_pull=2)
    await team.idle()
    assert not (await team.world.pulls.get(team.repo, 2)).merged
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await command(team, "/status", team.guest, on_pull=2)
    await team.idle()
    assert (await team.world.pulls.get(team.repo, 2)).merged


async def test_an_approval_taken_back_at_the_merge_gate_is_asked_for_again(team: Team) -> None:
    await team.file()
    await team.idle()
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await command(team, "/status", on_pull=2)
    await team.idle()
    assert (await team.said())[-1] == "gate_opened"
    team.world.add_review(team.repo, 2, team.ann, "dismissed")
    await command(team, "/status", on_pull=2)
    await team.idle()
    assert (await team.said())[-2:] == ["gate_voided", "gate_opened"]
    last = (await team.state()).last("gate_opened")
    assert last is not None
    assert last.data["gate"] == "quality"
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await command(team, "/merge", team.max, on_pull=2)
    await team.idle()
    assert (await team.facts()).status == "run_completed"
