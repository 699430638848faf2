"""The analysis of workflows: planted faults are named with their path, and what passes is as promised."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.roles import ROLES
from gates import GATES
from handlers.analysis import check, edges, says, starts
from handlers.steps import words
from handlers.workflow import Node, Workflow, WorkflowError, load
from tests.fakes.team import feature

NAMES = ([role.name for role in ROLES], words("action"), [gate.name for gate in GATES])

FINE = """
name: fine
nodes:
  plan: {role: product_manager, on: run_started, reads: issue, writes: requirements}
  code: {role: developer, on: [requirements_ready, tests_failed], reads: "requirements code?", writes: code, max_visits: 3}
  test: {action: run_tests, on: code_updated, reads: code, writes: test_results}
  publish: {action: publish, on: tests_passed tests_not_run conflict_found, reads: code, writes: pull_request, says: pr_opened}
  security: {gate: security, on: pr_opened, reads: pull_request, writes: summary, ends: true}
  ready: {action: mark_ready, on: [{event: gate_resolved, where: {gate: [security]}}], reads: pull_request, writes: pull_request, says: pr_ready}
  quality: {gate: quality, on: pr_ready, reads: pull_request, writes: human_note}
  merge: {gate: merge, on: [{event: gate_resolved, where: {gate: [quality]}}], reads: pull_request, writes: summary, ends: true}
  over: {action: give_up, on: visits_exhausted, reads: issue, writes: summary, ends: true}
