"""edit_file: one exact passage, and refusals that say what would work."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.ports import ToolError
from agents.tools.edit_file import TOOL, EditFile, replace_once
from tests.fakes.tools import FakeTools

CODE = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param(
            CODE, "def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b", None, id="two lines"
        ),
        pytest.param("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n", id="CRLF file, bare newlines given"),
        pytest.param("a\r\nb\r\n", "a\r\nb", "z", "z\r\n", id="CRLF file, CRLF given"),
        pytest.param("no newline at end", "at end", "", "no newline ", id="removal, no newline at the end"),
        pytest.param("naïve ☃\n", "☃", "𝄞", "naïve 𝄞\n", id="beyond ASCII"),
        pytest.param("a\\d+(b)\n", "\\d+(b)", "\\1", "a\\1\n", id="no regular expression, no group"),
    ],
)
def test_edits(text: str, old: str, new: str, expected: str | None) -> None:
    assert replace_once("a.py", text, old, new)[0] == (expected if expected is not None else text.replace(old, new))


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        pytest.param(CODE, "", "x", ["write_file"], id="empty passage"),
        pytest.param(CODE, "def add", "def add", ["nothing would change"], id="no change"),
        pytest.param("a\r\n", "a\n", "a\n", ["nothing would change"], id="no change in a CRLF file"),
        pytest.param(CODE, "    return a - b", "x", ["occurs 2 times", "lines 2, 6", "more lines"], id="twice"),
        pytest.param("aaa\n", "aa", "b", ["occurs 2 times"], id="twice by overlap"),
        pytest.param(CODE, "     1\tdef add(a, b):", "x", ["line numbers"], id="line numbers copied along"),
        pytest.param(
            CODE,
            "def add(a,b):\n  return a-b",
            "x",
            ["white space", "     1\tdef add(a, b):"],
            id="white space differs",
        ),
        pytest.param(
            CODE, "def addd(a, b):\n    return a - b", "x", ["nearest", "     1\tdef add(a, b):"], id="a typo in it"
        ),
        pytest.param(CODE, "class Completely:\n    different", "x", ["nor anything like it"], id="not there at all"),
        pytest.param("", "x", "y", ["file is empty", "write_file"], id="empty file"),
        pytest.param(CODE, "\n\n\n\n\n", "y", ["not found"], id="only newlines"),
        pytest.param(CODE, " \t ", "y", ["not found"], id="only blanks"),
    ],
)
def test_refusals_help(text: str, old: str, new: str, words: list[str]) -> None:
    with pytest.raises(ToolError) as refusal:
        replace_once("a.py", text, old, new)
    for word in words:
        assert word in str(refusal.value)


@given(st.text(max_size=40), st.text(min_size=1, max_size=10), st.text(max_size=10), st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_an_edit_changes_the_passage_and_nothing_else(before: str, old: str, new: str, after: str) -> None:
    assume("\r" not in before + old + new + after)
    assume(old != new)
    text = before + old + after
    if text.find(old) != text.rfind(old):
        with pytest.raises(ToolError, match="occurs"):
            replace_once("f", text, old, new)
    else:
        assert replace_once("f", text, old, new) == (before + new + after, len(before))


@given(st.text(alphabet="ab \n\t1", max_size=30), st.text(alphabet="ab \n\t1", max_size=12))
@settings(max_examples=300, deadline=None)
def test_an_edit_is_made_exactly_if_the_passage_stands_once(text: str, old: str) -> None:
    starts = {at for at in range(len(text)) if old and text.startswith(old, at)}
    if len(starts) == 1:
        assert replace_once("f", text, old, "Z")[0] == text.replace(old, "Z")
    else:
        with pytest.raises(ToolError, match=r"\w{3}"):
            replace_once("f", text, old, "Z")


async def test_the_answer_shows_the_lines_as_they_are_now() -> None:
    tools = FakeTools({"a.py": CODE})
    answer = await TOOL.run(tools, EditFile(path="a.py", old="def sub(a, b):", new="def minus(a, b):"))
    assert "     5\tdef minus(a, b):\n     6\t    return a - b" in answer
    assert tools.files["a.py"] == CODE.replace("sub", "minus")


@pytest.mark.parametrize(
    ("length", "shown", "note"),
    [
        pytest.param(1, 5, None, id="a line and two around"),
        pytest.param(12, 16, None, id="as much as is shown whole"),
        pytest.param(13, 17, "… (1 more lines)", id="one too many"),
        pytest.param(300, 17, "… (288 more lines)", id="many"),
    ],
)
async def test_the_answer_is_short_and_says_what_it_leaves_out(length: int, shown: int, note: str | None) -> None:
    tools = FakeTools({"a.py": "a\nb\nc\nHERE\nd\ne\nf\n"})
    new = "\n".join(f"new {number}" for number in range(length))
    lines = (await TOOL.run(tools, EditFile(path="a.py", old="HERE", new=new))).split("\n")[1:]
    assert len(lines) == shown
    assert (lines[0], lines[-1]) == ("     2\tb", f"{length + 5:>6}\te")
    assert [line for line in lines if line.startswith("…")] == ([note] if note else [])
