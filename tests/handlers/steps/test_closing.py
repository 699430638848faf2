"""After a stop: what was begun is settled, no check stays open, and the run ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import Author
from handlers.ports import Later, Missing, NewPull, Refused
from handlers.steps import quality
from tests.fakes.team import Team
from tests.handlers.steps.scene import ready


@pytest.fixture
async def begun(team: Team) -> Team:
    await team.begin()
    return team


async def stop(team: Team) -> None:
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.idle()


async def test_after_a_stop_no_check_stays_open(team: Team) -> None:
    await team.file()
    await team.idle()
    await stop(team)
    check = team.check()
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
    check = team.check()
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
    check = team.check()
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


async def test_a_merge_that_happened_before_the_stop_ends_the_run_as_merged(team: Team) -> None:
    await team.file()
    await team.idle()
    facts = await team.facts()
    assert facts.pull is not None
    head = (await team.world.pulls.get(team.repo, facts.pull)).head_sha
    sha = await team.world.pulls.merge(team.repo, facts.pull, head, "merged while the answer was lost")
    await stop(team)
    summary = (await team.state()).board.live("summary")
    assert summary is not None
    assert (summary.value["outcome"], summary.value["merged_sha"]) == ("merged", sha)
    assert (await team.facts()).status == "run_completed"


async def test_a_pull_request_whose_opening_was_never_answered_gets_its_receipt(team: Team) -> None:
    await team.begin()
    branch = "seconder/issue-1-add-a-total"
    lease = (await team.claim(f"{team.run}/status.1")).lease
    await team.store.effects.attempt(lease, f"pull:{branch}")
    team.world.push(team.repo, branch, {"x.py": "x = 1\n"})
    opened = await team.world.pulls.open(team.repo, NewPull("t", "b", branch, "main"))
    await stop(team)
    await team.until(lambda state: state.last("run_cancelled") is not None)
    known = await team.store.effects.known(team.run)
    assert dict(known[f"pull:{branch}"].receipt) == {"number": opened.number}
    assert (await team.facts()).status == "run_cancelled"


async def test_a_merge_that_is_still_on_its_way_is_waited_for(team: Team) -> None:
    """The request was sent before the stop; GitHub does it a moment after the stop has looked."""
    await team.file()
    await team.idle()
    head = (await team.world.pulls.get(team.repo, 2)).head_sha
    lease = (await team.work("survey", 7)).lease
    await team.store.effects.attempt(lease, f"merge:{head}")
    await team.store.runs.cancel(team.run, "d9", "rita stopped it")
    await team.idle()
    assert (await team.facts()).status == "cancelling"
    await team.world.pulls.merge(team.repo, 2, head, "merged while the answer was lost")
    await team.until(lambda state: state.last("run_completed", "run_cancelled") is not None)
    assert (await team.facts()).status == "run_completed"
