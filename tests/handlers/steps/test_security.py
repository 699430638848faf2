"""The security gate's step, and the look through a change before it is pushed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agents.board import Entry, Findings, PullRequest, Review, ReviewComment, Vote
from gates.rules import digest
from handlers.events import Actor
from handlers.ports import Commit, Danger, Missing
from handlers.steps import mark_ready, merge, publish, security
from handlers.steps.looking import as_findings
from handlers.work import Work
from tests.fakes.actors import submit, write
from tests.fakes.team import Team
from tests.handlers.orders_scene import command
from tests.handlers.steps.scene import CHANGED, end, proven, published

LOGIN: dict[str, str | None] = {"src/auth.py": "def allowed(user):\n    return user.admin\n"}
SHELL = {"run.py": "import os\nos.system(c)\n"}
B605 = Danger(2, 2, "B605", "high", "high", "Starting a process with a shell.")


@pytest.fixture
async def begun(team: Team) -> Team:
    await team.begin()
    return team


async def to_the_gate(
    team: Team, changes: Mapping[str, str | None], *remarks: ReviewComment, visit: int = 1
) -> PullRequest:
    """The change is pushed to a draft and approved by the reviewer agent."""
    pull = await published(team, changes, visit)
    review = Review(approved=True, summary="Good.", tree=pull.tree, comments=remarks)
    await team.put(team.entry("review", review, "reviewer"))
    return pull


async def ask(team: Team, visit: int = 1) -> tuple[Work, Commit]:
    work = await team.work("security", visit)
    return work, await security.run(work)


async def again(work: Work) -> Commit:
    """The same step, woken once more."""
    await work.context.states.of(work.run.id, work.context.store.runs)
    return await security.run(work)


def opened(commit: Commit) -> dict[str, object]:
    [event] = commit.events
    assert (commit.outcome, event.name) == ("parked", "gate_opened")
    return dict(event.data)


async def vote(team: Team, who: Actor, on: object, word: str = "yes", words: str = "") -> Entry:
    value = Vote.model_validate({"gate": "security", "digest": on, "word": word, "words": words, "via": "command"})
    entry = team.entry("vote", value, who)
    await team.put(entry)
    return entry


def passed(commit: Commit) -> dict[str, object]:
    [event] = commit.events
    assert (commit.outcome, event.name) == ("done", "gate_resolved")
    return dict(event.data)


async def test_without_findings_it_passes_by_itself(begun: Team) -> None:
    pull = await to_the_gate(begun, CHANGED)
    _, commit = await ask(begun)
    assert passed(commit) == {"gate": "security", "head": pull.head_sha, "by": [], "digest": digest(())}
    check = begun.check("security")
    assert (check.conclusion, check.title) == ("success", "Nothing found that needs a person")
    assert begun.world.count("people.with_write") == 0
    assert begun.world.count("issues.comment") == 0


async def test_with_findings_it_waits_and_says_for_what(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    _, commit = await ask(begun)
    data = opened(commit)
    found = (await begun.state()).board.value("findings", Findings)
    assert found is not None
    assert data == {
        "gate": "security",
        "head": pull.head_sha,
        "need": f"`/approve security {pull.head_sha[:7]}`",
        "who": ["max", "ann"],
        "why": "1 finding to be decided",
        "digest": digest(as_findings(found)),
    }
    check = begun.check("security")
    assert (check.conclusion, check.external_id) == ("action_required", f"{begun.run}:security:{pull.head_sha}")
    assert [(one.path, one.line, one.level, one.title) for one in check.annotations] == [
        ("src/auth.py", 1, "warning", "word.auth")
    ]
    [prompt] = [one.body for one in begun.world.issue(begun.repo, pull.number).comments]
    assert f"/approve security {pull.head_sha[:7]}" in prompt
    assert "src/auth.py" in prompt
    assert "**max** or **ann**" in prompt


async def test_it_asks_once(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    work, commit = await ask(begun)
    await begun.put(events=commit.events)
    assert (await again(work)).events == ()
    assert len(begun.world.issue(begun.repo, pull.number).comments) == 1
    assert begun.world.count("checks.create") == 1


VOTES = [
    pytest.param("ann", "yes", True, id="somebody with write"),
    pytest.param("rita", "yes", False, id="the requester"),
    pytest.param("guest", "yes", False, id="a reader"),
]


@pytest.mark.parametrize(("login", "word", "opens"), VOTES)
async def test_whose_word_opens_it(begun: Team, login: str, word: str, opens: bool) -> None:
    await to_the_gate(begun, LOGIN)
    work, commit = await ask(begun)
    who: Actor = getattr(begun, login)
    await vote(begun, who, opened(commit)["digest"], word)
    commit = await again(work)
    if opens:
        assert passed(commit)["by"] == [login]
        assert begun.check("security").conclusion == "success"
    else:
        assert f"the word of {login} does not count" in str(opened(commit)["why"])


async def test_the_owner_of_the_path_decides(begun: Team) -> None:
    """By the base branch's CODEOWNERS: others with write do not count, and are not asked."""
    begun.world.push(begun.repo, "main", {"CODEOWNERS": "/src/ @max\n"})
    await to_the_gate(begun, LOGIN)
    work, commit = await ask(begun)
    data = opened(commit)
    assert data["who"] == ["max"]
    await vote(begun, begun.ann, data["digest"])
    assert "they do not own src/auth.py" in str(opened(await again(work))["why"])
    await vote(begun, begun.max, data["digest"])
    assert passed(await again(work))["by"] == ["max"]


