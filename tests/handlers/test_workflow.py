"""Workflows as data: loaded strictly, with errors that name things; and their guards."""

from __future__ import annotations

import pytest

from agents.board import Author, Board, Entry
from handlers.workflow import Guard, Node, Workflow, WorkflowError, load
from tests.fakes.team import feature

NODE = "{role: developer, on: run_started, reads: issue, writes: code}"


def workflow(*nodes: str) -> str:
    return "name: w\nnodes:\n" + "\n".join(f"  {node}" for node in nodes)


def one(text: str) -> Node:
    return load(workflow(f"a: {text}"), "w.yml").nodes["a"]


BROKEN = [
    pytest.param("name: [", ["w.yml is not valid YAML"], id="no YAML"),
    pytest.param("", ["w.yml is no workflow", "the file"], id="empty"),
    pytest.param("- a\n- b", ["the file"], id="a list"),
    pytest.param("nodes: {}", ["name"], id="no name"),
    pytest.param("name: w", ["nodes"], id="no nodes"),
    pytest.param("name: w\nnodes: {}\nsteps: 1", ["steps"], id="an unknown part"),
    pytest.param(workflow("a: {role: x, on: run_started, wirtes: code}"), ["nodes.a.wirtes"], id="a misspelt part"),
    pytest.param(workflow("a: {role: x}"), ["nodes.a.on"], id="nothing wakes it"),
    pytest.param(workflow("a: {on: run_started}"), ["nodes.a", "exactly one of role, action or gate"], id="no worker"),
    pytest.param(
        workflow("a: {role: x, gate: quality, on: run_started}"), ["nodes.a", "exactly one"], id="two workers"
    ),
    pytest.param(workflow("a: {role: x, on: run_startde}"), ["a waits for 'run_startde'"], id="an unknown event"),
    pytest.param(workflow("a: {role: x, on: issue_created}"), ["issue_created"], id="an event of GitHub's"),
    pytest.param(
        workflow("a: {role: x, on: run_started, reads: isue}"), ["a names the kind 'isue'", "known"], id="unknown read"
    ),
    pytest.param(workflow("a: {role: x, on: run_started, writes: cod}"), ["'cod'"], id="unknown write"),
    pytest.param(
        workflow("a: {role: x, on: run_started, writes: code, says: tests_passed}"),
        ["a says 'tests_passed'", "no kind that publishes it"],
        id="says what no kind of its publishes",
    ),
    pytest.param(
        workflow("a: {role: x, on: run_started, max_visits: 0}"), ["nodes.a.max_visits"], id="no visit at all"
    ),
    pytest.param(workflow(f"a: {NODE}", f"a: {NODE}"), ["'a' stands twice", "line 4"], id="a node twice"),
    pytest.param(
        workflow("a: {role: x, on: run_started, when: {}}"), ["nodes.a.when", "exactly one of field"], id="empty guard"
    ),
    pytest.param(
        workflow("a: {role: x, on: run_started, when: {field: code.tree, value: 1, all: []}}"),
        ["nodes.a.when", "exactly one of field"],
        id="a guard that is two",
    ),
    pytest.param(
        workflow("a: {role: x, on: run_started, when: {field: code.tree, op: like, value: 1}}"),
        ["nodes.a.when.op"],
        id="an unknown operator",
    ),
    pytest.param(
        workflow("a: {role: x, on: run_started, when: {not: {any: [{field: requirments.complexity, value: large}]}}}"),
        ["a has a guard on 'requirments.complexity'"],
        id="a guard on an unknown kind, deep inside",
    ),
    pytest.param(
        workflow("a: {role: x, on: run_started, when: {field: requirements.size, value: large}}"),
        ["'requirements.size'"],
        id="a guard on an unknown field",
    ),
    pytest.param(
        workflow("a: {role: x, on: nonsense, reads: nothing}", "b: {role: x, on: never}"),
        ["'nonsense'", "'nothing'", "'never'"],
        id="everything at once",
    ),
    pytest.param(workflow("a: !!python/object/apply:os.system ['true']"), ["not valid YAML"], id="no objects"),
]


@pytest.mark.parametrize(("text", "named"), BROKEN)
def test_a_broken_workflow_is_refused_by_name(text: str, named: list[str]) -> None:
    with pytest.raises(WorkflowError) as caught:
        load(text, "w.yml")
    for part in ["w.yml", *named]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        pytest.param("run_started", ["run_started"], id="a word"),
        pytest.param("code_updated tests_written", ["code_updated", "tests_written"], id="words"),
        pytest.param('"code_updated, tests_written"', ["code_updated", "tests_written"], id="words with a comma"),
        pytest.param("[code_updated, tests_written]", ["code_updated", "tests_written"], id="a list"),
        pytest.param("[{event: code_updated}]", ["code_updated"], id="a record"),
    ],
)
def test_on_takes_words_and_is_no_boolean(text: str, events: list[str]) -> None:
    assert [one.event for one in one(f"{{role: x, on: {text}}}").on] == events


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "y", "n"])
def test_only_true_and_false_are_booleans(word: str) -> None:
    assert load(f"name: {word}\nnodes: {{}}", "w.yml").name == word
    assert one("{role: x, on: run_started, ends: true}").ends is True


