"""What an entry says, in one line."""

from __future__ import annotations

import pytest

from agents.board import KINDS, Author, Entry, Findings, FoundItem, Value
from handlers.lines import line_of
from tests.handlers import values

MANY = values.CODE.model_copy(
    update={"files": tuple(values.FILES[0].model_copy(update={"path": f"{n}.py"}) for n in range(5))}
)
FOUND = FoundItem(rule="word.auth", level="approve", path="src/auth.py", blob="c" * 40, why="its name")
LINES = [
    pytest.param("issue", values.ISSUE, ["#1 Add a total"], id="issue"),
    pytest.param("repo_map", values.REPO_MAP, ["1 file;", "tests: pytest -q"], id="repo_map"),
    pytest.param(
        "repo_map",
        values.REPO_MAP.model_copy(update={"test_command": None, "files": 2}),
        ["2 files;", "no test command"],
        id="repo_map without tests",
    ),
    pytest.param("requirements", values.REQUIREMENTS, ["2 requirements: Sums."], id="requirements"),
    pytest.param("questions", values.QUESTIONS, ["asks: Which? / Why?"], id="questions"),
    pytest.param("report", values.REPORT, ["It is there already."], id="report"),
    pytest.param("design", values.DESIGN, ["Add total()."], id="design"),
    pytest.param("code", values.CODE, ["Add total.", "(a.py, b.py)"], id="code"),
    pytest.param("code", MANY, ["0.py, 1.py, 2.py and 2 more"], id="code in many files"),
    pytest.param("tests", values.TESTS, ["Test total. (a.py)"], id="tests"),
    pytest.param("tests", values.TESTS.model_copy(update={"files": ()}), ["Test total."], id="tests without files"),
    pytest.param("test_results", values.PASSED, ["passed (3 passed, 0 failed): pytest -q"], id="passed"),
    pytest.param(
        "test_results",
        values.PASSED.model_copy(update={"outcome": "failed", "passed": None, "failed": None}),
        ["failed: pytest -q"],
        id="failed without counts",
    ),
    pytest.param(
        "test_results",
        values.PASSED.model_copy(update={"outcome": "not_run", "reason": "no test command"}),
        ["not run: no test command"],
        id="not run",
    ),
    pytest.param("test_results", values.CONFLICT, ["both wrote t.py"], id="conflict"),
    pytest.param("review", values.REVIEW, ["approves: Good."], id="approved"),
    pytest.param(
        "review",
        values.REVIEW.model_copy(update={"approved": False, "comments": (values.BLOCKER,)}),
        ["Good."],
        id="rejected",
    ),
    pytest.param("human_note", values.NOTE, ["seconder", "Use another name."], id="note"),
    pytest.param("pull_request", values.PULL, ["#2 ready, head 0123abcd0123"], id="pull request"),
    pytest.param(
        "findings",
        Findings(base_sha="a", tree="b", items=(FOUND, FOUND.model_copy(update={"level": "note"}))),
        ["1 finding for people: src/auth.py"],
        id="findings",
    ),
    pytest.param("findings", Findings(base_sha="a", tree="b"), ["found nothing that needs a person"], id="no findings"),
    pytest.param("vote", values.VOTE, ["says yes at the quality gate, on 0123abcd0123"], id="vote"),
    pytest.param("summary", values.MERGED, ["merged at the word of max"], id="summary"),
]


def entry(kind: str, value: Value) -> Entry:
    author = Author(kind="system", name="seconder")
    return Entry(id="e", kind=kind, value=value.model_dump(mode="json"), author=author)


@pytest.mark.parametrize(("kind", "value", "parts"), LINES)
def test_the_line(kind: str, value: Value, parts: list[str]) -> None:
    line = line_of(entry(kind, value))
    for part in parts:
        assert part in line


def test_every_kind_has_a_line() -> None:
    assert {row.values[0] for row in LINES} == set(KINDS)


def test_a_kind_of_a_newer_version_is_named() -> None:
    author = Author(kind="system", name="seconder")
    assert line_of(Entry(id="e", kind="sources", value={"x": 1}, author=author)) == "sources"
