"""Steps that say something to people and wait or end."""

from __future__ import annotations

import pytest

from agents.board import Entry, HumanNote, Questions, Report, Review
from handlers.steps import asking
from tests.fakes.actors import submit, write
from tests.fakes.team import Team
from tests.handlers import values
from tests.handlers.steps.scene import published


@pytest.fixture
async def begun(team: Team) -> Team:
    await team.begin()
    return team


async def questions(team: Team) -> Entry:
    entry = team.entry("questions", Questions(questions=("Which?", "Why @everyone?")), "product_manager")
    await team.put(entry)
    return entry


# --- ask


async def test_questions_are_posted_once(begun: Team) -> None:
    await questions(begun)
    work = await begun.work("ask")
    assert (await asking.ask(work)).outcome == "parked"
    assert (await asking.ask(work)).outcome == "parked"
    [body] = begun.comments()
    assert "1. Which?" in body
    assert "/steer" in body
    assert "`@everyone`" in body


async def test_an_answer_wakes_the_product_manager(begun: Team) -> None:
    await questions(begun)
    work = await begun.work("ask")
    await asking.ask(work)
    note = begun.entry("human_note", HumanNote(text="JSON", via="answer"), begun.ann)
    await begun.put(note)
    await begun.state()
    commit = await asking.ask(work)
    [event] = commit.events
    assert commit.outcome == "done"
    assert (event.name, event.data) == ("steered", {"via": "answer", "entry": note.id})


@pytest.mark.parametrize("via", ["steer", "review"])
async def test_another_note_is_no_answer(begun: Team, via: str) -> None:
    await questions(begun)
    work = await begun.work("ask")
    await begun.put(begun.entry("human_note", HumanNote.model_validate({"text": "hm", "via": via}), begun.ann))
    await begun.state()
    assert (await asking.ask(work)).outcome == "parked"


async def test_an_answer_to_the_last_questions_is_none_to_these(begun: Team) -> None:
    await begun.put(begun.entry("human_note", HumanNote(text="JSON", via="answer"), begun.ann))
    await questions(begun)
    assert (await asking.ask(await begun.work("ask", 2))).outcome == "parked"


async def test_a_lost_answer_of_github_posts_no_second_comment(begun: Team) -> None:
    await questions(begun)
    begun.world.drop_reply("issues.comment")
    await asking.ask(await begun.work("ask"))
    assert len(begun.comments()) == 1


# --- decline


async def test_declining_says_why_and_ends(begun: Team) -> None:
    await begun.put(begun.entry("report", Report(outcome="declined", text="It is there already."), "product_manager"))
    work = await begun.work("decline")
    commit = await asking.decline(work)
    await asking.decline(work)
    assert (commit.outcome, commit.ending) == ("done", "run_declined")
    assert commit.entries[0].value["outcome"] == "declined"
    [body] = begun.comments()
    assert "It is there already." in body


# --- give_up


async def test_giving_up_says_so_in_the_pull_request(begun: Team) -> None:
    await published(begun)
    await begun.say("visits_exhausted", node="developer", visits=6)
    commit = await asking.give_up(await begun.work("give_up"))
    pull = await begun.world.pulls.get(begun.repo, 2)
    assert (commit.outcome, commit.ending) == ("done", "run_failed")
    assert "used up" in pull.body
    assert pull.draft
    assert [event.name for event in commit.events] == ["run_failed"]


REASONS = [
    pytest.param(None, None, "no result that could be used", id="nothing there"),
    pytest.param("failed", None, "the tests do not pass", id="tests failed"),
    pytest.param("conflict", None, "the tests do not pass", id="conflict"),
    pytest.param("passed", False, "the reviewer still asks for changes: Not yet.", id="review refused"),
    pytest.param("failed", False, "the tests do not pass", id="both"),
    pytest.param("passed", True, "no result that could be used", id="neither"),
]


@pytest.mark.parametrize(("tests", "approved", "why"), REASONS)
async def test_why_it_gave_up(begun: Team, tests: str | None, approved: bool | None, why: str) -> None:
    if tests is not None:
        await begun.put(begun.entry("test_results", values.PASSED.model_copy(update={"outcome": tests})))
    if approved is not None:
        comments = () if approved else (values.BLOCKER,)
        review = Review(approved=approved, summary="Not yet.", comments=comments)
        await begun.put(begun.entry("review", review, "reviewer"))
    await begun.say("visits_exhausted", node="product_manager", visits=3)
    commit = await asking.give_up(await begun.work("give_up"))
    assert commit.entries[0].value["text"] == f"The product manager has used all its rounds, and {why}."
    assert begun.world.count("pulls.edit") == 0


async def test_a_reviewer_who_never_agrees_ends_the_run(team: Team) -> None:
    blocker = {"file": "calc.py", "line": 1, "severity": "blocker", "category": "correctness", "message": "no"}
    team.actors.plays["reviewer"] = [[submit(approved=False, summary="Not yet.", comments=[blocker])]]
    team.actors.plays["developer"] = [
        [write("calc.py", f"x = {number}\n"), submit(summary=f"Round {number}.")] for number in range(1, 8)
    ]
    await team.file()
    await team.idle()
    assert (await team.facts()).status == "run_failed"
    assert sum(role == "developer" for role, _ in team.actors.asked) == 12
    pull = await team.world.pulls.get(team.repo, 2)
    assert pull.draft
    assert "used up" in pull.body
