"""What a role works on and is shown: trees, entries, the model of its tier; and that two workers do it once."""

from __future__ import annotations

import asyncio

from agents.board import Review, TestResults
from agents.ports import TestReport
from handlers.advance import Advancer
from tests.fakes.actors import CODE, submit, write
from tests.fakes.team import Team
from tests.fakes.workspaces import Files, all_pass
from tests.handlers.steps.scene import asked, code_of, requests

# --- Trees


async def test_the_reviewer_looks_at_the_joined_tree(team: Team) -> None:
    await team.file()
    await team.idle()
    state = await team.state()
    results = state.board.value("test_results", TestResults)
    review = state.board.value("review", Review)
    assert results is not None
    assert review is not None
    assert review.tree == results.tree
    assert (results.base_sha, results.tree) in team.workspaces.opened


async def test_a_second_round_begins_with_code_and_tests(team: Team) -> None:
    def fails_once(files: Files, selection: tuple[str, ...]) -> TestReport:
        return all_pass(files, selection) if "# mended" in files["calc.py"] else TestReport("failed", ("pytest",), 1)

    team.workspaces.answer = fails_once
    team.actors.plays["developer"].append([write("calc.py", f"{CODE}# mended\n"), submit(summary="Mend it.")])
    await team.file()
    await team.idle()
    code = code_of(await team.state())
    assert ("developer", 2) in team.actors.asked
    assert {change.path for change in code.files} == {"calc.py", "tests/test_total.py"}
    assert code.includes == ("tests.tester.1",)
    assert (await team.said())[-1] == "gate_opened"


async def test_the_tester_begins_with_the_base(team: Team) -> None:
    await team.file()
    await team.idle()
    base = (await team.facts()).base_sha
    tests = (await team.state()).board.live("tests")
    assert tests is not None
    assert (base, None) in team.workspaces.opened
    files = tests.value["files"]
    assert isinstance(files, list)
    assert [change["path"] for change in files] == ["tests/test_total.py"]


async def test_files_that_the_design_does_not_name_are_said(team: Team) -> None:
    team.actors.plays["developer"] = [
        [write("calc.py", CODE), write("setup.cfg", "[x]\n"), submit(summary="Add total.")]
    ]
    await team.file()
    await team.idle()
    assert code_of(await team.state()).outside_design == ("setup.cfg",)
    assert "setup.cfg" in (await team.world.pulls.get(team.repo, 2)).body


# --- What a role is shown


async def test_nobody_is_shown_more_than_their_node_reads(team: Team) -> None:
    team.world.issue(team.repo, team.issue).body = "A word like zwiebelfisch."
    await team.file()
    await team.idle()
    shown = {role: str(requests(team, role)[0].messages) for role in team.actors.plays}
    assert all("zwiebelfisch" in text for text in shown.values())
    assert "Add total() to calc." not in shown["product_manager"]
    assert "Add total() to calc." in shown["developer"]
    assert "Test total." not in shown["developer"]


async def test_peoples_words_stand_behind_the_runs_own_delimiter(team: Team) -> None:
    await team.file()
    await team.idle()
    facts = await team.facts()
    assert facts.delimiter in str(requests(team, "product_manager")[0].messages)


async def test_each_role_asks_the_model_of_its_tier(team: Team) -> None:
    await team.file()
    await team.idle()
    assert {role: requests(team, role)[0].model for role in team.actors.plays} == {
        "product_manager": "claude-opus-5-5",
        "architect": "claude-opus-5-5",
        "developer": "claude-sonnet-5-5",
        "tester": "claude-haiku-5-5",
        "reviewer": "claude-opus-5-5",
    }


async def test_two_workers_do_the_work_once(team: Team) -> None:
    await team.file()
    workers = [Advancer(team.context, team.steps, f"w{number}") for number in range(3)]
    for _ in range(60):
        due = await team.store.tasks.due(50)
        if not due:
            break
        await asyncio.gather(*(worker.advance(member) for worker in workers for member, _ in due))
    assert (await team.said())[-1] == "gate_opened"
    assert [role for role, _ in team.actors.asked].count("architect") == 1
    assert asked(team, "developer") == 2
    assert len(team.world.at(team.repo).pulls) == 1
