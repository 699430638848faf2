"""What is due: events wake, the board decides."""

from __future__ import annotations

import pytest

from handlers.control import Decision, decide
from handlers.workflow import Workflow, load
from tests.fakes.team import feature
from tests.handlers.log import AGENT, PERSON, Log

SMALL = """
name: small
nodes:
  writer: {role: writer, on: run_started, reads: issue, writes: code}
  tester: {role: tester, on: run_started, reads: issue, writes: tests}
  runner: {action: runner, on: [code_updated, tests_written], reads: "code tests?", writes: test_results}
  fixer: {role: fixer, on: tests_failed, reads: "code test_results human_note?", writes: code, max_visits: 2}
  gate: {gate: quality, on: tests_passed, reads: code, writes: human_note}
  noted: {role: noted, on: [tests_passed, {event: steered, where: {via: [steer]}}], reads: "issue human_note?"}
  picky: {role: picky, on: design_ready, when: {field: design.approach, value: big}, reads: design}
"""


@pytest.fixture
def small() -> Workflow:
    return load(SMALL, "small.yml")


def begun() -> Log:
    return Log().entry("issue", PERSON, {}, "issue.1").event("run_started")


def due(workflow: Workflow, log: Log) -> list[str]:
    return [task.node for task in decide("r", workflow, log.state()).tasks]


def said(workflow: Workflow, log: Log) -> list[str]:
    return [event.name for event in decide("r", workflow, log.state()).events]


def go(workflow: Workflow, log: Log) -> Decision:
    """Decide, and write down what ACTIVATE would."""
    decision = decide("r", workflow, log.state())
    for event in decision.events:
        log.event(event.name, **event.data)
    for task in decision.tasks:
        log.task(task)
    return decision


def coded(log: Log, entry_id: str = "code.1", node: str = "writer", visit: int = 1) -> Log:
    return log.entry("code", AGENT, {}, entry_id).event("code_updated").ended(node, visit)


def test_one_event_fans_out(small: Workflow) -> None:
    decision = decide("r", small, begun().state())
    assert [(task.node, task.inputs, task.writes, task.visit) for task in decision.tasks] == [
        ("writer", ("issue.1",), ("code",), 1),
        ("tester", ("issue.1",), ("tests",), 1),
    ]
    assert decision.length == 2


def test_what_is_at_work_is_not_due_again(small: Workflow) -> None:
    log = begun()
    go(small, log)
    assert due(small, log) == []


def test_fan_in_waits_for_whoever_can_still_write_what_is_read(small: Workflow) -> None:
    log = begun()
    go(small, log)
    coded(log)
    assert due(small, log) == []
    log.entry("tests", AGENT, {}, "tests.1").event("tests_written").ended("tester")
    tasks = decide("r", small, log.state()).tasks
    assert [(task.node, task.inputs) for task in tasks] == [("runner", ("code.1", "tests.1"))]


def test_fan_in_goes_on_when_one_side_failed(small: Workflow) -> None:
    log = begun()
    go(small, log)
    coded(log).ended("tester", outcome="failed", error="no")
    assert [task.inputs for task in decide("r", small, log.state()).tasks] == [("code.1",)]


def test_two_events_of_one_fan_in_make_one_step(small: Workflow) -> None:
    log = begun()
    go(small, log)
    coded(log).entry("tests", AGENT, {}, "tests.1").event("tests_written").ended("tester")
    go(small, log)
    assert due(small, log) == []
    log.ended("runner")
    assert due(small, log) == []


def test_news_with_nothing_new_to_read_runs_nothing_and_holds_nobody_back(small: Workflow) -> None:
    log = begun()
    go(small, log)
    coded(log).ended("tester")
    assert [task.node for task in go(small, log).tasks] == ["runner"]
    log.ended("runner").event("code_updated")
    assert due(small, log) == []
    assert said(small, log) == ["run_stuck"]


