"""Line numbers of the new file in a unified diff."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.diffs import numbered_diff

TWO_HUNKS = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,3 @@ def f():
 one
+more
 two
@@ -9 +10 @@
-old
+new
diff --git a/b.py b/b.py
"""


@pytest.mark.parametrize(
    ("diff", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param(
            TWO_HUNKS,
            "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@ def f():\n"
            "   1  one\n   2 +more\n   3  two\n@@ -9 +10 @@\n     -old\n  10 +new\ndiff --git a/b.py b/b.py\n",
            id="two hunks, counts left out, another file",
        ),
        pytest.param(
            "@@ -1,2 +1,2 @@\n--- a/x\n-@@ -1 +9 @@\n+++ b/x\n+@@ -1 +9 @@",
            "@@ -1,2 +1,2 @@\n     --- a/x\n     -@@ -1 +9 @@\n   1 +++ b/x\n   2 +@@ -1 +9 @@",
            id="lines that look like headers",
        ),
        pytest.param(
            "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file",
            "@@ -0,0 +1 @@\n   1 +x\n     \\ No newline at end of file",
            id="no newline at the end",
        ),
        pytest.param("@@ -3,1 +2,0 @@\n-x\nrest", "@@ -3,1 +2,0 @@\n     -x\nrest", id="only removed"),
        pytest.param("@@ -1,9 +1,9 @@\n a\n[cut]\n b", "@@ -1,9 +1,9 @@\n   1  a\n[cut]\n b", id="a hunk that was cut"),
        pytest.param("Binary files a/x and b/x differ", "Binary files a/x and b/x differ", id="binary"),
        pytest.param("@@ -1 +1 @@\n-a\r\n+b\r", "@@ -1 +1 @@\n     -a\r\n   1 +b\r", id="CRLF"),
    ],
)
def test_numbers(diff: str, expected: str) -> None:
    assert numbered_diff(diff) == expected


LINES = st.lists(st.sampled_from(["a", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ z"]), max_size=12)


@given(LINES, LINES)
def test_each_number_is_that_of_the_line_in_the_new_file(old: list[str], new: list[str]) -> None:
    diff = "\n".join(difflib.unified_diff(old, new, "a/f", "b/f", lineterm=""))
    shown = [line for line in numbered_diff(diff).split("\n") if line[:4].strip().isdigit()]
    assert all(line[6:] == new[int(line[:4]) - 1] for line in shown)
    added = sum(tag in ("insert", "replace") for tag, *_ in difflib.SequenceMatcher(None, old, new).get_opcodes())
    assert len(shown) >= added
