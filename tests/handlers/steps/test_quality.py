"""The quality gate's step: it judges the live head each time that it is woken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import HumanNote, PullRequest, Vote
from handlers.events import Actor
from handlers.ports import CheckState, Commit, Later, LineComment, Missing, Refused, Unknown, Word
from handlers.steps import quality
from handlers.work import Work
from tests.fakes.actors import submit, write
from tests.fakes.team import Team
from tests.handlers.steps.scene import ready


@pytest.fixture
async def open_gate(team: Team) -> Team:
    await team.begin()
    await ready(team)
    return team


async def step(team: Team, visit: int = 1) -> Commit:
    return await quality.run(await team.work("quality", visit))


async def again(work: Work) -> Commit:
    """The same step, woken once more."""
    await work.context.states.of(work.run.id, work.context.store.runs)
    return await quality.run(work)


def check(team: Team) -> CheckState:
    """Our one check run."""
    [found] = team.world.at(team.repo).checks.values()
    return found


async def head(team: Team) -> str:
    pull = (await team.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    return pull.head_sha


def opened(commit: Commit) -> dict[str, object]:
    [event] = commit.events
    assert event.name == "gate_opened"
    return dict(event.data)


async def test_it_waits_for_people(open_gate: Team) -> None:
    commit = await step(open_gate)
    data = opened(commit)
    assert commit.outcome == "parked"
    assert (data["gate"], data["head"], data["who"]) == ("quality", await head(open_gate), ["max", "ann"])
    shown = check(open_gate)
    assert (shown.name, shown.conclusion, shown.head_sha) == (
        "seconder/quality",
        "action_required",
        await head(open_gate),
    )
    assert [button.identifier for button in shown.buttons] == ["look-again"]
    assert shown.external_id == f"{open_gate.run}:quality:{await head(open_gate)}"


async def test_what_it_waits_for_is_said_once(open_gate: Team) -> None:
    work = await open_gate.work("quality")
    commit = await quality.run(work)
    await open_gate.put(events=commit.events)
    assert (await again(work)).events == ()
    assert len(open_gate.world.at(open_gate.repo).checks) == 1


async def test_it_passes_when_enough_have_approved(open_gate: Team) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    commit = await step(open_gate)
    [event] = commit.events
    assert commit.outcome == "done"
    assert (event.name, event.data) == (
        "gate_resolved",
        {"gate": "quality", "head": await head(open_gate), "by": ["ann"]},
    )
    assert (check(open_gate).conclusion, check(open_gate).buttons) == ("success", ())


@pytest.mark.parametrize("who", ["rita", "guest"])
async def test_who_does_not_count(open_gate: Team, who: str) -> None:
    """Rita asked for the change, the guest may not write."""
    open_gate.world.add_review(open_gate.repo, 2, getattr(open_gate, who), "approved")
    commit = await step(open_gate)
    assert commit.outcome == "parked"
    assert who in str(opened(commit)["why"])


async def test_the_requester_counts_where_the_operator_says_so(open_gate: Team) -> None:
    open_gate.with_options(requester_may_approve=True)
    open_gate.world.add_review(open_gate.repo, 2, open_gate.rita, "approved")
    assert (await step(open_gate)).outcome == "done"


async def test_two_where_two_are_needed(open_gate: Team) -> None:
    open_gate.with_options(required_approvals=2)
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    assert "one approving review" in str(opened(await step(open_gate))["need"])
    open_gate.world.add_review(open_gate.repo, 2, open_gate.max, "approved")
    assert (await step(open_gate, 2)).outcome == "done"


async def test_a_push_voids_the_approval(open_gate: Team) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    pushed = open_gate.world.push(open_gate.repo, "seconder/issue-1-add-a-total", {"x.py": "x = 1\n"})
    commit = await step(open_gate)
    assert commit.outcome == "parked"
    assert opened(commit)["head"] == pushed
    assert check(open_gate).head_sha == pushed
    assert check(open_gate).conclusion == "action_required"


async def test_a_push_of_somebody_unknown_blocks_also_a_new_approval(open_gate: Team) -> None:
    open_gate.world.push(open_gate.repo, "seconder/issue-1-add-a-total", {"x.py": "x = 1\n"})
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    commit = await step(open_gate)
    assert commit.outcome == "parked"
    assert "somebody unknown" in str(opened(commit)["why"])


async def test_permission_is_read_live(open_gate: Team) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    open_gate.world.permit(open_gate.repo, open_gate.ann, "read")
    assert (await step(open_gate)).outcome == "parked"


@pytest.mark.parametrize("number", [pytest.param(1, id="on the issue"), pytest.param(2, id="on the pull request")])
async def test_the_hold_label_blocks(open_gate: Team, number: int) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    open_gate.world.issue(open_gate.repo, number).labels.append("Seconder:Hold")
    commit = await step(open_gate)
    assert "hold" in str(opened(commit)["why"])


FAILING = ["pulls.get", "reviews.list", "issues.get", "people.with_write", "people.standing", "people.bot"]


@pytest.mark.parametrize("verb", FAILING)
async def test_what_cannot_be_read_blocks(open_gate: Team, verb: str) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    work = await open_gate.work("quality")
    open_gate.world.fail(verb, Refused("403 forbidden"))
    commit = await quality.run(work)
    assert commit.outcome == "parked"
    assert check(open_gate).conclusion == "action_required"


@pytest.mark.parametrize("error", [Later("limit", 1.0), Unknown("line")], ids=["later", "unknown"])
@pytest.mark.parametrize("verb", FAILING)
async def test_what_may_heal_is_looked_at_again(open_gate: Team, verb: str, error: Later | Unknown) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    work = await open_gate.work("quality")
    open_gate.world.fail(verb, error)
    with pytest.raises(type(error)):
        await quality.run(work)


async def test_the_check_is_made_once_also_when_the_answer_is_lost(open_gate: Team) -> None:
    open_gate.world.drop_reply("checks.create")
    work = await open_gate.work("quality")
    await quality.run(work)
    await again(work)
    assert len(open_gate.world.at(open_gate.repo).checks) == 1


async def test_a_missing_pull_request_blocks(open_gate: Team) -> None:
    work = await open_gate.work("quality")
    open_gate.world.fail("pulls.get", Missing("404"))
    assert (await quality.run(work)).outcome == "parked"


# --- Changes requested


def ask_for_changes(team: Team, who: Actor, body: str = "Please rename it.") -> int:
    return team.world.add_review(team.repo, 2, who, "changes_requested", body)


async def test_a_request_for_changes_becomes_the_persons_note(open_gate: Team) -> None:
    made = ask_for_changes(open_gate, open_gate.ann, "Please\u200b rename it.")
    lines = open_gate.world.pull(open_gate.repo, 2).lines
    lines.append(LineComment(1, made, "calc.py", 6, "this\u202e one", open_gate.ann))
    lines.append(LineComment(2, made + 999, "calc.py", 1, "of another review", open_gate.max))
    lines.append(LineComment(3, made, "calc.py", None, "outdated", open_gate.ann))
    commit = await step(open_gate)
    [entry] = commit.entries
    note = HumanNote.model_validate(entry.value)
    assert commit.outcome == "done"
    assert [(event.name, event.data["via"]) for event in commit.events] == [("steered", "review")]
    assert (entry.author.kind, entry.author.name, entry.author.id) == ("person", "ann", open_gate.ann.id)
    assert (note.text, note.via) == ("Please rename it.", "review")
    assert [(one.path, one.line, one.text) for one in note.inline] == [
        ("calc.py", 6, "this one"),
        ("calc.py", None, "outdated"),
    ]
    assert check(open_gate).conclusion == "action_required"


async def test_the_newest_of_two_requests_is_taken(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.ann, "first")
    ask_for_changes(open_gate, open_gate.max, "second")
    [entry] = (await step(open_gate)).entries
    assert (entry.value["text"], entry.author.name) == ("second", "max")


async def test_a_request_by_somebody_without_write_asks_for_nothing(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.guest)
    assert (await step(open_gate)).outcome == "parked"


async def test_an_answered_request_is_not_passed_on_again(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.ann)
    await open_gate.put(*(await step(open_gate)).entries)
    commit = await step(open_gate, 2)
    assert (commit.outcome, commit.entries) == ("parked", ())
    data = opened(commit)
    assert (data["need"], data["who"], data["head"]) == ("another look", ["ann"], await head(open_gate))


@pytest.mark.parametrize(
    ("age_ms", "waits"),
    [
        pytest.param(1_000, True, id="delivered a moment ago: the list will show it"),
        pytest.param(60_000, False, id="not listed for a minute: it is not waited for any more"),
    ],
)
async def test_a_delivered_review_that_the_list_does_not_show_yet(open_gate: Team, age_ms: int, waits: bool) -> None:
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    review = open_gate.world.pull(open_gate.repo, 2).reviews[-1]
    vote = Vote(gate="quality", digest=await head(open_gate), word="yes", via="review", url=review.url)
    entry = open_gate.entry("vote", vote, open_gate.ann)
    await open_gate.put(entry.model_copy(update={"at": open_gate.context.clock.now_ms() - age_ms}))
    open_gate.world.lag("reviews.list", times=1)
    work = await open_gate.work("quality")
    if waits:
        with pytest.raises(Later, match="does not list"):
            await quality.run(work)
        assert (await quality.run(work)).outcome == "done"
    else:
        assert (await quality.run(work)).outcome == "parked"


async def test_a_new_request_after_the_answer_is_passed_on(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.ann)
    await open_gate.put(*(await step(open_gate)).entries)
    ask_for_changes(open_gate, open_gate.ann, "Not quite.")
    [entry] = (await step(open_gate, 2)).entries
    assert entry.value["text"] == "Not quite."


async def test_the_reviewers_own_approval_lifts_the_request(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.ann)
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    assert (await step(open_gate)).outcome == "done"


async def test_a_dismissed_request_asks_for_nothing(open_gate: Team) -> None:
    ask_for_changes(open_gate, open_gate.ann)
    reviews = open_gate.world.pull(open_gate.repo, 2).reviews
    reviews[-1] = replace(reviews[-1], state="dismissed")
    assert (await step(open_gate)).outcome == "parked"


async def test_the_developer_hears_it_and_the_gate_waits_for_the_same_person(team: Team) -> None:
    plays = team.actors.plays["developer"]
    plays.append([write("calc.py", "def total(n):\n    return sum(n) + 0\n"), submit(summary="Rename it.")])
    await team.file()
    await team.idle()
    ask_for_changes(team, team.ann)
    await team.store.runs.vote(team.run, Word(team.cause()))
    before = len(team.model.requests)
    await team.idle()
    assert team.actors.asked[before] == ("developer", 2)
    assert "Please rename it." in str(team.model.requests[before].messages)
    state = await team.state()
    waiting = state.last("gate_opened")
    assert waiting is not None
    assert waiting.data["need"] == "another look"
    assert len(team.world.at(team.repo).pulls) == 1


async def test_a_merge_by_hand_ends_the_run(open_gate: Team) -> None:
    merged = await open_gate.world.pulls.merge(open_gate.repo, 2, await head(open_gate), "by hand")
    commit = await step(open_gate)
    [entry] = commit.entries
    assert (commit.outcome, commit.ending) == ("done", "run_completed")
    assert (entry.value["outcome"], entry.value["merged_sha"]) == ("merged", merged)
    assert [event.name for event in commit.events] == ["run_completed"]


NAMES = [
    pytest.param("I looked at {head}.", True, id="whole"),
    pytest.param("`{short}`, and it is good", True, id="seven digits"),
    pytest.param("Fine by me (((((((", False, id="only marks"),
    pytest.param("Well....... ok", False, id="dots"),
    pytest.param("{six}.......", False, id="too few digits with dots"),
    pytest.param("", False, id="nothing"),
]


@pytest.mark.parametrize(("text", "counts"), NAMES)
async def test_the_only_writer_decides_by_naming_the_commit(open_gate: Team, text: str, counts: bool) -> None:
    team, sha = open_gate, await head(open_gate)
    for who in (team.max, team.ann):
        team.world.permit(team.repo, who, "read")
    words = text.format(head=sha, short=sha[:7], six=sha[:6])
    team.world.add_review(team.repo, 2, team.rita, "approved", body=words)
    await step(team)
    assert (check(team).conclusion == "success") is counts


async def test_another_base_branch_is_another_change(open_gate: Team) -> None:
    """The head is the same, but what would be merged where is not what was asked for and approved."""
    team = open_gate
    team.world.add_review(team.repo, 2, team.ann, "approved")
    team.world.at(team.repo).pulls[2].base = "release"
    assert (await step(team)).outcome == "parked"
    assert check(team).conclusion == "action_required"
    assert "main" in check(team).title + check(team).summary + check(team).text


async def test_a_look_costs_no_request_for_each_who_could_write(open_gate: Team) -> None:
    """In a large organisation hundreds may; anybody's comment makes the gate look again."""
    for number in range(40):
        open_gate.world.add_person(open_gate.repo, f"p{number}", "write")
    open_gate.world.add_review(open_gate.repo, 2, open_gate.ann, "approved")
    before = open_gate.world.count("people.standing")
    await step(open_gate)
    assert open_gate.world.count("people.standing") - before == 1
