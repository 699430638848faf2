"""Which gates are open, and which of them somebody's words mean: tables over the pure folds."""

from __future__ import annotations

import pytest

from agents.board import Author, Entry, Vote
from handlers.state import RunState, Said, Step
from handlers.votes import RULES, OpenGate, Spoken, Undecided, meant, newest_votes, open_gates
from handlers.workflow import Node, Subscription, Workflow

HEAD, NEW = "0123abcd" * 5, "fedc9876" * 5
WORKFLOW = Workflow(
    name="w",
    nodes={
        "look": Node(gate="security", on=(Subscription(event="pr_opened"),)),
        "quality": Node(gate="quality", on=(Subscription(event="pr_ready"),)),
    },
)
Happening = tuple[str, dict[str, object]]


def opened(gate: str, **data: object) -> Happening:
    return "gate_opened", {"gate": gate, **data}


def log(*happenings: Happening) -> RunState:
    """A state of a log in which these follow each other: events, or a node that becomes due (`due`) or ends (`end`)."""
    state = RunState()
    for position, (name, data) in enumerate(happenings, 1):
        if name == "due":
            node = str(data["node"])
            state.begin(Step(f"r/{node}.{position}", node, 1, (), (), position))
        elif name == "end":
            state._open.clear()
        else:
            state.say(Said(position, name, data, position * 1000))
        state.position = position
    return state


DUE: Happening = ("due", {"node": "look"})
END: Happening = ("end", {})
PASSED: Happening = ("gate_resolved", {"gate": "security"})
OPEN = [
    pytest.param([], [], id="nothing happened"),
    pytest.param([DUE], [], id="due, and has not asked"),
    pytest.param([DUE, opened("security", head=HEAD)], [("security", HEAD, 2000)], id="asked"),
    pytest.param([opened("security", head=HEAD)], [], id="asked by a step that does not wait any more"),
    pytest.param([DUE, opened("security", head=HEAD), END, PASSED], [], id="passed"),
    pytest.param([DUE, opened("security", head=HEAD), END], [], id="its step ended without a pass"),
    pytest.param(
        [DUE, opened("security", head=HEAD), END, PASSED, DUE, opened("security", head=NEW)],
        [("security", NEW, 6000)],
        id="passed, and asked again",
    ),
    pytest.param(
        [DUE, opened("security", head=HEAD), END, PASSED, DUE], [], id="due again, with the old prompt still there"
    ),
    pytest.param(
        [DUE, opened("security", head=HEAD, why="a"), opened("security", head=HEAD, why="b")],
        [("security", HEAD, 2000)],
        id="said again for another reason: asked since the first",
    ),
    pytest.param(
        [DUE, opened("security", head=HEAD), opened("security", head=NEW)],
        [("security", NEW, 3000)],
        id="another head: asked since the second",
    ),
    pytest.param(
        [DUE, opened("security", head=HEAD, digest="d1"), opened("security", head=HEAD, digest="d2")],
        [("security", "d2", 3000)],
        id="other findings on the same head",
    ),
    pytest.param([opened("cost", digest="r:5")], [("cost", "r:5", 1000)], id="no node of its own"),
    pytest.param([opened("cost", digest="r:5"), ("gate_resolved", {"gate": "cost"})], [], id="that one passed"),
    pytest.param(
        [opened("cost", digest="r:5"), PASSED], [("cost", "r:5", 1000)], id="another one's pass changes nothing"
    ),
    pytest.param([opened("cost", digest="r:5"), ("gate_voided", {"voids": "cost"})], [], id="voided"),
    pytest.param([opened("dance", digest="x")], [], id="a gate that nobody knows"),
    pytest.param(
        [DUE, opened("cost", digest="r:5"), opened("security", head=HEAD)],
        [("security", HEAD, 3000), ("cost", "r:5", 2000)],
        id="several, in the list's order",
    ),
]


@pytest.mark.parametrize(("happened", "expected"), OPEN)
def test_open_gates(happened: list[Happening], expected: list[tuple[str, str, int]]) -> None:
    found = open_gates(log(*happened), WORKFLOW)
    assert [(gate.name, gate.digest, gate.prompted_at) for gate in found] == expected


def gate(name: str, head: str | None = HEAD, at: int = 5000) -> OpenGate:
    return OpenGate(name, head or "run:5", head, at)


