"""A step costs the same in a short run and in a long one: counted in calls, since a test cannot trust time."""

from __future__ import annotations

import sys

from agents.board import Report
from handlers.control import decide
from handlers.telling import status_of
from handlers.workflow import load
from tests.fakes.runs import run_facts
from tests.handlers.log import AGENT, Log

RING = """
name: ring
nodes:
  one: {action: a, on: [run_started, code_updated], reads: "report?", writes: report}
  two: {action: b, on: design_ready, reads: report, writes: report}
  gate: {gate: quality, on: pr_ready, reads: report}
  never: {action: c, on: [{event: steered, where: {via: [answer]}}, conflict_found], reads: report}
  guarded: {action: d, on: [code_updated, design_ready], when: {field: report.text, value: x}, reads: report}
"""


def step(log: Log, number: int) -> None:
    """One step of the ring, as its records: two entries, three events, a reply."""
    node, visit = ("one", "two")[number % 2], number // 2 + 1
    value = Report(text="words").model_dump(mode="json")
    log.activated(node, visit, (f"report.{number - 1}b",))
    log.entry("report", AGENT, value, f"report.{number}").entry("report", AGENT, value, f"report.{number}b")
    log.event(("design_ready", "code_updated")[number % 2]).event("steered", via="steer").event("budget_warned")
    log.reply(node).ended(node, visit)


def calls(work: object) -> int:
    """How many functions, Python's own too, are called while `work` is done."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    assert callable(work)
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def cost_at(at: int) -> tuple[int, int]:
    """Calls to fold a step's records and decide what follows, and to tell the status, behind so many steps."""
    workflow, log = load(RING, "ring.yml"), Log().event("run_started")
    for number in range(at):
        step(log, number)
    state = log.state()
    known = len(log.records)
    step(log, at)
    new = log.records[known:]

    def go() -> None:
        [task] = decide("r", workflow, state.feed(new)).tasks
        assert task.node == ("two", "one")[at % 2]

    return calls(go), calls(lambda: status_of(run_facts(), state, 0, None))


def test_folding_deciding_and_telling_cost_the_same_at_any_length() -> None:
    costs = [cost_at(at) for at in (10, 100, 500)]
    assert costs[0][0] > 50
    for kind in zip(*costs, strict=True):
        assert max(kind) - min(kind) < 10, "a call for each earlier step would make hundreds"
