"""The fold of a run's log."""

from __future__ import annotations

import pytest

from agents.board import Author, HumanNote, Vote
from handlers.ports import RecordType
from handlers.state import RunState
from tests.handlers.log import AGENT, PERSON, Log

NOTE = HumanNote(text="please", via="steer").model_dump(mode="json")
VOTE = Vote(gate="quality", digest="a", word="no").model_dump(mode="json")


def full() -> Log:
    log = Log().event("run_started").activated("developer").reply("developer", tools=["read_file", "submit"])
    log.entry("code", AGENT, {}, "code.1").event("code_updated").ended("developer")
    return log.add("receipt", {"key": "branch:x", "receipt": {"sha": "x"}}).add("note", {"node": "t", "error": "oops"})


def snapshot(state: RunState) -> object:
    return (state.position, state.board.all(), state.steps, state.said, state.nodes, state.bills, state.notes)


@pytest.mark.parametrize("cut", range(len(full().records) + 1))
def test_in_any_pieces_it_comes_to_the_same(cut: int) -> None:
    records = full().records
    pieces = RunState().feed(records[:cut]).feed(records[max(0, cut - 2) :])
    assert snapshot(pieces) == snapshot(full().state())


def test_a_record_read_twice_counts_once() -> None:
    log = full()
    state = log.state()
    before = snapshot(state)
    state.feed(log.records).feed(log.records[2:3])
    assert snapshot(state) == before
    assert state.bills["developer"].calls == 1
    assert len(state.said) == 2


def test_an_older_record_that_comes_late_is_passed_over() -> None:
    log = Log().event("run_started").event("code_updated").event("tests_passed")
    state = RunState().feed([log.records[2]]).feed([log.records[0]])
    assert [said.name for said in state.said] == ["tests_passed"]
    assert state.position == 3


def test_bills_add_up_by_node() -> None:
    state = Log().reply("developer").reply("developer", model="n").reply("tester").state()
    bill = state.bills["developer"]
    assert (bill.calls, bill.tokens_in, bill.tokens_out, bill.cached) == (2, 814, 40, 600)
    assert (bill.cost, bill.seconds, bill.models) == (100, 3.0, {"m", "n"})
    assert state.bills["tester"].calls == 1
    assert state.models == {"m", "n"}


def test_results_cost_nothing_and_name_the_last_tool() -> None:
    state = Log().add("turn", {"node": "developer", "kind": "results", "tools": ["a", "b"]}).state()
    assert state.bills["developer"].calls == 0
    assert state.last_tool == {"developer": "b"}
    assert state.models == frozenset()


def test_a_step_from_activation_to_end() -> None:
    log = Log().event("design_ready").activated("developer", inputs=("design.1",))
    assert [step.task for step in log.state().open_steps()] == ["r/developer.1"]
    step = log.ended("developer", outcome="failed", error="no").state().steps["r/developer.1"]
    assert (step.state, step.error, step.inputs, step.started_at, step.ended_at) == (
        "failed",
        "no",
        ("design.1",),
        2000,
        3000,
    )


def test_the_end_of_a_step_that_was_never_activated_is_nobodys() -> None:
    assert Log().ended("status").state().steps == {}


def test_only_what_failed_is_tried_again() -> None:
    log = Log().event("design_ready").activated("developer").activated("tester")
    log.ended("developer").ended("tester", outcome="failed").event("run_resumed")
    state = log.state()
    developer, tester = state.node("developer"), state.node("tester")
    assert (developer.retries, developer.failed, developer.seen) == (0, False, 2)
    assert (tester.retries, tester.failed, tester.seen, tester.visits) == (1, False, 0, 1)


def test_a_second_failure_goes_back_to_before_that_one() -> None:
    log = Log().event("design_ready").activated("tester").ended("tester", outcome="failed").event("run_resumed")
    log.activated("tester", 2).ended("tester", 2, outcome="failed").event("run_resumed")
    tester = log.state().node("tester")
    assert (tester.retries, tester.seen, tester.visits) == (2, 0, 2)


def test_a_note_of_a_person_gives_every_node_its_visits_back() -> None:
    log = Log().activated("developer").activated("developer", 2).entry("human_note", PERSON, NOTE)
    assert log.state().node("developer").since_person == 0
    assert log.state().node("developer").visits == 2


@pytest.mark.parametrize(
    ("kind", "author", "value"),
    [
        pytest.param("vote", PERSON, VOTE, id="a review, which anybody may write"),
        pytest.param("code", AGENT, {}, id="an agent's entry"),
    ],
)
def test_nothing_else_gives_visits_back(kind: str, author: Author, value: dict[str, object]) -> None:
    log = Log().activated("developer").activated("developer", 2).entry(kind, author, value)
    assert log.state().node("developer").since_person == 2


def test_used_up_visits_are_seen() -> None:
    state = Log().event("review_rejected").event("visits_exhausted", node="developer").state()
    assert state.node("developer").seen == 2


def test_the_last_of_some_events() -> None:
    state = Log().event("run_parked", why="budget").event("code_updated").event("run_resumed").state()
    last = state.last("run_parked", "run_resumed")
    assert last is not None
    assert (last.name, last.position) == ("run_resumed", 3)
    assert state.last("run_stuck") is None


def test_work_since_a_position() -> None:
    state = Log().event("run_parked").reply("developer").state()
    assert state.worked_since(1)
    assert not state.worked_since(2)


def test_a_stop_is_remembered_with_its_reason() -> None:
    assert Log().add("note", {"cancel": "rita stopped it", "cause": "d1"}).state().cancelled == "rita stopped it"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        pytest.param("run", {"anything": 1}, id="the run's own record"),
        pytest.param("attempt", {"key": "k"}, id="an attempt"),
        pytest.param("event", {"name": "from_the_future", "data": None}, id="an unknown event without data"),
        pytest.param("turn", {"node": "developer", "kind": "results", "tools": None}, id="a turn with odd tools"),
        pytest.param("note", {}, id="an empty note"),
    ],
)
def test_what_it_does_not_know_is_no_error(kind: RecordType, data: dict[str, object]) -> None:
    assert Log().add(kind, data).state().position == 1


def test_keys_that_have_run_are_known() -> None:
    assert Log().activated("developer").activated("developer", 2).state().keys == {"developer|1", "developer|2"}