SECURITY, COST, QUALITY, MERGE = gate("security"), gate("cost", None), gate("quality"), gate("merge")
LATE_COST = gate("cost", None, 9000)
MEANT = [
    pytest.param([], Spoken("yes", at=6000), HEAD, "nothing open", id="nothing open"),
    pytest.param([SECURITY], Spoken("yes", at=6000), HEAD, "security", id="bare, the only one"),
    pytest.param([SECURITY], Spoken("yes", at=5000), HEAD, "security", id="bare, in the same millisecond"),
    pytest.param([SECURITY], Spoken("yes", at=4999), HEAD, "too early", id="bare, before it was asked"),
    pytest.param([SECURITY], Spoken("yes"), HEAD, "too early", id="bare, nobody knows when"),
    pytest.param([SECURITY], Spoken("yes", at=6000), NEW, "moved", id="bare, after a push"),
    pytest.param([SECURITY], Spoken("yes", at=6000), None, "moved", id="bare, and the head is not known"),
    pytest.param([SECURITY], Spoken("yes", sha=HEAD[:7], at=1), HEAD, "security", id="the commit is named, early"),
    pytest.param([SECURITY], Spoken("yes", sha=HEAD), HEAD, "security", id="the whole commit is named"),
    pytest.param([SECURITY], Spoken("yes", sha=NEW[:7], at=6000), HEAD, "moved", id="another commit is named"),
    pytest.param([SECURITY], Spoken("yes", sha=NEW[:7], at=6000), NEW, "moved", id="the pushed commit, not asked yet"),
    pytest.param([SECURITY], Spoken("yes", sha=HEAD[:7], at=6000), NEW, "moved", id="the old commit after a push"),
    pytest.param([SECURITY, COST], Spoken("yes", at=6000), HEAD, "several", id="bare, two asked before"),
    pytest.param([SECURITY, LATE_COST], Spoken("yes", at=6000), HEAD, "security", id="bare, one of two asked before"),
    pytest.param([SECURITY, COST], Spoken("yes", at=6000), NEW, "cost", id="bare, one of two for this head"),
    pytest.param([SECURITY, LATE_COST], Spoken("yes", at=1), HEAD, "several", id="bare, none of two asked before"),
    pytest.param([SECURITY, COST], Spoken("yes", "cost", at=6000), HEAD, "cost", id="named, of two"),
    pytest.param([COST], Spoken("yes", "cost", at=6000), None, "cost", id="no head yet"),
    pytest.param([COST], Spoken("yes", "cost", at=1), None, "too early", id="named, before it was asked"),
    pytest.param([SECURITY], Spoken("yes", "cost", at=6000), HEAD, "not open", id="named, and not open"),
    pytest.param([QUALITY], Spoken("yes", at=6000), HEAD, "by review", id="bare, only quality"),
    pytest.param([QUALITY], Spoken("yes", "quality", at=6000), HEAD, "by review", id="quality by name"),
    pytest.param([QUALITY], Spoken("no", "quality", at=6000), HEAD, "by review", id="no to quality"),
    pytest.param([QUALITY, COST], Spoken("yes", at=6000), HEAD, "several", id="quality and another"),
    pytest.param([MERGE], Spoken("yes", at=6000), HEAD, "by merge", id="a bare yes merges nothing"),
    pytest.param([MERGE], Spoken("no", at=6000), HEAD, "by merge", id="a bare no at the merge"),
    pytest.param([SECURITY], Spoken("no", at=1), NEW, "security", id="a no counts early and on whatever head"),
    pytest.param([SECURITY, COST], Spoken("no", at=6000), HEAD, "several", id="a no, two open"),
    pytest.param([SECURITY, COST], Spoken("no", "cost"), HEAD, "cost", id="a no by name"),
]


@pytest.mark.parametrize(("gates", "spoken", "head", "expected"), MEANT)
def test_which_gate_is_meant(gates: list[OpenGate], spoken: Spoken, head: str | None, expected: str) -> None:
    found = meant(gates, spoken, head)
    assert (found.reason if isinstance(found, Undecided) else found.name) == expected


@pytest.mark.parametrize("name", list(RULES))
def test_every_gate_says_how_it_is_opened(name: str) -> None:
    said = gate(name).command
    assert said.startswith("/") is (RULES[name].said_by != "review")
    assert gate(name, None).command.endswith(("merge", name, "review"))


def vote(number: int, who: int | None, word: str = "yes", name: str = "cost", digest: str = "d") -> Entry:
    value = Vote.model_validate({"gate": name, "digest": digest, "word": word}).model_dump(mode="json")
    return Entry(id=f"v{number}", kind="vote", value=value, author=Author(kind="person", name="p", id=who), at=number)


COUNTED = [
    pytest.param([], [], id="nobody"),
    pytest.param([vote(1, 7)], ["v1"], id="one"),
    pytest.param([vote(1, 7), vote(2, 7, "no")], ["v2"], id="the newest of one person"),
    pytest.param([vote(1, 7), vote(2, 8), vote(3, 7, "no")], ["v2", "v3"], id="two people"),
    pytest.param([vote(1, 7), vote(2, 7, digest="e")], ["v1"], id="a word on something else replaces nothing"),
    pytest.param([vote(1, 7, name="plan")], [], id="another gate"),
    pytest.param([vote(1, None)], [], id="nobody known"),
    pytest.param([vote(1, 7).model_copy(update={"kind": "human_note"})], [], id="no vote"),
]


@pytest.mark.parametrize(("entries", "expected"), COUNTED)
def test_the_newest_vote_of_each_person_counts(entries: list[Entry], expected: list[str]) -> None:
    assert [entry.id for entry in newest_votes(entries, "cost", "d")] == expected
