"""Steps that say something to people and wait or end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import Author, Entry, HumanNote, Questions, Report, Review
from handlers.ports import Later, Missing, Refused
from handlers.steps import asking, quality
from tests.fakes.actors import submit, write
from tests.fakes.team import Team
from tests.handlers import values
from tests.handlers.steps.scene import published, ready


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


# --- close


async def stop(team: Team) -> None:
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.idle()


async def test_after_a_stop_no_check_stays_open(team: Team) -> None:
    await team.file()
    await team.idle()
    await stop(team)
    [check] = team.world.at(team.repo).checks.values()
    assert (check.conclusion, check.buttons) == ("cancelled", ())
    assert "rita stopped it" in check.summary + check.text + check.title
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.said())[-1] == "run_cancelled"


async def test_a_check_that_had_passed_stays_passed(team: Team) -> None:
    await team.file()
    await team.idle()
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await team.say("nudge")
    await team.idle()
    await stop(team)
    [check] = team.world.at(team.repo).checks.values()
    assert check.conclusion == "success"


async def test_nothing_is_deleted(team: Team) -> None:
    await team.file()
    await team.idle()
    await stop(team)
    assert "seconder/issue-1-add-a-total" in team.world.at(team.repo).branches
    assert (await team.world.pulls.get(team.repo, 2)).state == "open"


@pytest.mark.parametrize("error", [Missing("404 gone"), Refused("403 suspended")], ids=["missing", "refused"])
@pytest.mark.parametrize("verb", ["checks.find", "checks.update"])
async def test_a_check_that_cannot_be_closed_keeps_no_run_from_ending(
    team: Team, verb: str, error: Missing | Refused
) -> None:
    await team.file()
    await team.idle()
    team.world.fail(verb, error)
    await stop(team)
    assert (await team.facts()).status == "run_cancelled"


async def test_a_limit_while_closing_is_waited_out(team: Team) -> None:
    await team.file()
    await team.idle()
    team.world.fail("checks.update", Later("limit", 0.05))
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.until(lambda state: state.last("run_cancelled") is not None)
    [check] = team.world.at(team.repo).checks.values()
    assert check.conclusion == "cancelled"


async def test_a_stop_before_anything_was_written_ends_at_once(begun: Team) -> None:
    await stop(begun)
    state = await begun.state()
    summary = state.board.live("summary")
    assert summary is not None
    assert summary.value == {"outcome": "cancelled", "text": "rita stopped it", "merged_sha": None}
    assert summary.author == Author(kind="system", name="close")


async def test_checks_of_other_runs_are_left_alone(begun: Team) -> None:
    await ready(begun)
    work = await begun.work("quality")
    await quality.run(work)
    [number] = begun.world.at(begun.repo).checks
    checks = begun.world.at(begun.repo).checks
    checks[number] = replace(checks[number], external_id="other-run:quality:x")
    await stop(begun)
    assert checks[number].conclusion == "action_required"
