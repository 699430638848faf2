"""The router: the allow-list holds whatever the model says, and slips are explained."""

from __future__ import annotations

import pytest

from agents.role import MayWrite
from agents.roles import role
from agents.tools.paths import write_filter
from agents.tools.router import MAX_OUTPUT, Router
from agents.tools.tool import Tool, ToolInput
from tests.fakes.tools import FakeTools

FILES = {"src/app.py": "x = 1\n", "tests/test_app.py": "assert True\n"}


def router(name: str, tools: FakeTools | None = None) -> Router:
    return Router.for_role(role(name), tools or FakeTools(FILES))


@pytest.mark.parametrize(
    ("who", "name", "given", "words"),
    [
        pytest.param(
            "reviewer", "write_file", {"path": "src/app.py", "text": ""}, "no tool 'write_file'", id="not on the list"
        ),
        pytest.param("product_manager", "run_tests", {}, "no tool 'run_tests'", id="tests for the product manager"),
        pytest.param("developer", "bash", {"command": "id"}, "You have: read_file", id="does not exist"),
        pytest.param("developer", "", {}, "no tool ''", id="no name"),
        pytest.param("developer", "read_file", None, "input", id="input is nothing"),
        pytest.param("developer", "read_file", "src/app.py", "input", id="input is a string"),
        pytest.param("developer", "read_file", {}, "path: Field required", id="missing field"),
        pytest.param("developer", "read_file", {"path": "a", "mode": "rw"}, "mode", id="field that does not exist"),
        pytest.param("developer", "read_file", {"path": "a", "start_line": 0}, "start_line", id="line 0"),
        pytest.param("developer", "read_file", {"path": "/etc/passwd"}, "inside the repository", id="absolute path"),
        pytest.param("developer", "write_file", {"path": "../x", "text": ""}, "'..'", id="out of the root"),
        pytest.param(
            "developer", "write_file", {"path": ".git/hooks/pre-push", "text": ""}, "git itself", id="git hook"
        ),
        pytest.param("developer", "write_file", {"path": ".", "text": ""}, "file name is missing", id="the root"),
        pytest.param(
            "tester", "write_file", {"path": "src/app.py", "text": ""}, "not a test file", id="tester writes code"
        ),
        pytest.param("tester", "delete_file", {"path": "src/app.py"}, "not a test file", id="tester deletes code"),
        pytest.param(
            "tester", "write_file", {"path": "tests/../src/app.py", "text": ""}, "'..'", id="tester goes round by dots"
        ),
        pytest.param(
            "tester",
            "edit_file",
            {"path": "./src//app.py", "old": "x", "new": "y"},
            "not a test file",
            id="odd spelling",
        ),
        pytest.param("developer", "read_file", {"path": "nope.py"}, "no file nope.py", id="the tool's own error"),
    ],
)
async def test_refusals(who: str, name: str, given: object, words: str) -> None:
    tools = FakeTools(FILES)
    boundary = router(who, tools)
    result = await boundary.run(name, given)
    assert result.is_error
    assert words in result.text
    assert tools.files == FILES
    assert not boundary.changed


@pytest.mark.parametrize(
    ("who", "name", "given", "changes"),
    [
        pytest.param("developer", "write_file", {"path": "src/new.py", "text": "y\n"}, True, id="write"),
        pytest.param("developer", "edit_file", {"path": "src/app.py", "old": "1", "new": "2"}, True, id="edit"),
        pytest.param("developer", "delete_file", {"path": "src/app.py"}, True, id="delete"),
        pytest.param(
            "tester", "write_file", {"path": "tests/test_new.py", "text": "y\n"}, True, id="tester writes a test"
        ),
        pytest.param("developer", "read_file", {"path": "src/app.py"}, False, id="read"),
        pytest.param("developer", "run_tests", {}, False, id="run tests"),
    ],
)
async def test_changes_are_remembered(who: str, name: str, given: object, changes: bool) -> None:
    boundary = router(who)
    assert not (await boundary.run(name, given)).is_error
    await boundary.run("list_directory", {})
    assert boundary.take_changed() is changes
    assert boundary.take_changed() is False


async def test_no_role_that_reads_has_a_tool_that_writes() -> None:
    for who in ("product_manager", "architect", "reviewer"):
        names = {spec.name for spec in router(who).specs}
        assert not names & {"write_file", "edit_file", "delete_file"}


async def _loud(tools: object, args: ToolInput) -> str:
    return "y" * (MAX_OUTPUT + 5)


async def _silent(tools: object, args: ToolInput) -> str:
    return ""


@pytest.mark.parametrize(
    ("run", "end"),
    [
        pytest.param(_loud, "[… 5 characters left out; ask for less at a time]", id="too long"),
        pytest.param(_silent, "(no output)", id="empty"),
    ],
)
async def test_outputs_are_fit_to_send(run: object, end: str) -> None:
    tool = Tool("t", "T", ToolInput, run)  # type: ignore[arg-type]
    result = await Router(FakeTools(), ("t",), write_filter("nothing"), known=(tool,)).run("t", {})
    assert result.text.endswith(end)


def test_an_unknown_name_on_an_allow_list_is_found_at_once() -> None:
    with pytest.raises(ValueError, match="no such tool: bash"):
        Router(FakeTools(), ("read_file", "bash"), write_filter("nothing"))


@pytest.mark.parametrize("may_write", ["nothing", "tests"])
def test_a_shell_is_for_who_may_write_anything(may_write: MayWrite) -> None:
    with pytest.raises(ValueError, match="shell can change any file"):
        Router(FakeTools(), ("shell",), write_filter(may_write))


def test_a_tool_that_changes_files_must_name_its_path() -> None:
    with pytest.raises(TypeError, match="WriteInput"):
        Tool("t", "T", ToolInput, _silent, mutates=True)