def test_a_required_read_that_is_missing_waits(small: Workflow) -> None:
    log = Log().event("run_started")
    assert due(small, log) == []
    assert due(small, log.entry("issue", PERSON, {}, "issue.1")) == ["writer", "tester"]


@pytest.mark.parametrize(("approach", "expected"), [("big", ["picky"]), ("small", [])])
def test_a_guard(small: Workflow, approach: str, expected: list[str]) -> None:
    log = Log().entry("design", AGENT, {"approach": approach}, "design.1").event("design_ready")
    assert due(small, log) == expected


@pytest.mark.parametrize(("via", "expected"), [("steer", ["noted"]), ("running", []), (None, [])])
def test_a_narrowed_subscription(small: Workflow, via: str | None, expected: list[str]) -> None:
    log = Log().entry("issue", PERSON, {}, "issue.1").event("steered", **({} if via is None else {"via": via}))
    assert due(small, log) == expected


def test_a_waiting_gate_holds_nobody_back(small: Workflow) -> None:
    log = Log().entry("issue", PERSON, {}, "issue.1").entry("code", AGENT, {}, "code.1").event("tests_passed")
    first = go(small, log)
    assert [task.node for task in first.tasks] == ["gate"]
    assert due(small, log) == ["noted"]


def test_a_gate_that_has_ended_is_not_woken_by_what_came_before(small: Workflow) -> None:
    log = Log().entry("code", AGENT, {}, "code.1").event("tests_passed")
    go(small, log)
    log.entry("code", AGENT, {}, "code.2").event("tests_passed").ended("gate")
    assert "gate" not in due(small, log)
    assert "gate" in due(small, log.event("tests_passed"))


def test_visits_run_out_once(small: Workflow) -> None:
    log = Log().entry("code", AGENT, {}, "code.0")
    for number in (1, 2):
        log.entry("test_results", AGENT, {}, f"test_results.{number}").event("tests_failed")
        assert [task.visit for task in go(small, log).tasks if task.node == "fixer"] == [number]
        coded(log, f"code.{number}", "fixer", number)
        go(small, log)
        log.ended("runner", number)
    log.entry("test_results", AGENT, {}, "test_results.3").event("tests_failed")
    decision = go(small, log)
    assert decision.tasks == ()
    assert [(event.name, event.data) for event in decision.events] == [
        ("visits_exhausted", {"node": "fixer", "visits": 2})
    ]
    assert "visits_exhausted" not in said(small, log)


def test_a_persons_note_gives_the_visits_back(small: Workflow) -> None:
    log = Log().entry("code", AGENT, {}, "code.1").activated("fixer").ended("fixer")
    log.activated("fixer", 2).ended("fixer", 2)
    log.entry("test_results", AGENT, {}, "test_results.1").event("tests_failed")
    assert said(small, log) == ["visits_exhausted"]
    log.entry("human_note", PERSON, {"text": "try this", "via": "steer"}, "human_note.1")
    assert due(small, log) == ["fixer"]


def test_a_run_that_cannot_go_on_says_so_once(small: Workflow) -> None:
    log = begun()
    go(small, log)
    log.ended("writer").ended("tester", outcome="failed", error="the key was refused")
    decision = go(small, log)
    assert [(event.name, event.data) for event in decision.events] == [
        ("run_stuck", {"why": "tester: the key was refused"})
    ]
    assert said(small, log) == []


def test_nothing_left_to_do_is_stuck_as_well(small: Workflow) -> None:
    log = begun()
    go(small, log)
    log.ended("writer").ended("tester")
    [event] = decide("r", small, log.state()).events
    assert event.data == {"why": "nothing is left to do, and the run has not ended"}


def test_while_somebody_works_or_waits_it_is_not_stuck(small: Workflow) -> None:
    log = begun()
    go(small, log)
    assert said(small, log.ended("writer", outcome="failed")) == []
    waiting = Log().entry("code", AGENT, {}, "code.1").event("tests_passed")
    go(small, waiting)
    assert said(small, waiting) == []


