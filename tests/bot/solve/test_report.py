"""What a solve says at its end, as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agents.board import Review, TestResults
from bot.local.people import PullPage
from bot.solve.report import Report, Spent, as_json, as_text, outcome_of, shown
from handlers.state import RunState, Said

BODY = """<!-- seconder:pull run=1 -->
What it does

Fixes #1

<details>
<summary>1 file</summary>

| a |

</details>

---
Say `/merge`."""
TESTS = TestResults(outcome="passed", base_sha="a" * 40, tree="b" * 40, pack="", command=("pytest", "-q"), output="ok")
FULL = Report(
    outcome="approved",
    why="",
    name="shop-1",
    repository="/srv/shop",
    base="a" * 40,
    branch="seconder/issue-1-fix",
    head="f" * 40,
    pull=PullPage(2, "Fix it", BODY, "http://127.0.0.1/2", "f" * 40, "+x", (), None),
    review=Review(approved=True, summary="Fine."),
    tests=TESTS,
    decided_by="--yes",
    seconds=9.5,
    roles={"developer": Spent(2, 100, 20, 80, 1500, 1.25), "reviewer": Spent(1, 100, 10, 40, 500, 0.5)},
)
NONE = Report("declined", "Nothing is wrong.", "shop-1", "/srv/shop", "a" * 40)


@pytest.mark.parametrize(
    ("report", "present", "absent"),
    [
        pytest.param(
            FULL,
            [
                "Pull request: Fix it",
                "The reviewer agent approves: Fine.",
                "Tests passed: pytest -q",
                "3 model calls, 230 tokens (60% of what was sent came from the cache), $0.002, 1.8 s of answers, "
                "9.5 s in all",
                "The branch seconder/issue-1-fix (ffffffffffff) is in /srv/shop.",
                "Look at it with: git diff aaaaaaaaaaaa...seconder/issue-1-fix",
            ],
            ["Fixes #1", "/merge", "seconder:pull", "details"],
            id="all there",
        ),
        pytest.param(NONE, ["No branch was made: Nothing is wrong."], ["Pull request", "Tests"], id="declined"),
        pytest.param(
            replace(FULL, outcome="incomplete", why="The rounds are used up."),
            [
                "The branch seconder/issue-1-fix (ffffffffffff) is in /srv/shop. "
                "It is not finished: The rounds are used up."
            ],
            [],
            id="not finished",
        ),
        pytest.param(
            replace(FULL, tests=TESTS.model_copy(update={"outcome": "failed", "output": "a\nE boom"})),
            ["Tests failed: pytest -q", "  E boom"],
            [],
            id="tests failed",
        ),
        pytest.param(
            replace(FULL, tests=TESTS.model_copy(update={"outcome": "not_run", "reason": "no command"})),
            ["Tests were not run: no command"],
            [],
            id="tests not run",
        ),
        pytest.param(
            replace(FULL, review=Review(approved=False, summary="No\u202e.")),
            ["The reviewer agent asks for changes: No."],
            ["\u202e"],
            id="hidden characters",
        ),
    ],
)
def test_the_text(report: Report, present: list[str], absent: list[str]) -> None:
    lines = as_text(report)
    assert [line for line in present if line not in lines] == []
    assert [word for word in absent if any(word in line for line in lines)] == []


def test_the_json_has_it_all() -> None:
    made = json.loads(json.dumps(as_json(FULL)))
    assert made["spent"] == {
        "calls": 3,
        "tokens_in": 200,
        "tokens_out": 30,
        "tokens_cached": 120,
        "model_seconds": 1.75,
        "cached_share": 0.6,
        "usd": 0.002,
    }
    assert made["tests"]["outcome"] == "passed"
    assert (made["outcome"], made["branch"], made["decided_by"]) == ("approved", "seconder/issue-1-fix", "--yes")
    assert as_json(NONE)["pull_request"] is None


def test_a_body_without_any_marks_is_shown_as_it_is() -> None:
    assert shown("One\n\n- two") == ["One", "", "- two"]


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        pytest.param([], "waiting", id="nothing yet"),
        pytest.param([("gate_resolved", {"gate": "quality"})], "approved", id="approved"),
        pytest.param([("gate_resolved", {"gate": "plan"})], "waiting", id="another gate"),
        pytest.param([("gate_resolved", {"gate": "quality"}), ("gate_voided", {})], "waiting", id="voided since"),
        pytest.param([("run_cancelled", {})], "cancelled", id="stopped"),
    ],
)
def test_how_the_run_stands(events: list[tuple[str, dict[str, object]]], outcome: str) -> None:
    state = RunState()
    for position, (name, data) in enumerate(events, 1):
        state.say(Said(position, name, data, 0))
    assert outcome_of(state)[0] == outcome
