"""A run's state as people see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agents.board import Author, Value
from handlers import telling
from handlers.messages.status import State, StatusView
from handlers.telling import spending_of, status_of
from tests.fakes.runs import run_facts
from tests.handlers import values
from tests.handlers.log import AGENT, PERSON, Log

RUN = replace(run_facts(), status="open", budget=5_000_000, started_at=0)
SYSTEM = Author(kind="system", name="seconder")
Story = Callable[[Log], Log]


def put(log: Log, kind: str, value: Value, author: Author = AGENT) -> Log:
    return log.entry(kind, author, value.model_dump(mode="json"))


def begun() -> Log:
    return put(Log(), "issue", values.ISSUE, PERSON).event("run_started")


def view(log: Log, status: str = "open", now: int = 60_000) -> StatusView:
    return status_of(replace(RUN, status=status), log.state(), now, None)


def asked(log: Log) -> Log:
    return put(log, "questions", values.QUESTIONS).activated("ask")


def noted(log: Log) -> Log:
    put(log, "pull_request", values.PULL, SYSTEM)
    return put(log, "human_note", values.NOTE, PERSON).activated("developer")


def at_quality(log: Log) -> Log:
    log = put(log, "pull_request", values.PULL, SYSTEM).activated("quality")
    return log.event("gate_opened", gate="quality", need="one approving review", who=["ann"], why="nobody yet")


def at_merge(log: Log) -> Log:
    log = at_quality(log).event("gate_resolved", gate="quality", by=["bob"]).ended("quality")
    log.activated("quality", 2).event("gate_resolved", gate="quality", by=["ann"]).ended("quality", 2)
    return log.activated("merge").event("gate_opened", gate="merge", need="/merge", who=["max"])


STORIES: list[tuple[str, Story, str, State]] = [
    ("begun", lambda log: log, "open", "working"),
    ("at work", lambda log: log.activated("developer"), "open", "working"),
    ("between steps", lambda log: log.activated("developer").ended("developer"), "open", "working"),
    ("asking", asked, "open", "questions"),
    ("answered", lambda log: asked(log).ended("ask").activated("product_manager", 2), "open", "working"),
    ("at the quality gate", at_quality, "open", "waiting"),
    ("changes requested", noted, "open", "changes_requested"),
    ("at the merge gate", at_merge, "open", "ready_to_merge"),
    ("out of money", lambda log: log.activated("developer").event("run_parked", why="budget"), "open", "budget"),
    (
        "money given",
        lambda log: log.activated("developer").event("run_parked", why="budget").event("run_resumed"),
        "open",
        "working",
    ),
    (
        "worked on after a pause",
        lambda log: log.activated("developer").event("run_parked", why="budget").reply("developer"),
        "open",
        "working",
    ),
    ("stuck", lambda log: log.event("run_stuck", why="developer: no"), "open", "stuck"),
    ("stuck, then steered", lambda log: log.event("run_stuck", why="no").event("steered"), "open", "working"),
    ("stuck, then tried again", lambda log: log.event("run_stuck", why="no").event("run_resumed"), "open", "working"),
    ("being stopped", lambda log: log.add("note", {"cancel": "rita stopped it"}), "cancelling", "stopped"),
    ("stopped", lambda log: log.add("note", {"cancel": "rita stopped it"}), "run_cancelled", "stopped"),
    ("merged", lambda log: put(log, "summary", values.MERGED, SYSTEM), "run_completed", "merged"),
    ("given up", lambda log: log, "run_failed", "incomplete"),
    ("declined", lambda log: log, "run_declined", "declined"),
]


@pytest.mark.parametrize(("story", "status", "state"), [pytest.param(*row[1:], id=row[0]) for row in STORIES])
def test_where_a_run_stands(story: Story, status: str, state: State) -> None:
    assert view(story(begun()), status).state == state


def test_the_reasons() -> None:
    assert view(begun().event("run_stuck", why="developer: no")).reason == "developer: no"
    assert view(begun().add("note", {"cancel": "rita stopped it"}), "run_cancelled").reason == "rita stopped it"
    given_up = values.MERGED.model_copy(update={"outcome": "incomplete", "text": "Used up."})
    assert view(put(begun(), "summary", given_up), "run_failed").reason == "Used up."
    assert view(noted(begun())).reason == "Use another name."


def test_what_is_waited_for() -> None:
    waiting = view(at_quality(begun())).waiting
    assert waiting is not None
    assert (waiting.gate, waiting.need, waiting.who, waiting.why) == (
        "quality",
        "one approving review",
        ("ann",),
        "nobody yet",
    )
    assert view(begun().activated("developer")).waiting is None


def test_who_decided_is_who_decided_last_at_that_gate() -> None:
    assert view(at_merge(begun())).by == ("ann",)
    merged = put(at_merge(begun()).event("gate_resolved", gate="merge", by=["max"]), "summary", values.MERGED)
    assert view(merged, "run_completed").by == ("max",)
    assert view(merged, "run_completed").notes == ()
    assert view(noted(begun())).by == ("rita",)


def test_a_merge_by_hand_names_nobody_and_is_said() -> None:
    by_hand = values.MERGED.model_copy(update={"text": "merged by hand while the quality gate was shut"})
    shown = view(put(at_quality(begun()), "summary", by_hand), "run_completed")
    assert shown.by == ()
    assert shown.notes == ("The pull request was merged by hand while the quality gate was shut.",)


def test_gates_and_our_own_steps_are_not_at_work() -> None:
    log = at_quality(begun()).activated("status").activated("close").activated("developer").activated("tester")
    assert view(log).at_work == ("developer", "tester")


def test_the_newest_line_of_each_agent_in_the_order_of_their_first() -> None:
    log = put(begun(), "requirements", values.REQUIREMENTS, Author(kind="agent", name="product_manager"))
    put(log, "code", values.CODE)
    put(log, "pull_request", values.PULL, SYSTEM)
    put(log, "requirements", values.REQUIREMENTS.model_copy(update={"summary": "More."}),
        Author(kind="agent", name="product_manager"))  # fmt: skip
    assert [(line.agent, line.text[:22]) for line in view(log).work] == [
        ("product_manager", "2 requirements: More."),
        ("developer", "Add total.\n\nMore. (a.p"),
    ]


def test_an_ended_runs_time_stands_still() -> None:
    log = begun()
    assert view(log, now=60_000).seconds == 60.0
    assert view(log, "run_completed", now=60_000).seconds == 2.0
    assert view(log, now=-5).seconds == 0.0


def test_an_issue_that_was_cut_is_said() -> None:
    log = put(Log(), "issue", values.ISSUE.model_copy(update={"cut": True}), PERSON).event("run_started")
    assert "longer than fits" in view(log).notes[0]


def test_spending_is_by_node_in_the_order_of_beginning() -> None:
    log = begun().add("turn", {"node": "tester", "kind": "results"}).reply("developer").reply("architect")
    spending = spending_of(RUN, log.state())
    assert [(one.agent, one.calls, one.tokens, one.cost) for one in spending.agents] == [
        ("developer", 1, 427, 50),
        ("architect", 1, 427, 50),
    ]
    assert spending.models == {"m"}


@pytest.mark.parametrize(
    ("output", "last"),
    [("...\n3 passed\n\n", "3 passed"), ("", ""), (" \n\n", ""), ("one", "one")],
    ids=["ends blank", "nothing", "only blanks", "one line"],
)
def test_the_last_line_of_a_test_run(output: str, last: str) -> None:
    shown = telling.tests_of(put(begun(), "test_results", values.PASSED.model_copy(update={"output": output})).state())
    assert shown is not None
    assert (shown.last_line, shown.passed, shown.outcome) == (last, 3, "passed")


def test_before_the_first_test_run_there_is_none() -> None:
    assert telling.tests_of(begun().state()) is None
    assert view(begun()).tests is None


def test_the_pull_request_and_the_merge() -> None:
    shown = view(put(put(begun(), "pull_request", values.PULL), "summary", values.MERGED), "run_completed")
    assert shown.pull is not None
    assert (shown.pull.number, shown.pull.draft, shown.merged_sha) == (2, False, values.HEAD)
