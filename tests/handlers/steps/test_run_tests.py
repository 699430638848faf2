"""Joining the developer's tree with the tester's tests, and running them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.board import Entry, TestResults
from agents.ports import TestReport, ToolError
from handlers.ports import Commit
from handlers.steps import run_tests
from handlers.workflow import WorkflowError
from tests.fakes.team import Team
from tests.fakes.workspaces import Files, tree_id
from tests.handlers.steps.scene import CHANGED, TESTED, code, suite


@pytest.fixture
async def begun(team: Team) -> Team:
    await team.begin()
    return team


class Runs:
    """Answers test runs, and keeps the files of each."""

    def __init__(self, team: Team, report: TestReport | None = None) -> None:
        self.files: list[Files] = []
        self._report = report or TestReport("passed", ("pytest",), 0, "exit", "1 passed", 0.1, 1, 0, 0, "fake")
        team.workspaces.answer = self

    def __call__(self, files: Files, selection: tuple[str, ...]) -> TestReport:
        self.files.append(files)
        return self._report


async def step(team: Team, *entries: Entry) -> tuple[TestResults, Commit]:
    await team.put(*entries)
    work = await team.work("run_tests")
    commit = await run_tests.run(work)
    [entry] = commit.entries
    assert entry.derived_from == tuple(one.id for one in entries)
    return TestResults.model_validate(entry.value), commit


async def test_code_alone(begun: Team) -> None:
    runs = Runs(begun)
    written = await code(begun)
    result, commit = await step(begun, written)
    assert (result.outcome, result.tree, result.includes) == ("passed", written.value["tree"], ())
    assert [event.name for event in commit.events] == ["tests_passed"]
    assert runs.files[0]["calc.py"] == CHANGED["calc.py"]


async def test_code_and_tests_are_joined(begun: Team) -> None:
    runs = Runs(begun)
    made = await suite(begun)
    result, _ = await step(begun, await code(begun), made)
    assert runs.files == [{**runs.files[0], **CHANGED, **TESTED}]
    assert result.includes == (made.id,)
    assert {change.path for change in result.files} == {"calc.py", "tests/test_total.py"}
    assert result.tree == tree_id(runs.files[0])


async def test_the_joined_tree_can_be_restored(begun: Team) -> None:
    result, _ = await step(begun, await code(begun), await suite(begun))
    pack = await begun.store.blobs.get(result.pack)
    async with begun.workspaces.open(begun.repo, result.base_sha, result.tree, [pack]) as workspace:
        assert (await workspace.read("tests/test_total.py")).text == TESTED["tests/test_total.py"]


async def test_only_test_paths_are_taken_from_the_tester(begun: Team) -> None:
    runs = Runs(begun)
    await step(begun, await code(begun), await suite(begun, {**TESTED, "calc.py": "sabotage = 1\n", "setup.cfg": "x"}))
    assert runs.files[0]["calc.py"] == CHANGED["calc.py"]
    assert "setup.cfg" not in runs.files[0]


async def test_what_the_tester_deleted_stays(begun: Team) -> None:
    runs = Runs(begun)
    await step(begun, await code(begun), await suite(begun, {**TESTED, "tests/test_add.py": None}))
    assert "tests/test_add.py" in runs.files[0]


async def test_tests_that_the_code_holds_already_are_not_joined_again(begun: Team) -> None:
    """The developer may have had to change them."""
    runs = Runs(begun)
    made = await suite(begun)
    mended = {**CHANGED, "tests/test_total.py": "def test_total():\n    assert True\n"}
    result, _ = await step(begun, await code(begun, mended, includes=(made.id,)), made)
    assert runs.files[0]["tests/test_total.py"] == mended["tests/test_total.py"]
    assert result.includes == (made.id,)
    assert result.outcome == "passed"


async def test_the_same_file_written_the_same_is_no_conflict(begun: Team) -> None:
    result, _ = await step(begun, await code(begun, {**CHANGED, **TESTED}), await suite(begun))
    assert result.outcome == "passed"


async def test_the_same_file_written_differently_is_a_conflict(begun: Team) -> None:
    runs = Runs(begun)
    made = await suite(begun, {**TESTED, "tests/test_more.py": "more = 1\n"})
    result, commit = await step(begun, await code(begun, {**CHANGED, "tests/test_total.py": "mine = 1\n"}), made)
    assert result.outcome == "conflict"
    assert [event.name for event in commit.events] == ["conflict_found"]
    [conflict] = result.conflicts
    assert (conflict.path, conflict.developer, conflict.tester) == (
        "tests/test_total.py",
        "mine = 1\n",
        TESTED["tests/test_total.py"],
    )
    assert runs.files == []
    assert result.includes == (made.id,)


async def test_in_a_conflict_the_other_tests_are_not_lost(begun: Team) -> None:
    made = await suite(begun, {**TESTED, "tests/test_more.py": "more = 1\n"})
    result, _ = await step(begun, await code(begun, {**CHANGED, "tests/test_total.py": "mine = 1\n"}), made)
    pack = await begun.store.blobs.get(result.pack)
    async with begun.workspaces.open(begun.repo, result.base_sha, result.tree, [pack]) as workspace:
        assert (await workspace.read("tests/test_more.py")).text == "more = 1\n"
        assert (await workspace.read("tests/test_total.py")).text == "mine = 1\n"


async def test_a_test_that_the_developer_deleted_and_the_tester_changed_is_a_conflict(begun: Team) -> None:
    result, _ = await step(
        begun,
        await code(begun, {**CHANGED, "tests/test_add.py": None}),
        await suite(begun, {"tests/test_add.py": "def test_add():\n    assert 1\n"}),
    )
    assert result.outcome == "conflict"
    assert result.conflicts[0].developer == "(deleted)"


async def test_a_huge_conflict_is_shown_in_part(begun: Team) -> None:
    result, _ = await step(
        begun,
        await code(begun, {**CHANGED, "tests/test_total.py": "x" * 50_000}),
        await suite(begun, {"tests/test_total.py": "y" * 50_000}),
    )
    assert len(result.conflicts[0].developer) == len(result.conflicts[0].tester) == run_tests.SHOWN


REPORTS = [
    pytest.param(
        TestReport("failed", ("pytest",), 1, "exit", "1 failed", 2.0, 3, 1, 2, "box"), "tests_failed", id="failed"
    ),
    pytest.param(TestReport("failed", ("pytest",), None, "timeout", "…", 600.0), "tests_failed", id="timed out"),
    pytest.param(TestReport("not_run", reason="no test command was found"), "tests_not_run", id="not run"),
]


@pytest.mark.parametrize(("report", "event"), REPORTS)
async def test_the_report_is_kept_as_it_came(begun: Team, report: TestReport, event: str) -> None:
    Runs(begun, report)
    result, commit = await step(begun, await code(begun))
    assert [one.name for one in commit.events] == [event]
    for name in ("outcome", "command", "exit_code", "reason", "output", "seconds", "passed", "failed", "skipped"):
        assert getattr(result, name) == getattr(report, name)
    assert result.isolation == report.isolation


FAILS = TestReport("failed", ("pytest",), 1, "exit", failed=1, failures=("tests/test_total.py::test_total",))
HERE = TestReport("passed", ("pytest",), 0, "exit", passed=2)


@pytest.mark.parametrize(
    ("report", "on_base", "standing", "proven"),
    [
        pytest.param(HERE, FAILS, "fail", FAILS.failures, id="they show the change"),
        pytest.param(HERE, HERE, "pass", (), id="they decide nothing"),
        pytest.param(HERE, None, "", (), id="there are none"),
        pytest.param(HERE, TestReport("not_run", reason="no sandbox"), "unknown", (), id="not run"),
        pytest.param(HERE, TestReport("failed", reason="timeout"), "unknown", (), id="the base commit hangs"),
        pytest.param(HERE, TestReport("failed", reason="exit", exit_code=2), "unknown", (), id="it names none"),
        pytest.param(replace(HERE, failures=FAILS.failures), FAILS, "unknown", (), id="known there and here"),
        pytest.param(FAILS, FAILS, "", (), id="the change does not pass: nothing is said yet"),
    ],
)
def test_what_new_tests_show(
    report: TestReport, on_base: TestReport | None, standing: str, proven: tuple[str, ...]
) -> None:
    assert run_tests.proof(report, on_base) == (standing, proven)


async def test_new_tests_run_on_the_base_commit_as_well(begun: Team) -> None:
    Runs(begun)
    seen: list[tuple[Files, tuple[str, ...]]] = []

    def once(files: Files, selection: tuple[str, ...]) -> TestReport:
        seen.append((files, selection))
        return FAILS

    begun.workspaces.once = once
    made = await suite(begun, {**TESTED, "tests/data.json": "{}"})
    result, _ = await step(begun, await code(begun), made)
    [(files, selection)] = seen
    assert selection == ("tests/test_total.py",), "data and helpers are no selection"
    assert files["tests/data.json"] == "{}", "but they are there"
    assert files["calc.py"] != CHANGED["calc.py"]
    assert (result.on_base, result.proven) == ("fail", FAILS.failures)


async def test_a_selection_that_the_command_cannot_take_leaves_it_open(begun: Team) -> None:
    Runs(begun)

    def once(files: Files, selection: tuple[str, ...]) -> TestReport:
        raise ToolError("`make test` runs all tests")

    begun.workspaces.once = once
    result, _ = await step(begun, await code(begun), await suite(begun))
    assert (result.outcome, result.on_base) == ("passed", "unknown")


async def test_a_tree_that_cannot_be_kept_fails_the_step(begun: Team) -> None:
    def refuse(files: Files, selection: tuple[str, ...]) -> TestReport:
        raise ToolError("the sandbox is not there")

    begun.workspaces.answer = refuse
    await begun.put(await code(begun))
    with pytest.raises(ToolError):
        await run_tests.run(await begun.work("run_tests"))


async def test_without_code_it_names_what_is_missing(begun: Team) -> None:
    with pytest.raises(WorkflowError, match="run_tests was made due without a code"):
        await run_tests.run(await begun.work("run_tests"))