async def test_a_vote_on_the_head_is_no_vote_on_what_was_found(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    work, commit = await ask(begun)
    await begun.put(events=commit.events)
    await vote(begun, begun.ann, pull.head_sha)
    assert (await again(work)).outcome == "parked"


async def test_a_push_that_leaves_the_findings_alone_keeps_the_vote(begun: Team) -> None:
    await to_the_gate(begun, LOGIN)
    _, commit = await ask(begun)
    await vote(begun, begun.ann, opened(commit)["digest"])
    pull = await to_the_gate(begun, {**LOGIN, **CHANGED}, visit=2)
    work = await begun.work("security", 2)
    assert passed(await security.run(work))["head"] == pull.head_sha


async def test_a_push_that_changes_them_asks_again(begun: Team) -> None:
    await to_the_gate(begun, LOGIN)
    _, commit = await ask(begun)
    first = opened(commit)
    await vote(begun, begun.ann, first["digest"])
    pull = await to_the_gate(begun, {"src/auth.py": "def allowed(user):\n    return True\n"}, visit=2)
    second = opened(await security.run(await begun.work("security", 2)))
    assert second["digest"] != first["digest"]
    assert second["head"] == pull.head_sha
    assert len(begun.world.issue(begun.repo, pull.number).comments) == 2


async def test_a_no_ends_the_run_with_its_reason(begun: Team) -> None:
    await to_the_gate(begun, LOGIN)
    work, commit = await ask(begun)
    await vote(begun, begun.ann, opened(commit)["digest"], "no", "this lets everybody in")
    await again(work)
    await begun.idle()
    facts, state = await begun.facts(), await begun.state()
    assert facts.status == "run_cancelled"
    assert state.cancelled == "ann said no to what was found: this lets everybody in"
    assert begun.check("security").conclusion == "cancelled"
    assert (await begun.world.pulls.get(begun.repo, 2)).state == "closed"


async def test_a_remark_on_security_by_the_reviewer_is_a_finding(begun: Team) -> None:
    remark = ReviewComment(file="calc.py", line=2, severity="nit", category="Security", message="Check the input.")
    pull = await to_the_gate(begun, CHANGED, remark)
    data = opened((await ask(begun))[1])
    assert data["head"] == pull.head_sha
    [shown] = begun.check("security").annotations
    assert (shown.path, shown.line, shown.title) == ("calc.py", 2, "review.security")


async def test_dangerous_code_is_a_finding_where_it_is_added(begun: Team) -> None:
    begun.scanner.dangers["run.py"] = (B605,)
    await to_the_gate(begun, SHELL)
    opened((await ask(begun))[1])
    assert begun.scanner.asked == ["run.py"]
    assert [(one.line, one.title) for one in begun.check("security").annotations] == [(2, "code.B605")]


async def test_a_file_that_is_no_python_after_all_is_for_people(begun: Team) -> None:
    begun.scanner.problems["run.py"] = "syntax error"
    begun.scanner.unreadable.add("run.py")
    await to_the_gate(begun, SHELL)
    opened((await ask(begun))[1])
    assert [one.title for one in begun.check("security").annotations] == ["code.unreadable"]


async def test_a_head_without_a_review_of_its_own_is_left_alone(begun: Team) -> None:
    await to_the_gate(begun, LOGIN)
    work = await begun.work("security")
    await published(begun, {**LOGIN, **CHANGED}, 2)
    commit = await again(work)
    assert (commit.outcome, commit.events) == ("done", ())


async def test_somebody_elses_commit_blocks(begun: Team) -> None:
    pull = await to_the_gate(begun, CHANGED)
    begun.world.push(begun.repo, pull.branch, {"x.py": "x"})
    data = opened((await ask(begun))[1])
    assert data["why"] == "a commit on this branch was pushed by somebody unknown"
    assert begun.check("security").conclusion == "action_required"


async def test_facts_that_cannot_be_read_block(begun: Team) -> None:
    await to_the_gate(begun, CHANGED)
    begun.world.fail("pulls.get", Missing("404"))
    assert "could not be read (Missing)" in str(opened((await ask(begun))[1])["why"])


async def test_a_merge_by_hand_past_the_gate_is_said(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    work, _ = await ask(begun)
    await begun.world.pulls.mark_ready(begun.repo, pull.number)
    await begun.world.pulls.merge(begun.repo, pull.number, pull.head_sha, "By hand")
    commit = await again(work)
    assert commit.ending == "run_completed"
    assert commit.entries[0].value["text"] == "merged by hand while the security gate was shut"


# --- What it guards is held back while it does not pass


async def test_nothing_leaves_draft_or_is_merged_while_it_is_shut(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    for step, node in ((mark_ready.run, "mark_ready"), (merge.run, "merge")):
        begun.world.add_review(begun.repo, pull.number, begun.max, "approved")
        if node == "merge":
            await begun.world.pulls.mark_ready(begun.repo, pull.number)
        commit = await step(await begun.work(node))
        [event] = commit.events
        assert (event.name, event.data["voids"]) == ("gate_voided", "security")
        assert not (await begun.world.pulls.get(begun.repo, pull.number)).merged
        assert (await begun.world.pulls.get(begun.repo, pull.number)).draft is (node == "mark_ready")


async def test_a_voter_who_loses_write_before_the_merge_counts_no_more(begun: Team) -> None:
    pull = await to_the_gate(begun, LOGIN)
    _, commit = await ask(begun)
    await vote(begun, begun.ann, opened(commit)["digest"])
    begun.world.add_review(begun.repo, pull.number, begun.max, "approved")
    await begun.world.pulls.mark_ready(begun.repo, pull.number)
    begun.world.at(begun.repo).permissions[begun.ann.id] = "read"
    [event] = (await merge.run(await begun.work("merge"))).events
    assert (event.name, event.data["voids"]) == ("gate_voided", "security")


async def test_a_run_from_before_this_gate_goes_on(begun: Team) -> None:
    await to_the_gate(begun, LOGIN)
    work = await begun.work("mark_ready")
    nodes = {name: node for name, node in work.workflow.nodes.items() if node.gate != "security"}
    old = replace(work, workflow=work.workflow.model_copy(update={"nodes": nodes}))
    assert [event.name for event in (await mark_ready.run(old)).events] == ["pr_ready"]


# --- The look through a change, before the push

NEVER = [
    pytest.param({".github/workflows/ci.yml": "on: push\n"}, "path.ci", id="a workflow"),
    pytest.param({"key.py": "KEY = 'AKIA" + "QYLPMN5HHHFPZAM2'\n"}, "secret.format", id="a key"),
    pytest.param({"a.py": "x = 1 # \u202e\n"}, "hidden.deceptive", id="a line that reads backwards"),
]


@pytest.mark.parametrize(("changes", "rule"), NEVER)
async def test_some_things_are_never_pushed(begun: Team, changes: dict[str, str | None], rule: str) -> None:
    await proven(begun, changes)
    work = await begun.work("publish")
    commit = await end(begun, work, await publish.run(work))
    [path] = changes
    assert (commit.outcome, [event.name for event in commit.events]) == ("failed", ["step_failed"])
    assert f"not pushed, because of {path}" in commit.error
    assert len(commit.error) <= 500
    [entry] = commit.entries
    assert [item["rule"] for item in entry.value["items"]] == [rule]  # type: ignore[attr-defined]
    assert list(begun.world.at(begun.repo).branches) == ["main"]
    await begun.idle()
    assert (await begun.said())[-1] == "run_stuck"


async def test_a_scanner_that_fails_keeps_everything_back_until_it_works(begun: Team) -> None:
    begun.scanner.problems["calc.py"] = "the scanner took longer than 10 s"
    await proven(begun)
    work = await begun.work("publish")
    commit = await publish.run(work)
    assert "could not be scanned" in commit.error
    await begun.put(*commit.entries)
    begun.scanner.problems.clear()
    assert (await again_publish(work)).outcome == "done"


async def again_publish(work: Work) -> Commit:
    await work.context.states.of(work.run.id, work.context.store.runs)
    return await publish.run(work)


async def test_the_same_tree_is_not_looked_through_twice(begun: Team) -> None:
    await published(begun)
    await published(begun, CHANGED, visit=2)
    assert begun.scanner.asked == ["calc.py"]
    assert len((await begun.state()).entries("findings")) == 1


async def waiting(team: Team) -> str:
    """A change to who may log in has come to the gate; returns the head."""
    team.actors.plays["developer"] = [
        [write("src/auth.py", LOGIN["src/auth.py"] or ""), submit(summary="Allow admins.")]
    ]
    await team.file()
    await team.idle()
    said = (await team.state()).last("gate_opened")
    assert said is not None
    assert said.data["gate"] == "security"
    assert (await team.world.pulls.get(team.repo, 2)).draft
    return str(said.data["head"])


async def test_the_whole_way_through_the_gate(team: Team) -> None:
    """From the issue to the prompt, the vote and the quality gate, as a worker does it."""
    head = await waiting(team)
    await command(team, f"/approve security {head[:7]}", team.rita, on_pull=2)
    await team.idle()
    assert (await team.said())[-1] == "gate_opened"
    assert not (await team.state()).newest("gate_resolved", "gate", "security")
    await command(team, f"/approve security {head[:7]}", team.ann, on_pull=2)
    await team.idle()
    assert (await team.said())[-3:] == ["gate_resolved", "pr_ready", "gate_opened"]
    assert not (await team.world.pulls.get(team.repo, 2)).draft


async def test_a_no_by_command_closes_the_pull_request(team: Team) -> None:
    await waiting(team)
    await command(team, "/reject security this lets everybody in", team.ann, on_pull=2)
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.world.pulls.get(team.repo, 2)).state == "closed"


async def test_an_approval_that_races_a_push_opens_nothing(team: Team) -> None:
    """Whichever comes first: the new head is somebody else's, and nobody has said yes to that."""
    head = await waiting(team)
    pull = await team.world.pulls.get(team.repo, 2)
    team.world.push(team.repo, pull.head_ref, {"src/auth.py": "def allowed(user):\n    return True\n"})
    await command(team, f"/approve security {head[:7]}", team.ann, on_pull=2)
    await team.say("nudge")
    await team.idle()
    assert "pr_ready" not in await team.said()
    assert (await team.world.pulls.get(team.repo, 2)).draft
