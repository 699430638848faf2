"""Branch names: pure, short, safe for git, whatever the title says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.messages.branch import branch_name

ROWS = [
    pytest.param("Add a --json flag", 1, "seconder/issue-12-add-a-json-flag", id="plain"),
    pytest.param("Add a --json flag", 2, "seconder/issue-12-add-a-json-flag-2", id="second attempt"),
    pytest.param("🎉🎉", 1, "seconder/issue-12", id="emoji only"),
    pytest.param("修复崩溃", 1, "seconder/issue-12", id="Chinese only"),
    pytest.param("修复 crash 崩溃", 3, "seconder/issue-12-crash-3", id="some Latin in it"),
    pytest.param("Café über straße", 1, "seconder/issue-12-cafe-uber-strae", id="accents"),
    pytest.param("", 1, "seconder/issue-12", id="empty"),
    pytest.param("../../etc/passwd", 1, "seconder/issue-12-etc-passwd", id="path"),
    pytest.param("$(touch x); --upload-pack=y", 1, "seconder/issue-12-touch-x-upload-pack-y", id="shell"),
    pytest.param("x.lock", 1, "seconder/issue-12-x-lock", id="lock"),
    pytest.param("a@{b}~^:?*[\\", 1, "seconder/issue-12-a-b", id="what git forbids"),
    pytest.param("line\nbreak\u202e\u200b", 1, "seconder/issue-12-line-break", id="controls"),
    pytest.param("w" * 300, 1, "seconder/issue-12-" + "w" * 40, id="one long word"),
    pytest.param(
        "the quick brown fox jumps over the lazy dog again",
        1,
        "seconder/issue-12-the-quick-brown-fox-jumps-over-the-lazy",
        id="cut at a word",
    ),
]


@pytest.mark.parametrize(("title", "attempt", "name"), ROWS)
def test_branch_name(title: str, attempt: int, name: str) -> None:
    assert branch_name(12, title, attempt) == name


@given(st.integers(1, 10**9), st.text(max_size=300), st.integers(1, 99))
def test_every_name_is_a_valid_ref(number: int, title: str, attempt: int) -> None:
    name = branch_name(number, title, attempt)
    assert re.fullmatch(r"seconder/issue-[1-9][0-9]*(-[a-z0-9]+)*", name)
    assert len(name) <= 90
    assert name == branch_name(number, title, attempt)


@pytest.mark.parametrize(("number", "attempt"), [(0, 1), (-1, 1), (1, 0)])
def test_numbers_count_from_one(number: int, attempt: int) -> None:
    with pytest.raises(ValueError, match="count from 1"):
        branch_name(number, "x", attempt)
