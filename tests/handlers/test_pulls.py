"""What happens on our pull requests and issues besides commands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import PullRequest, Vote
from handlers.events import (
    Actor,
    GateButtonPressed,
    IssueClosed,
    IssueLabeled,
    IssueUnlabeled,
    PrClosed,
    PrMerged,
    PrSynchronized,
    ReviewDismissed,
    ReviewSubmitted,
)
from tests.fakes.actors import submit
from tests.fakes.team import Team
from tests.handlers.orders_scene import comment


async def at_the_gate(team: Team) -> PullRequest:
    await team.file()
    await team.idle()
    pull = (await team.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    return pull


async def review(
    team: Team, pull: PullRequest, who: Actor, state: str, body: str = "", commit: str | None = None, **more: object
) -> str:
    """Somebody reviews: it stands at GitHub, and its event arrives."""
    made = team.world.add_review(team.repo, pull.number, who, state, body)
    reviews = team.world.pull(team.repo, pull.number).reviews
    if commit is not None:
        reviews[-1] = replace(reviews[-1], commit=commit)
    record = ReviewSubmitted.model_validate(
        {
            "repo": team.repo,
            "sender": who,
            "number": pull.number,
            "review_id": made,
            "state": state,
            "body": body,
            "head": commit or pull.head_sha,
            "current_head": pull.head_sha,
            "author": who,
            "url": reviews[-1].url,
            **more,
        }
    )
    return await team.send(record)


async def votes(team: Team) -> list[tuple[str, str, str, str]]:
    found = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    return [
        (entry.author.name, vote.gate, vote.word, vote.digest)
        for entry in found
        for vote in [Vote.model_validate(entry.value)]
    ]


async def quality_opened(team: Team) -> bool:
    """Whether the quality gate has opened."""
    return bool((await team.state()).newest("gate_resolved", "gate", "quality"))


def pull_event(team: Team, pull: PullRequest, who: Actor) -> dict[str, object]:
    return {
        "repo": team.repo,
        "sender": who,
        "number": pull.number,
        "head": pull.head_sha,
        "head_ref": pull.branch,
        "head_repo_id": team.repo.id,
        "base_ref": "main",
        "author": team.world.bot,
    }


@pytest.mark.parametrize(("state", "word"), [("approved", "yes"), ("changes_requested", "no")])
async def test_a_review_is_a_vote_with_its_head(team: Team, state: str, word: str) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, state, "words")
    assert await votes(team) == [("ann", "quality", word, pull.head_sha)]


async def test_an_approval_opens_the_gate(team: Team) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, "approved")
    await team.idle()
    assert await quality_opened(team)


@pytest.mark.parametrize("who", ["guest", "rita"])
async def test_an_approval_that_does_not_count_is_recorded_and_opens_nothing(team: Team, who: str) -> None:
    pull = await at_the_gate(team)
    person: Actor = getattr(team, who)
    await review(team, pull, person, "approved")
    await team.idle()
    assert [vote[0] for vote in await votes(team)] == [who]
    assert not await quality_opened(team)


async def test_the_review_of_an_older_head_is_a_vote_on_that_one(team: Team) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, "approved", commit="b" * 40)
    await team.idle()
    assert await votes(team) == [("ann", "quality", "yes", "b" * 40)]
    assert not await quality_opened(team)


@pytest.mark.parametrize("kind", ["Bot", "Organization", "Mannequin"])
async def test_machines_do_not_vote(team: Team, kind: str) -> None:
    pull = await at_the_gate(team)
    robot = team.world.add_person(team.repo, "robot", "admin", kind)
    await review(team, pull, robot, "approved")
    await team.idle()
    assert await votes(team) == []
    assert not await quality_opened(team)


async def test_a_deleted_account_opens_nothing(team: Team) -> None:
    pull = await at_the_gate(team)
    ghost = Actor(id=10137, login="ghost")
    await review(team, pull, ghost, "approved")
    await team.idle()
    assert not await quality_opened(team)


async def test_a_review_without_a_commit_is_no_vote(team: Team) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, "approved", head=None)
    assert await votes(team) == []


async def test_a_remark_is_no_vote(team: Team) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, "commented", "nice")
    assert await votes(team) == []


async def test_a_long_review_is_cut_in_the_vote(team: Team) -> None:
    pull = await at_the_gate(team)
    await review(team, pull, team.ann, "changes_requested", "x" * 60_000)
    [entry] = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    assert len(str(entry.value["words"])) == 2_000


async def test_a_dismissal_is_the_word_of_who_dismissed(team: Team) -> None:
    pull = await at_the_gate(team)
    record = ReviewDismissed(
        repo=team.repo,
        sender=team.max,
        number=pull.number,
        review_id=5,
        state="dismissed",
        body="",
        head=pull.head_sha,
        current_head=pull.head_sha,
        author=team.ann,
    )
    await team.send(record)
    [entry] = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    assert (entry.author.name, entry.value["word"], entry.value["via"]) == ("max", "no", "dismissal")


async def test_the_same_review_twice_is_one_vote(team: Team) -> None:
    pull = await at_the_gate(team)
    cause = await review(team, pull, team.ann, "approved")
    record = ReviewSubmitted(
        repo=team.repo,
        sender=team.ann,
        number=pull.number,
        review_id=1,
        state="approved",
        body="",
        head=pull.head_sha,
        current_head=pull.head_sha,
        author=team.ann,
    )
    await team.send(record, cause)
    assert len(await votes(team)) == 1


async def test_reviews_of_other_pull_requests_are_none_of_ours(team: Team) -> None:
    pull = await at_the_gate(team)
    before = (await team.facts()).length
    await review(team, pull, team.ann, "approved", number=77)
    assert (await team.facts()).length == before


# --- Closing


async def test_closing_the_pull_request_ends_the_run(team: Team) -> None:
    pull = await at_the_gate(team)
    team.world.issue(team.repo, pull.number).state = "closed"
    await team.send(PrClosed.model_validate(pull_event(team, pull, team.max)))
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.state()).cancelled == "max closed the pull request"
    check = team.check()
    assert (check.conclusion, check.buttons) == ("cancelled", ())


async def test_closing_another_pull_request_ends_nothing(team: Team) -> None:
    pull = await at_the_gate(team)
    await team.send(PrClosed.model_validate({**pull_event(team, pull, team.max), "number": 77}))
    assert (await team.facts()).status == "open"


async def close_issue(team: Team, still_open: bool = False) -> None:
    if not still_open:
        team.world.issue(team.repo, team.issue).state = "closed"
    await team.send(IssueClosed(repo=team.repo, sender=team.ann, number=team.issue, author=team.rita))


async def test_closing_the_issue_ends_the_run(team: Team) -> None:
    await team.begin()
    await close_issue(team)
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.state()).cancelled == "ann closed the issue"


async def test_an_issue_that_is_open_again_by_now_ends_nothing(team: Team) -> None:
    await team.begin()
    await close_issue(team, still_open=True)
    assert (await team.facts()).status == "open"


async def test_an_issue_without_a_run_may_close(team: Team) -> None:
    await close_issue(team)
    assert await team.store.runs.recent(5) == []


async def test_closing_after_the_end_changes_nothing(team: Team) -> None:
    await team.begin()
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.idle()
    await close_issue(team)
    assert (await team.state()).cancelled == "rita stopped it"


async def test_a_merge_that_closes_the_issue_is_no_stop(team: Team) -> None:
    pull = await at_the_gate(team)
    team.world.pull(team.repo, pull.number).draft = False
    await team.world.pulls.merge(team.repo, pull.number, pull.head_sha, "by hand")
    await close_issue(team)
    await team.send(PrMerged.model_validate(pull_event(team, pull, team.max)))
    await team.idle()
    assert (await team.facts()).status == "run_completed"


# --- Labels, pushes, buttons


async def hold(team: Team, number: int, on: bool) -> None:
    labels = team.world.issue(team.repo, number).labels
    labels.append("seconder:hold") if on else labels.remove("seconder:hold")
    kind = IssueLabeled if on else IssueUnlabeled
    about = {"number": number, "is_pull_request": number != team.issue, "label": "seconder:hold"}
    await team.send(kind.model_validate({"repo": team.repo, "sender": team.max, "author": team.rita, **about}))


@pytest.mark.parametrize("number", [pytest.param(1, id="on the issue"), pytest.param(2, id="on the pull request")])
async def test_the_hold_label_stops_the_gate_and_lets_it_go_again(team: Team, number: int) -> None:
    pull = await at_the_gate(team)
    await hold(team, number, True)
    await review(team, pull, team.ann, "approved")
    await team.idle()
    assert not await quality_opened(team)
    opened = (await team.state()).last("gate_opened")
    assert opened is not None
    assert "seconder:hold" in str(opened.data["why"])
    await hold(team, number, False)
    await team.idle()
    assert await quality_opened(team)


async def test_a_push_is_looked_at(team: Team) -> None:
    pull = await at_the_gate(team)
    team.world.push(team.repo, pull.branch, {"calc.py": "x = 1\n"})
    await team.send(PrSynchronized.model_validate(pull_event(team, pull, team.guest)))
    await team.idle()
    opened = (await team.state()).last("gate_opened")
    assert opened is not None
    assert "somebody unknown" in str(opened.data["why"])


async def press(team: Team, external_id: str | None, repo_id: int | None = None) -> None:
    repo = team.repo if repo_id is None else team.repo.model_copy(update={"id": repo_id})
    await team.send(
        GateButtonPressed(
            repo=repo,
            sender=team.guest,
            head="a" * 40,
            check_name="seconder/quality",
            check_run_id=1,
            external_id=external_id,
            button="look-again",
        )
    )


async def test_a_button_makes_the_gate_look_again(team: Team) -> None:
    pull = await at_the_gate(team)
    team.world.add_review(team.repo, pull.number, team.ann, "approved")
    await press(team, f"{team.run}:quality:{pull.head_sha}")
    await team.idle()
    assert await quality_opened(team)


@pytest.mark.parametrize(
    ("external_id", "repo_id"),
    [
        pytest.param("RUN:quality:x", 424242, id="of another repository"),
        pytest.param("1-1-1:quality:x", None, id="of another run"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="none"),
        pytest.param(":::", None, id="colons"),
    ],
)
async def test_other_buttons_wake_nothing(team: Team, external_id: str | None, repo_id: int | None) -> None:
    pull = await at_the_gate(team)
    team.world.add_review(team.repo, pull.number, team.ann, "approved")
    await press(team, external_id and external_id.replace("RUN", team.run), repo_id)
    await team.idle()
    assert not await quality_opened(team)


# --- Plain comments


@pytest.mark.parametrize("who", ["ann", "guest"])
async def test_a_comment_while_nothing_is_asked_says_nothing(team: Team, who: str) -> None:
    await team.begin()
    await comment(team, "I think so too", getattr(team, who))
    assert (await team.state()).board.live("human_note") is None


@pytest.fixture
async def asking(team: Team) -> Team:
    team.actors.plays["product_manager"] = [[submit(decision="questions", questions=["Which?"])]]
    await team.file()
    await team.idle()
    return team


NO_ANSWERS = [
    pytest.param("guest", "issue", False, id="without write"),
    pytest.param("ann", "line", False, id="on a line"),
    pytest.param("ann", "issue", True, id="on a pull request"),
]


@pytest.mark.parametrize(("who", "where", "on_pull"), NO_ANSWERS)
async def test_what_is_no_answer(asking: Team, who: str, where: str, on_pull: bool) -> None:
    await comment(asking, "JSON", getattr(asking, who), where, asking.issue if on_pull else None)
    assert (await asking.state()).board.live("human_note") is None


async def test_our_own_comment_and_other_bots_are_no_answer(asking: Team) -> None:
    await comment(asking, "JSON", asking.world.bot)
    await comment(asking, "JSON", asking.world.add_person(asking.repo, "robot", "admin", "Bot"))
    assert (await asking.state()).board.live("human_note") is None


async def test_hidden_characters_of_an_answer_do_not_reach_the_team(asking: Team) -> None:
    await comment(asking, "JSON\u200b\u202e", asking.ann)
    note = (await asking.state()).board.live("human_note")
    assert note is not None
    assert (note.value["text"], note.value["via"]) == ("JSON", "answer")