"""  # noqa: E501 - one node a line reads better


def problems(text: str) -> str:
    """What the analysis says, or nothing."""
    try:
        check(load(text, "w.yml"), *NAMES)
    except WorkflowError as error:
        return str(error)
    return ""


def but(name: str, node: str) -> str:
    """The fine workflow with one node replaced or added; an empty text takes it away."""
    lines = [line for line in FINE.strip().splitlines() if not line.startswith(f"  {name}:")]
    return "\n".join([*lines, *([f"  {name}: {node}"] if node else [])])


def test_the_shipped_workflow_passes() -> None:
    check(feature(), *NAMES)


def test_the_fine_one_passes() -> None:
    assert problems(FINE) == ""


PLANTED = [
    pytest.param(
        but("lost", "{role: tester, on: questions_asked, reads: issue, writes: tests}"),
        ["lost is never reached", "run_started"],
        id="a node that nobody wakes",
    ),
    pytest.param(
        but("lost", "{role: tester, on: [{event: gate_resolved, where: {gate: [plan]}}], reads: issue, writes: tests}"),
        ["lost is never reached"],
        id="a node that waits for another gate",
    ),
    pytest.param(
        but("aside", "{role: tester, on: run_started, reads: issue, writes: design}"),
        ["from aside no end can be reached"],
        id="a dead end",
    ),
    pytest.param(
        but("code", "{role: developer, on: [requirements_ready, tests_failed], reads: requirements, writes: code}"),
        ["a cycle without max_visits", "test → code → test"],
        id="a cycle without a bound",
    ),
    pytest.param(
        but("plan", "{role: product_manager, on: run_started requirements_ready, reads: issue, writes: requirements}"),
        ["a cycle without max_visits: plan → plan"],
        id="a node that wakes itself",
    ),
    pytest.param(
        but(
            "publish",
            '{action: publish, on: tests_passed, reads: "code design", writes: pull_request, says: pr_opened}',
        ),
        ["publish needs design", "plan → code → test → publish"],
        id="a read that nobody writes",
    ),
    pytest.param(
        but("test", '{action: run_tests, on: code_updated run_started, reads: "issue code", writes: test_results}'),
        ["test needs code, but nobody wrote it on the way test"],
        id="a read that one of two ways leaves empty",
    ),
    pytest.param(
        but("plan", "{role: product_manager, on: run_started, reads: issue, writes: requirements questions}").replace(
            "on: [requirements_ready, tests_failed]", "on: [questions_asked, tests_failed]"
        ),
        ["code needs requirements", "plan → code"],
        id="a read whose writer said something else",
    ),
    pytest.param(
        but("merge", "{gate: merge, on: pr_ready gate_resolved, reads: pull_request, writes: summary, ends: true}"),
        ["merge is reached past the quality gate", "plan → code → test → publish → security → merge"],
        id="a way round the quality gate",
    ),
    pytest.param(
        but("ready", "{action: mark_ready, on: pr_opened, reads: pull_request, writes: pull_request, says: pr_ready}"),
        [
            "ready is reached past the security gate: plan → code → test → publish → ready",
            "merge is reached past the security gate: plan → code → test → publish → ready → quality → merge",
        ],
        id="a way round the security gate",
    ),
    pytest.param(
        but("ready", "{action: mark_ready, on: pr_opened, reads: pull_request, writes: pull_request}"),
        ["ready is reached past the security gate"],
        id="an action that could say that it is ready",
    ),
    pytest.param(
        but("security", "").replace("on: [{event: gate_resolved, where: {gate: [security]}}]", "on: pr_opened"),
        ["merge is reached past the security gate"],
        id="no security gate at all",
    ),
    pytest.param(
        but("quality", ""),
        ["merge is never reached"],
        id="no quality gate at all",
    ),
    pytest.param(
        but("plan", "{role: manager, on: run_started, reads: issue, writes: requirements}"),
        ["plan uses 'manager'", "known roles are", "product_manager"],
        id="an unknown role",
    ),
    pytest.param(
        but("test", "{action: run_test, on: code_updated, reads: code, writes: test_results}"),
        ["test uses 'run_test'", "known actions are", "run_tests"],
        id="an unknown action",
    ),
    pytest.param(
        but("quality", "{gate: qualtiy, on: pr_ready, reads: pull_request, writes: human_note}"),
        ["quality uses 'qualtiy'", "known gates are cost, merge, quality, security"],
        id="an unknown gate",
    ),
    pytest.param(
        but("test", "{action: status, on: code_updated, reads: code, writes: test_results}"),
        ["test uses 'status'"],
        id="a step of Seconder's own",
    ),
    pytest.param("name: w\nnodes: {a: {action: ask, on: steered, ends: true}}", ["a is never reached"], id="no start"),
]


@pytest.mark.parametrize(("text", "named"), PLANTED)
def test_a_planted_fault_is_named(text: str, named: list[str]) -> None:
    found = problems(text)
    for part in named:
        assert part in found


def test_every_fault_is_named_at_once() -> None:
    text = but("lost", "{role: nobody, on: questions_asked, reads: issue, writes: tests}")
    found = problems(text.replace("max_visits: 3", "max_visits: 9").replace("gate: quality,", "gate: qualtiy,"))
    assert "lost uses 'nobody'" in found
    assert "lost is never reached" in found
    assert "'qualtiy'" in found


def test_a_read_is_fed_by_a_writer_that_the_same_event_wakes() -> None:
    """The reader is not due before the writer is done."""
    arch = "{role: architect, on: EVENT, reads: issue, writes: design}"
    text = but("arch", arch).replace('"requirements code?", writes: code', '"requirements design code?", writes: code')
    for event in ("run_started", "requirements_ready"):
        assert problems(text.replace("EVENT", event)) == ""
    assert "code needs design" in problems(text.replace("EVENT", "code_updated"))


def test_where_people_are_waited_for_there_is_no_endless_loop() -> None:
    text = but("code", "{role: developer, on: [requirements_ready, steered], reads: requirements, writes: code}")
    assert problems("\n".join(line for line in text.splitlines() if "over:" not in line)) == ""


def test_what_a_node_says() -> None:
    nodes = feature().nodes
    assert says(nodes["run_tests"]) == {"tests_passed", "tests_failed", "tests_not_run", "conflict_found"}
    assert says(nodes["publish"]) == {"pr_opened", "pr_updated"}
    assert says(nodes["developer"]) == {"code_updated", "visits_exhausted"}
    assert "gate_resolved" in says(nodes["merge"])
    assert set(starts(feature())) == {"survey", "product_manager"}


# --- Random graphs, held against a search that shares nothing with the analysis

KINDS = {
    "requirements": ("requirements_ready",),
    "design": ("design_ready",),
    "code": ("code_updated",),
    "tests": ("tests_written",),
    "questions": ("questions_asked",),
}
EVENTS = [event for events in KINDS.values() for event in events]


@st.composite
def graphs(draw: st.DrawFn) -> Workflow:
    count = draw(st.integers(2, 5))
    nodes = {}
    for number in range(count):
        nodes[f"n{number}"] = Node.model_validate(
            {
                "role": "developer",
                "on": draw(st.lists(st.sampled_from(["run_started", *EVENTS]), min_size=1, max_size=2, unique=True)),
                "writes": draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=2, unique=True)),
                "reads": draw(st.lists(st.sampled_from(["issue", "code?", "design"]), max_size=1)),
                "max_visits": draw(st.sampled_from([None, None, 2])),
                "ends": draw(st.booleans()),
            }
        )
    return Workflow(name="random", nodes=nodes)


def wakes(source: Node, target: Node) -> bool:
    heard = {subscription.event for subscription in target.on}
    told = {event for kind in source.writes for event in KINDS[kind]}
    return bool(heard & told)


def every_cycle(workflow: Workflow) -> list[tuple[str, ...]]:
    """Every order of every choice of nodes that wakes on in a ring."""
    nodes = workflow.nodes
    return [
        ring
        for size in range(1, len(nodes) + 1)
        for ring in permutations(nodes, size)
        if all(wakes(nodes[a], nodes[b]) for a, b in zip(ring, (*ring[1:], ring[0]), strict=True))
    ]


def reached(workflow: Workflow) -> set[str]:
    """Grown round by round from the start."""
    found = {name for name, node in workflow.nodes.items() if any(one.event == "run_started" for one in node.on)}
    for _ in workflow.nodes:
        found |= {
            name for name, node in workflow.nodes.items() if any(wakes(workflow.nodes[there], node) for there in found)
        }
    return found


def verdict(workflow: Workflow) -> str:
    try:
        check(workflow, ["developer"], [], [])
    except WorkflowError as error:
        return str(error)
    return ""


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_what_is_accepted_has_no_cycle_without_a_bound_and_reaches_all(workflow: Workflow) -> None:
    found = verdict(workflow)
    endless = [ring for ring in every_cycle(workflow) if not any(workflow.nodes[name].max_visits for name in ring)]
    assert bool(endless) == ("a cycle without max_visits" in found)
    lost = set(workflow.nodes) - reached(workflow)
    assert lost == {name for name in workflow.nodes if f"{name} is never reached" in found}


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_a_named_cycle_is_one(workflow: Workflow) -> None:
    found = verdict(workflow)
    if "a cycle without max_visits: " not in found:
        return
    line = next(line for line in found.splitlines() if "a cycle without" in line)
    ring = line.partition(": ")[2].split(" → ")
    known = {(edge.source, edge.target) for edge in edges(workflow)}
    assert ring[0] == ring[-1]
    assert all(step in known for step in pairwise(ring))