def test_reads_and_their_question_marks() -> None:
    node = one('{role: x, on: run_started, reads: "issue design? code"}')
    assert (node.required, node.kinds) == (("issue", "code"), ("issue", "design", "code"))


@pytest.mark.parametrize(
    ("name", "data", "woken"),
    [
        pytest.param("steered", {"via": "answer"}, True, id="fits"),
        pytest.param("steered", {"via": "review", "more": 1}, True, id="fits the other"),
        pytest.param("steered", {"via": "running"}, False, id="another value"),
        pytest.param("steered", {}, False, id="no such field"),
        pytest.param("run_started", {"via": "answer"}, False, id="another event"),
    ],
)
def test_a_narrowed_subscription(name: str, data: dict[str, object], woken: bool) -> None:
    [subscription] = one("{role: x, on: [{event: steered, where: {via: [answer, review]}}]}").on
    assert subscription.matches(name, data) is woken


def test_a_stored_workflow_is_the_one_that_was_loaded() -> None:
    guarded = load(
        workflow("a: {role: x, on: run_started, when: {not: {field: code.tree, op: in, value: [a, b]}}}"), "w.yml"
    )
    for known in (feature(), guarded):
        stored = known.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        assert Workflow.model_validate(stored) == known


# --- Guards

REQUIREMENTS = {"complexity": "large", "items": [1, 2], "cost": 4, "none": None, "flag": True}


def board(*kinds: str) -> Board:
    author = Author(kind="system", name="seconder")
    return Board(Entry(id=kind, kind=kind, value=REQUIREMENTS, author=author) for kind in kinds)


def field(name: str, op: str, value: object) -> dict[str, object]:
    return {"field": name, "op": op, "value": value}


LARGE, SMALL = field("design.complexity", "==", "large"), field("design.complexity", "==", "small")
GUARDS = [
    pytest.param(LARGE, True, id="equal"),
    pytest.param(SMALL, False, id="not equal"),
    pytest.param(field("design.complexity", "!=", "small"), True, id="unlike"),
    pytest.param(field("design.complexity", "in", ["medium", "large"]), True, id="in"),
    pytest.param(field("design.complexity", "in", ["medium"]), False, id="not in it"),
    pytest.param(field("design.complexity", "not in", ["medium"]), True, id="not in"),
    pytest.param(field("design.complexity", "in", "large"), False, id="in a text is no list"),
    pytest.param(field("design.cost", "<", 5), True, id="less"),
    pytest.param(field("design.cost", "<", 4), False, id="not less"),
    pytest.param(field("design.cost", "<=", 4), True, id="at most"),
    pytest.param(field("design.cost", ">", 3.5), True, id="more"),
    pytest.param(field("design.cost", ">=", 5), False, id="not at least"),
    pytest.param(field("design.complexity", "<", 5), False, id="a word is not less than a number"),
    pytest.param(field("design.cost", "<", "5"), False, id="a number is not less than a word"),
    pytest.param(field("design.none", "==", None), True, id="null is null"),
    pytest.param(field("design.items", "==", [1, 2]), True, id="lists"),
    pytest.param(field("design.absent", "!=", "x"), False, id="a field that is not there, even unlike"),
    pytest.param(field("review.complexity", "!=", "x"), False, id="an entry that is not there, even unlike"),
    pytest.param(field("design", "==", "large"), False, id="no field named"),
    pytest.param({"all": [LARGE, field("design.cost", ">", 3)]}, True, id="all"),
    pytest.param({"all": [LARGE, SMALL]}, False, id="not all"),
    pytest.param({"all": []}, True, id="all of nothing"),
    pytest.param({"any": [SMALL, LARGE]}, True, id="any"),
    pytest.param({"any": [SMALL]}, False, id="not any"),
    pytest.param({"any": []}, False, id="any of nothing"),
    pytest.param({"not": SMALL}, True, id="not"),
    pytest.param({"not": LARGE}, False, id="not not"),
    pytest.param({"not": field("review.complexity", "==", "x")}, True, id="not of what is not there"),
    pytest.param({"all": [{"not": SMALL}, {"any": [SMALL, {"all": [LARGE]}]}]}, True, id="nested"),
]


@pytest.mark.parametrize(("guard", "holds"), GUARDS)
def test_a_guard(guard: dict[str, object], holds: bool) -> None:
    assert Guard.model_validate(guard).holds(board("design", "code")) is holds


def test_a_guard_looks_at_the_live_entry() -> None:
    made = board("design")
    author = Author(kind="system", name="seconder")
    made.add(Entry(id="d2", kind="design", value={"complexity": "small"}, author=author, supersedes="design"))
    assert Guard.model_validate(SMALL).holds(made)