def test_after_a_retry_the_failed_step_is_due_as_a_new_one(small: Workflow) -> None:
    log = begun()
    go(small, log)
    log.ended("writer", outcome="failed", error="no").ended("tester")
    go(small, log)
    before = {task.key for task in decide("r", small, begun().state()).tasks}
    [task] = decide("r", small, log.event("run_resumed").state()).tasks
    assert (task.node, task.visit, task.inputs) == ("writer", 2, ("issue.1",))
    assert task.key not in before


def test_stuck_again_after_a_retry_is_said_again(small: Workflow) -> None:
    log = begun()
    go(small, log)
    log.ended("writer", outcome="failed", error="no").ended("tester")
    go(small, log)
    log.event("run_resumed")
    go(small, log)
    assert said(small, log.ended("writer", 2, outcome="failed", error="still no")) == ["run_stuck"]


def test_an_event_that_is_older_than_the_last_look_wakes_nobody(small: Workflow) -> None:
    log = begun()
    go(small, log)
    log.ended("writer").ended("tester")
    assert due(small, log) == []


# --- The shipped workflow


def feature_log() -> Log:
    log = begun()
    for kind in ("repo_map", "requirements", "design"):
        log.entry(kind, AGENT, {}, f"{kind}.1")
    return log.activated("survey").ended("survey").activated("product_manager").ended("product_manager")


def test_developer_and_tester_work_side_by_side() -> None:
    assert due(feature(), feature_log().event("design_ready")) == ["developer", "tester"]


def test_a_steer_that_a_working_agent_reads_wakes_nobody() -> None:
    log = feature_log().event("design_ready")
    go(feature(), log)
    log.entry("code", AGENT, {}, "code.1").ended("developer").ended("tester").activated("run_tests").ended("run_tests")
    note = {"text": "please", "via": "steer"}
    log.entry("human_note", PERSON, note, "human_note.1")
    assert "developer" not in due(feature(), log.event("steered", via="running"))
    assert "developer" in due(feature(), log.event("steered", via="steer"))


def test_rounds_that_end_in_a_refused_review_end_the_run() -> None:
    """What was published already is not published again, and does not keep the ending from being due."""
    log = feature_log().entry("code", AGENT, {}, "code.6").entry("test_results", AGENT, {}, "test_results.6")
    for visit in range(1, 7):
        log.activated("developer", visit).ended("developer", visit)
    log.event("tests_passed")
    assert [task.node for task in go(feature(), log).tasks] == ["reviewer", "publish"]
    log.entry("pull_request", AGENT, {}, "pull_request.1").event("pr_opened").ended("publish")
    log.entry("review", AGENT, {}, "review.6").event("review_rejected").ended("reviewer")
    assert [event.name for event in go(feature(), log).events] == ["visits_exhausted"]
    assert due(feature(), log) == ["give_up"]


@pytest.mark.parametrize(
    ("events", "woken"),
    [
        pytest.param([{"gate": "quality", "by": "ann"}], True, id="both fields in one event"),
        pytest.param([{"gate": "quality", "by": "max"}, {"gate": "merge", "by": "ann"}], False, id="one field in each"),
        pytest.param([{"gate": "quality"}], False, id="one field missing"),
        pytest.param([{"gate": "quality", "by": "ann"}, {"gate": "merge"}], True, id="the older event matches"),
        pytest.param([], False, id="nothing said"),
    ],
)
def test_a_subscription_narrowed_twice_needs_one_event_with_both(events: list[dict[str, str]], woken: bool) -> None:
    where = "{event: gate_resolved, where: {gate: [quality], by: [ann, ben]}}"
    workflow = load(f"name: w\nnodes:\n  merge: {{gate: merge, on: [{where}], reads: issue}}\n", "w.yml")
    log = begun()
    for data in events:
        log.event("gate_resolved", **data)
    assert due(workflow, log) == (["merge"] if woken else [])
