"""Which gates of a run wait for people, and which of them somebody's words mean. Pure folds of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.board import Entry
from handlers.state import RunState, Said
from handlers.workflow import Workflow

SHORTEST_SHA = 7


@dataclass(frozen=True)
class GateRule:
    """How people decide at a gate: the least permission that a word of theirs needs, and the way in which it is said.

    Whose word counts is the gate's own judgement, over live facts; this only keeps out what never could.
    """

    who: Literal["write", "maintain"]
    said_by: Literal["command", "review", "merge"]


RULES: Mapping[str, GateRule] = {
    "plan": GateRule("write", "command"),
    "security": GateRule("write", "command"),
    "cost": GateRule("write", "command"),
    "quality": GateRule("write", "review"),
    "merge": GateRule("maintain", "merge"),
}
"""All gates, one a line. A gate says `gate_opened` with its name, what it needs, from whom, its `head` where it has
one, and its `digest` where that is not the head; and `gate_resolved` with its name when it passes."""


NO_NODES = Workflow(name="none", nodes={})


@dataclass(frozen=True)
class OpenGate:
    """A gate that waits. A vote at it is bound to `digest`; `head` is the commit that it judges, None before there is
    one. `prompted_at` (ms UTC) is when this was first asked; `who` are the logins of those known who may decide.
    `suggested`: micro-dollars that a plain yes gives (cost). `operator`: only who hosts Seconder can say yes."""

    name: str
    digest: str
    head: str | None
    prompted_at: int
    who: tuple[str, ...] = ()
    need: str = ""
    why: str = ""
    suggested: int = 0
    operator: bool = False

    @property
    def rule(self) -> GateRule:
        """How people decide here."""
        return RULES[self.name]

    @property
    def command(self) -> str:
        """The command that says yes here, whole; for the quality gate what it is instead."""
        if self.rule.said_by == "review":
            return "an approving review"
        named = f" {self.head[:SHORTEST_SHA]}" if self.head else ""
        return f"/merge{named}" if self.rule.said_by == "merge" else f"/approve {self.name}{named}"


def open_gates(state: RunState, workflow: Workflow) -> tuple[OpenGate, ...]:
    """The gates that wait for people now, in the order of `RULES`."""
    found = (_open(name, state, workflow) for name in RULES)
    return tuple(gate for gate in found if gate is not None)


def _open(name: str, state: RunState, workflow: Workflow) -> OpenGate | None:
    """The gate, if it was asked for after it was last due and last passed."""
    since = max(
        state.newest("gate_resolved", "gate", name),
        state.newest("gate_voided", "voids", name),
        _due_since(name, state, workflow),
    )
    prompts = [one for one in state.heard("gate_opened") if one.position > since and one.data.get("gate") == name]
    if not prompts:
        return None
    newest, head = prompts[-1], str(prompts[-1].data.get("head") or "")
    digest = _digest(newest)
    who = newest.data.get("who")
    return OpenGate(
        name=name,
        digest=digest,
        head=head or None,
        prompted_at=min(one.at for one in prompts if _digest(one) == digest),
        who=tuple(str(login) for login in who) if isinstance(who, list | tuple) else (),
        need=str(newest.data.get("need", "")),
        why=str(newest.data.get("why", "")),
        suggested=int(str(newest.data.get("suggested", 0))),
        operator=newest.data.get("operator") is True,
    )


def open_cost(state: RunState) -> OpenGate | None:
    """The cost gate, if it waits. It has no node, so no workflow is needed to tell."""
    return _open("cost", state, NO_NODES)


def _due_since(name: str, state: RunState, workflow: Workflow) -> int:
    """Where the gate's own step began to wait; behind the whole log where it has one that does not wait now. A gate
    without a node of its own (cost) waits from its prompt on."""
    nodes = {node for node, known in workflow.nodes.items() if known.gate == name}
    if not nodes:
        return 0
    return next((step.seen for step in state.open_steps() if step.node in nodes), state.position)


def _digest(prompt: Said) -> str:
    return str(prompt.data.get("digest") or prompt.data.get("head") or "")


def newest_votes(entries: Sequence[Entry], gate: str, digest: str) -> tuple[Entry, ...]:
    """Each person's newest vote at a gate on exactly this digest, oldest first."""
    newest: dict[int, Entry] = {}
    for entry in entries:
        value = entry.value
        if entry.kind == "vote" and entry.author.id and (value.get("gate"), value.get("digest")) == (gate, digest):
            newest.pop(entry.author.id, None)
            newest[entry.author.id] = entry
    return tuple(newest.values())


@dataclass(frozen=True)
class Spoken:
    """What somebody said: the gate if they named one, the commit if they did, and when (ms UTC; 0: nobody knows)."""

    word: Literal["yes", "no", "modify"]
    gate: str | None = None
    sha: str = ""
    at: int = 0


@dataclass(frozen=True)
class Undecided:
    """The words decide nothing, and why. `gate` is the one that they meant, where that is clear."""

    reason: Literal["nothing open", "several", "not open", "too early", "moved", "by review", "by merge"]
    gate: OpenGate | None = None


def meant(gates: Sequence[OpenGate], spoken: Spoken, head: str | None = None) -> OpenGate | Undecided:
    """The gate that somebody's words decide. `head`: the live head of the pull request, None where there is none.

    A yes counts on the commit that the gate's prompt shows, while that is still the live head, and, where it names no
    commit, only if the prompt is older than itself: nobody can have meant what they had not been shown.
    """
    if not gates:
        return Undecided("nothing open")
    named = [one for one in gates if spoken.gate in (None, one.name)]
    if not named:
        return Undecided("not open")
    if spoken.word != "yes":
        return _by_command(named[0]) if len(named) == 1 else Undecided("several")
    doubts = [(one, _doubt(one, spoken, head)) for one in named]
    clear = [one for one, doubt in doubts if doubt is None]
    if len(clear) == 1:
        return _by_command(clear[0])
    if clear or len(named) > 1:
        return Undecided("several")
    return doubts[0][1] or Undecided("several")


def _doubt(gate: OpenGate, spoken: Spoken, head: str | None) -> Undecided | None:
    """Why a yes cannot have meant this gate as it waits now, or None."""
    if gate.head is not None and (head != gate.head or not gate.head.startswith(spoken.sha)):
        return Undecided("moved", gate)
    if not spoken.sha and spoken.at < gate.prompted_at:
        return Undecided("too early", gate)
    return None


def _by_command(gate: OpenGate) -> OpenGate | Undecided:
    match gate.rule.said_by:
        case "command":
            return gate
        case "review":
            return Undecided("by review", gate)
        case "merge":
            return Undecided("by merge", gate)
