"""The cost gate before a paid step: nothing is spent while people are asked whether it may be."""

from __future__ import annotations

from agents.board import Design, Vote, value_of
from gates import cost as gate
from gates import evaluate
from gates.cost import CostBallot, CostEvidence, estimate, question
from gates.evidence import Person
from gates.verdict import Pass, Wait
from handlers.events import Actor
from handlers.ports import Bounds, Commit, GitHubError, Later, Unknown, Word
from handlers.pulls import say
from handlers.votes import open_cost
from handlers.work import Work

GATE = "cost"
LOOK_AGAIN_MS = 15 * 60_000
"""How often a run looks whether the day or month that it waits for has come."""


def bounds(work: Work) -> Bounds:
    """The operator's limits of day and month, for whoever sets money aside."""
    options = work.context.options
    return Bounds(work.run.repo.installation, options.day_limit, options.month_limit)


async def ask_first(work: Work, needed: int = 0) -> Commit | None:
    """None where the step may spend; else the commit by which it waits at the gate. `needed`: what a call can cost
    that did not fit (micro-dollars)."""
    evidence = await _facts(work, needed)
    verdict = evaluate(gate.GATE, evidence)
    if isinstance(verdict, Pass):
        await _passed(work)
        return None
    asked = question(evidence) if isinstance(evidence, CostEvidence) else None
    data: dict[str, object] = {
        "gate": GATE,
        "digest": asked.digest if asked is not None else "unknown",
        "need": verdict.need if isinstance(verdict, Wait) else "",
        "who": [person.login for person in verdict.eligible] if isinstance(verdict, Wait) else [],
        "why": verdict.why if isinstance(verdict, Wait) else verdict.reason,
        "suggested": asked.suggested if asked is not None else 0,
        "operator": asked is not None and asked.operator,
    }
    again = 0 if isinstance(verdict, Wait) and not data["operator"] else LOOK_AGAIN_MS
    waiting = open_cost(work.state)
    if waiting is not None and waiting.digest == data["digest"]:
        return work.paused(again_in_ms=again) if needed else Commit("parked", retry_in_ms=again)
    events = [
        event.model_copy(update={"id": f"{event.id}:{work.state.position}"})
        for event in (
            work.event("gate_opened", data),
            work.event("run_parked", {"why": "budget", "needed": needed, "left": max(0, _left(work))}),
        )
    ]
    # Only a run that is short stops the steps beside this one: what else asks, asks each before it begins.
    short = needed and not data["operator"]
    return work.paused(*events) if short else Commit("parked", events=tuple(events), retry_in_ms=again)


async def _passed(work: Work) -> None:
    """Where the gate waited and passes by itself, as on the next day, that is said once."""
    waiting = open_cost(work.state)
    if waiting is None:
        return
    cause = f"{work.lease.task}:passed:{waiting.digest}"
    resolved = work.event("gate_resolved", {"gate": GATE, "by": []}).model_copy(update={"id": cause})
    resumed = work.event("run_resumed", {}).model_copy(update={"id": f"{cause}:resumed"})
    await say(work.context, work.run.id, Word(cause, events=(resolved, resumed)))


def _left(work: Work) -> int:
    run = work.run
    return run.budget - run.spent - run.unconfirmed


async def _facts(work: Work, needed: int) -> CostEvidence | GitHubError | ValueError:
    """What the gate looks at. Raises `Later` and `Unknown`, which are worth another look."""
    options, repo = work.context.options, work.run.repo
    run = await work.context.store.runs.facts(work.run.id) or work.run
    ledger = await work.context.store.turns.ledger(run.id, repo.installation)
    entry = work.state.board.live("design")
    design = value_of(entry, Design) if entry is not None else None
    expected = estimate(len(design.files_to_touch), len(design.contracts), ledger.past) if design is not None else 0
    waiting = open_cost(work.state)
    try:
        ballots, people = await _said(work)
        return CostEvidence(
            run=run.id,
            budget=run.budget,
            spent=run.spent + run.unconfirmed,
            needed=needed,
            asked=waiting.digest if waiting is not None else "",
            design=entry.id if entry is not None else None,
            estimate=expected,
            monthly_usd=design.monthly_usd if design is not None else 0.0,
            day=ledger.day,
            day_limit=options.day_limit,
            month=ledger.month,
            month_limit=options.month_limit,
            ballots=ballots,
            standings=people,
        )
    except (Later, Unknown):
        raise
    except (GitHubError, ValueError) as error:
        return error


async def _said(work: Work) -> tuple[tuple[CostBallot, ...], tuple[Person, ...]]:
    """Everybody's words at this gate, and the live standing of everybody who said one."""
    ballots: list[CostBallot] = []
    people: dict[int, Person] = {}
    for entry in work.state.entries("vote"):
        if entry.value.get("gate") != GATE or not entry.author.id:
            continue
        vote = value_of(entry, Vote)
        ballots.append(CostBallot(by=entry.author.id, digest=vote.digest, yes=vote.word == "yes", at=entry.at))
        if entry.author.id not in people:
            who = Actor(id=entry.author.id, login=entry.author.name)
            one = await work.context.github.people.standing(work.run.repo, who)
            person = Person(id=one.user.id, login=one.user.login, type=one.user.type, permission=one.permission)
            people[entry.author.id] = person
    return tuple(ballots), tuple(people.values())
