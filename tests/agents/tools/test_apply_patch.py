"""Patches: exact, helpful where they do not fit, all or nothing."""

from __future__ import annotations

import pytest

from agents.ports import ToolError
from agents.roles import role
from agents.tools.router import Router, ToolResult
from tests.fakes.tools import FakeTools

FILE = "one\ntwo\nthree\nfour\nfive\n"
HEAD = "--- a/f.py\n+++ b/f.py\n"


async def use(tools: FakeTools, patch: str, who: str = "developer") -> ToolResult:
    return await Router.for_role(role(who), tools).run("apply_patch", {"patch": patch})


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        pytest.param(FILE, f"{HEAD}@@ -2,1 +2,1 @@\n-two\n+2\n", FILE.replace("two", "2"), id="a line"),
        pytest.param(FILE, f"{HEAD}@@ -90,1 +7,1 @@\n-two\n+2\n", FILE.replace("two", "2"), id="wrong numbers"),
        pytest.param(FILE, f"{HEAD}@@\n two\n-three\n+3\n four\n", FILE.replace("three", "3"), id="no numbers"),
        pytest.param(FILE, f"{HEAD}@@ -1,9 +1,9 @@ def f():\n-one\n+1\n", FILE.replace("one", "1"), id="wrong counts"),
        pytest.param(
            FILE,
            f"{HEAD}@@ -1 +1,2 @@\n one\n+1.5\n@@ -5 +6 @@\n-five\n+5\n",
            "one\n1.5\ntwo\nthree\nfour\n5\n",
            id="two hunks",
        ),
        pytest.param("x\nx\nx\n", f"{HEAD}@@ -2 +2 @@\n-x\n+y\n", "x\ny\nx\n", id="the place that the header names"),
        pytest.param(FILE, f"{HEAD}@@ -5,0 +6 @@\n+six\n", FILE + "six\n", id="only added, behind line 5"),
        pytest.param("a\r\nb\r\n", f"{HEAD}@@ -2 +2 @@\n-b\n+c\n", "a\r\nc\r\n", id="CRLF is kept"),
        pytest.param("a\nb", f"{HEAD}@@ -1 +1 @@\n-a\n+c\n", "c\nb", id="no newline at the end stays"),
        pytest.param(
            "a\nb", f"{HEAD}@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n", id="a newline is added"
        ),
        pytest.param(
            "a\nb\n", f"{HEAD}@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n", "a\nc", id="a newline is removed"
        ),
        pytest.param("a\n\nb\n", f"{HEAD}@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n", id="a trimmed empty line"),
        pytest.param("-- x\n", f"{HEAD}@@ -1 +1 @@\n--- x\n+-- y\n", "-- y\n", id="a line that looks like a header"),
        pytest.param(
            FILE,
            f"diff --git a/f.py b/f.py\nindex 1..2 100644\n{HEAD}@@ -1 +1 @@\n-one\n+1\n",
            FILE.replace("one", "1"),
            id="git's headers",
        ),
    ],
)
async def test_a_patch_that_fits(before: str, patch: str, after: str) -> None:
    tools = FakeTools({"f.py": before})
    result = await use(tools, patch)
    assert not result.is_error, result.text
    assert tools.files == {"f.py": after}


