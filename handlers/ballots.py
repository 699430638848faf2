"""Somebody's word at a gate, however it was said: weighed against what is open, and written down as one VOTE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agents.board import Author, Entry, PullRequest, Vote
from handlers.context import Context
from handlers.events import Event
from handlers.messages.replies import ByReview, GateLine, HeadMoved, Reply, WhatIsOpen
from handlers.ports import RunFacts, Word
from handlers.pulls import say
from handlers.state import RunState
from handlers.votes import OpenGate, Spoken, Undecided, meant, open_gates
from handlers.workflow import Workflow

Via = Literal["command", "review", "button", "http"]
LONGEST_WORDS = 2_000


@dataclass(frozen=True)
class Facing:
    """What somebody who votes is faced with. `head`: the live head of the pull request, None where there is none."""

    run: RunFacts
    state: RunState
    workflow: Workflow
    gates: tuple[OpenGate, ...]
    head: str | None

    @property
    def pull_url(self) -> str:
        """The pull request's address, empty where there is none."""
        pull = self.state.board.value("pull_request", PullRequest)
        return pull.url if pull is not None else ""


@dataclass(frozen=True)
class Ballot:
    """One person's word on what a gate asks. `cause` is the event by which it came: it counts once."""

    gate: OpenGate
    word: Literal["yes", "no", "modify"]
    words: str
    via: Via
    by: Author
    cause: str
    url: str = ""


async def facing(context: Context, run: RunFacts) -> Facing:
    """The gates that are open in a run now, and the head that they have to be about."""
    state = await context.states.of(run.id, context.store.runs)
    workflow = Workflow.model_validate(run.workflow)
    head = (await context.github.pulls.get(run.repo, run.pull)).head_sha if run.pull is not None else None
    return Facing(run, state, workflow, open_gates(state, workflow), head)


def weigh(found: Facing, spoken: Spoken, verb: str) -> OpenGate | Reply:
    """The gate that is meant, or the answer that says what is open instead."""
    gate = meant(found.gates, spoken, found.head)
    return gate if isinstance(gate, OpenGate) else explain(found, spoken, verb, gate)


def explain(found: Facing, spoken: Spoken, verb: str, why: Undecided) -> Reply:
    """Why nothing was decided, with what is open now."""
    if why.reason == "by review":
        return ByReview(verb, found.pull_url)
    if why.reason == "moved" and found.head and spoken.sha and not found.head.startswith(spoken.sha):
        return HeadMoved(verb, spoken.sha, found.head)
    match why.reason:
        case "nothing open":
            problem = "Nothing waits for a decision here now."
        case "not open":
            problem = f"The {spoken.gate} gate is not open now."
        case "several":
            problem = "More than one gate is open, so I need to know which one you mean."
        case "moved":
            problem = "The pull request has a new commit, and its gates have not asked about that one yet."
        case "too early":
            problem = "This was asked after you had written, so I cannot tell whether you meant it. Name it, please."
        case "by merge":
            problem = "The merge is asked for with `/merge`, and the work is ended with `/stop`."
    return WhatIsOpen(verb, problem, lines_of(found.gates))


def lines_of(gates: tuple[OpenGate, ...]) -> tuple[GateLine, ...]:
    """Open gates as an answer shows them."""
    return tuple(GateLine(gate.name, gate.command, gate.rule.said_by != "review", gate.who) for gate in gates)


def word_of(ballot: Ballot, at: int, halt: str = "") -> Word:
    """The vote as it is written down: who, at which gate, on what, with which words, where and when.

    `halt` ends the run in the same moment, for that reason.
    """
    gate = ballot.gate
    vote = Vote(
        gate=gate.name,
        digest=gate.digest,
        word=ballot.word,
        words=ballot.words[:LONGEST_WORDS],
        via=ballot.via,
        url=ballot.url,
    )
    entry = Entry(
        id=f"vote.{gate.name}.{ballot.cause}",
        kind="vote",
        value=vote.model_dump(mode="json"),
        author=ballot.by,
        at=at,
    )
    data: dict[str, object] = {"gate": gate.name, "word": "no", "by": [ballot.by.name]}
    ended = Event(id=f"{ballot.cause}:refused", name="gate_resolved", cause=ballot.cause, data=data)
    return Word(ballot.cause, entries=(entry,), events=(ended,) if halt else (), halt=halt)


async def cast(context: Context, run: RunFacts, ballot: Ballot) -> bool:
    """Write the vote down and wake its gate; False when it was known, or the run has ended meanwhile."""
    return await say(context, run.id, word_of(ballot, context.clock.now_ms()))


def goes_back(found: Facing, gate: OpenGate) -> bool:
    """Whether a no at this gate goes back to who works on it, instead of ending the run: its node then hands the
    person's words on."""
    return any(node.gate == gate.name and node.via is not None for node in found.workflow.nodes.values())


async def refuse(context: Context, found: Facing, ballot: Ballot) -> bool:
    """Write a no down. The run ends with it, in the same moment, unless the gate goes back to somebody."""
    reason = f"{ballot.by.name} said no at the {ballot.gate.name} gate: {ballot.words[:500]}"
    halt = "" if goes_back(found, ballot.gate) else reason
    return await say(context, found.run.id, word_of(ballot, context.clock.now_ms(), halt))
