"""What the tools show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents import tools as package
from agents.ports import TestReport
from agents.roles import role
from agents.tools import TOOLS
from agents.tools.read_file import MAX_CHARS, lines_of
from agents.tools.router import Router, ToolResult
from agents.tools.run_tests import report_text
from agents.tools.search_codebase import MAX_HITS
from tests.fakes.tools import FakeTools


async def use(tools: FakeTools, name: str, **given: object) -> ToolResult:
    return await Router.for_role(role("developer"), tools).run(name, given)


LONG = "".join(f"line {number}\n" for number in range(1, 1001))


@pytest.mark.parametrize(
    ("text", "given", "starts", "ends"),
    [
        pytest.param("a\nb\n", {}, "f.py, lines 1 to 2 of 2\n     1\ta", "     2\tb", id="whole"),
        pytest.param("a\nb", {}, "f.py, lines 1 to 2 of 2", "     2\tb", id="no newline at the end"),
        pytest.param("a\r\nb\r\n", {}, "f.py, lines 1 to 2 of 2", "     2\tb", id="CRLF"),
        pytest.param("a\x0cb\u2028c\n", {}, "f.py, lines 1 to 1 of 1", "\ta\x0cb\u2028c", id="form feed parts no line"),
        pytest.param(
            LONG, {}, "f.py, lines 1 to 400 of 1000", "[cut here; read on with start_line=401]", id="cut at 400"
        ),
        pytest.param(LONG, {"start_line": 990}, "f.py, lines 990 to 1000", "  1000\tline 1000", id="to the end"),
        pytest.param(LONG, {"start_line": 5, "end_line": 6}, "f.py, lines 5 to 6", "     6\tline 6", id="a range"),
        pytest.param(LONG, {"end_line": 9999}, "f.py, lines 1 to 400", "start_line=401]", id="range beyond the end"),
        pytest.param(
            "x" * 9000 + "\n", {}, "f.py, lines 1 to 1 of 1", "[… line of 9,000 characters cut]", id="long line"
        ),
        pytest.param("", {}, "f.py is empty.", "", id="empty"),
    ],
)
async def test_read_file(text: str, given: dict[str, object], starts: str, ends: str) -> None:
    result = await use(FakeTools({"f.py": text}), "read_file", path="f.py", **given)
    assert not result.is_error
    assert result.text.startswith(starts)
    assert result.text.endswith(ends)
    assert len(result.text) < MAX_CHARS + 200


async def test_read_file_stops_at_its_size() -> None:
    result = await use(FakeTools({"f.py": ("x" * 1500 + "\n") * 100}), "read_file", path="f.py")
    assert len(result.text) < MAX_CHARS + 200
    assert "read on with start_line=" in result.text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({"start_line": 3}, "has 2 lines", id="beyond the end"),
        pytest.param({"start_line": 2, "end_line": 1}, "comes before", id="the wrong way round"),
    ],
)
async def test_read_file_refusals(given: dict[str, object], words: str) -> None:
    result = await use(FakeTools({"f.py": "a\nb\n"}), "read_file", path="f.py", **given)
    assert result.is_error
    assert words in result.text


def test_lines_as_compilers_count_them() -> None:
    assert lines_of("a\r\n\r\nb\x0b\x85c") == ["a", "", "b\x0b\x85c"]


async def test_search() -> None:
    tools = FakeTools({"a.py": "import os\n" * 150, "b/c.py": "  import  sys  \n"})
    found = await use(tools, "search_codebase", pattern=r"import\s+sys", path="b")
    assert found.text == "b/c.py:1:   import  sys", "indentation is kept"
    many = await use(tools, "search_codebase", pattern="import")
    assert many.text.count("\n") == MAX_HITS
    assert many.text.endswith("narrow the pattern or give a path]")
    none = await use(tools, "search_codebase", pattern="nothing_here")
    assert none == ToolResult("No line matches 'nothing_here' in the repository.")
    assert (await use(tools, "search_codebase", pattern="(")).is_error


async def test_listing() -> None:
    tools = FakeTools({"a.py": "", "b/c.py": "", **{f"many/{number:04}": "" for number in range(600)}})
    assert (await use(tools, "list_directory")).text == "3 names in the root\na.py\nb/\nmany/"
    many = (await use(tools, "list_directory", path="many")).text
    assert many.endswith("0499\n[… 100 more; go on with start=501, or use match]")
    rest = (await use(tools, "list_directory", path="many", start=501)).text
    assert rest.split("\n")[1:] == [f"{number:04}" for number in range(500, 600)]
    like = (await use(tools, "list_directory", path="many", match="*99")).text
    assert like.split("\n")[0] == "6 names in many like *99"
    past = await use(tools, "list_directory", path="many", start=601)
    assert past.is_error
    assert "600 names" in past.text
    assert (await use(FakeTools(), "list_directory")).text == "the root is empty."


@pytest.mark.parametrize(
    ("before", "text", "after", "answer"),
    [
        pytest.param(None, "a\n", "a\n", "Created", id="new"),
        pytest.param("b\n", "a\n", "a\n", "Replaced", id="replace"),
        pytest.param("b\r\n", "a\nc\n", "a\r\nc\r\n", "Replaced", id="a CRLF file keeps its line ends"),
        pytest.param("a\n", "a\n", "a\n", "nothing would change", id="the same text"),
        pytest.param(None, "x" * 500_001, None, "500,001", id="too long"),
    ],
)
async def test_write_file(before: str | None, text: str, after: str | None, answer: str) -> None:
    tools = FakeTools({} if before is None else {"f": before})
    assert answer in (await use(tools, "write_file", path="f", text=text)).text
    assert tools.files.get("f") == after


async def test_delete_file() -> None:
    tools = FakeTools({"f": "x"})
    assert (await use(tools, "delete_file", path="f")).text == "Deleted f."
    assert (await use(tools, "delete_file", path="f")).is_error


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        pytest.param(
            TestReport("failed", ("pytest", "-q"), 1, "exit", "E  assert 1 == 2\n", 1.25, 3, 1, 0),
            "outcome: failed (3 passed, 1 failed, 0 skipped)\ncommand: pytest -q\nexit code: 1\nreason: exit\n"
            "seconds: 1.2\noutput:\nE  assert 1 == 2",
            id="failed",
        ),
        pytest.param(
            TestReport("not_run", reason="no test command was found"),
            "outcome: not_run\nreason: no test command was found",
            id="not run",
        ),
        pytest.param(
            TestReport("not_run", ("pytest",), 2, "they fail on the base commit as well", "E  no module x\n", 0.5),
            "outcome: not_run\ncommand: pytest\nexit code: 2\nreason: they fail on the base commit as well\n"
            "seconds: 0.5\noutput:\nE  no module x",
            id="not run, and it said why",
        ),
        pytest.param(
            TestReport("passed", ("make", "test"), 0, output=""),
            "outcome: passed\ncommand: make test\nexit code: 0\nseconds: 0.0\noutput:\n(none)",
            id="no counts, no output",
        ),
    ],
)
async def test_run_tests(report: TestReport, expected: str) -> None:
    tools = FakeTools(report=report)
    result = await use(tools, "run_tests", selection=["tests/test_a.py"])
    assert result == ToolResult(expected), "failing tests are a result, not an error"
    assert tools.calls == ["run_tests tests/test_a.py"]


def test_a_long_test_output_keeps_its_head_and_its_end() -> None:
    text = report_text(TestReport("failed", output="first\n" + "." * 50_000 + "\nlast"))
    assert "output:\nfirst" in text
    assert text.endswith("last")
    assert "characters left out; select fewer tests to see more" in text
    assert len(text) < 7_000


async def test_show_diff() -> None:
    tools = FakeTools({"a.py": "1\n", "b.py": "1\n"})
    assert (await use(tools, "show_diff")).text == "Nothing differs from the base commit."
    tools.files.update({"a.py": "2\n", "b.py": "2\n"})
    whole = (await use(tools, "show_diff")).text
    assert "+++ b/a.py" in whole
    assert "     -1\n   1 +2" in whole, "the numbers are those of the new file"
    assert "+++ b/b.py" in whole
    one = (await use(tools, "show_diff", path="b.py")).text
    assert "+++ b/b.py" in one
    assert "a.py" not in one
    assert (await use(tools, "show_diff", path="c.py")).is_error


def test_the_list_is_the_files() -> None:
    folder = Path(package.__path__[0])
    files = {file.stem for file in folder.glob("*.py")} - {"__init__", "tool", "router", "paths"}
    assert {tool.name for tool in TOOLS} == files


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS])
def test_schemas_are_plain_objects(name: str) -> None:
    tool = next(found for found in TOOLS if found.name == name)
    schema = tool.spec.schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    assert not tool.spec.strict
    assert tool.description.endswith(".")