async def test_several_files_are_created_changed_and_deleted() -> None:
    tools = FakeTools({"f.py": FILE, "old.py": "x\ny\n"})
    patch = (
        f"{HEAD}@@ -1 +1 @@\n-one\n+1\n"
        "--- /dev/null\n+++ b/new/n.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n"
    )
    result = await use(tools, patch)
    assert result.text == "Changed f.py.\nCreated new/n.py.\nDeleted old.py."
    assert tools.files == {"f.py": FILE.replace("one", "1"), "new/n.py": "a\nb\n"}


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        pytest.param("", "no file header", id="empty"),
        pytest.param("-one\n+1\n", "no file header", id="no headers"),
        pytest.param("@@ -1 +1 @@\n-one\n+1\n", "before any", id="a hunk alone"),
        pytest.param(HEAD, "no hunk", id="no hunks"),
        pytest.param(f"{HEAD}@@ -1 +1 @@\n one\n", "change nothing", id="nothing changes"),
        pytest.param(f"{HEAD}@@ -1 +1 @@\n-one\n1\n", "none of blank, + and -", id="a line without a sign"),
        pytest.param(f"{HEAD}@@ -2 +2 @@\n-tow\n+2\n", "     2\ttwo", id="not there: the lines are shown"),
        pytest.param(f"{HEAD}@@ -2 +2 @@\n-two \n+2\n", "does not fit", id="white space counts"),
        pytest.param(f"{HEAD}@@\n+x\n", "keep a line", id="added anywhere"),
        pytest.param("--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-a\n+b\n", "no file g.py", id="no such file"),
        pytest.param("--- /dev/null\n+++ b/f.py\n@@ -0,0 +1 @@\n+a\n", "is there already", id="created over a file"),
        pytest.param("--- a/f.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "4 of its lines", id="deleted in part"),
        pytest.param("--- a/f.py\n+++ b/g.py\n@@ -1 +1 @@\n-one\n+1\n", "renaming is not possible", id="renamed"),
        pytest.param(f"old mode 100644\nnew mode 100755\n{HEAD}@@ -1 +1 @@\n-one\n+1\n", "mode", id="mode"),
        pytest.param("GIT binary patch\nliteral 3\n", "binary", id="binary"),
        pytest.param(f"{HEAD}@@ -1 +1 @@\n-one\n+1\n{HEAD}@@ -2 +2 @@\n-two\n+2\n", "twice", id="one file twice"),
        pytest.param("--- a/../f.py\n+++ b/../f.py\n@@ -1 +1 @@\n-one\n+1\n", "'..'", id="out of the root"),
        pytest.param("--- a//etc/x\n+++ b//etc/x\n@@ -1 +1 @@\n-a\n+b\n", "inside the repository", id="absolute"),
        pytest.param("--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+a\n", "git itself", id="a git hook"),
    ],
)
async def test_a_patch_that_is_refused_changes_nothing(patch: str, words: str) -> None:
    tools = FakeTools({"f.py": FILE})
    good = "--- /dev/null\n+++ b/first.py\n@@ -0,0 +1 @@\n+a\n"
    for text in (patch, good + patch if patch.startswith("---") else patch):
        result = await use(tools, text)
        assert result.is_error
        assert words in result.text
        assert tools.files == {"f.py": FILE}


async def test_lines_at_several_places_are_named() -> None:
    result = await use(FakeTools({"f.py": "x\nx\n"}), f"{HEAD}@@\n-x\n+y\n")
    assert "at several places (1, 2)" in result.text


async def test_every_file_of_a_patch_is_checked_for_the_role() -> None:
    tools = FakeTools({"f.py": FILE})
    patch = f"--- /dev/null\n+++ b/tests/test_f.py\n@@ -0,0 +1 @@\n+a\n{HEAD}@@ -1 +1 @@\n-one\n+1\n"
    result = await use(tools, patch, "tester")
    assert "f.py is not a test file" in result.text
    assert tools.files == {"f.py": FILE}


class Full(FakeTools):
    """A work tree in which the second file cannot be written."""

    async def write(self, path: str, text: str) -> None:
        if path == "g.py" and text != "g\n":
            raise ToolError("the disk is full")
        await super().write(path, text)


async def test_what_cannot_be_written_to_the_end_is_put_back() -> None:
    tools = Full({"f.py": FILE, "g.py": "g\n"})
    patch = f"{HEAD}@@ -1 +1 @@\n-one\n+1\n--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-g\n+h\n"
    result = await use(tools, patch)
    assert result.text == "apply_patch: the disk is full. Nothing was changed"
    assert tools.files == {"f.py": FILE, "g.py": "g\n"}
