"""The cost gate: money is a decision. It stands before each paid step and asks people where a limit would be passed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Annotated

from pydantic import Field

from gates.evidence import Evidence, Person, UserId
from gates.gate import Gate
from gates.verdict import Blocked, Pass, Verdict, Wait

Micro = Annotated[int, Field(ge=0)]
DOLLAR = 1_000_000
LEAST_PAST = 3
"""Completed runs of a repository from which on they say more than a rule of thumb."""
BASE, PER_FILE, PER_CONTRACT = 600_000, 350_000, 80_000
"""The rule of thumb, in micro-dollars: the team's fixed part, each file to touch, each interface to hold."""
STEP = 5 * DOLLAR
"""What is suggested when a run is short, at least."""


class CostBallot(Evidence):
    """One person's yes or no to what costs were shown; `digest` is what they saw."""

    by: UserId
    digest: str
    yes: bool
    at: Annotated[int, Field(ge=0)]


class CostEvidence(Evidence):
    """What the cost gate looks at. Money in micro-dollars, dollars only in `monthly_usd`.

    `budget` and `spent` are the run's (lost calls count as spent). `needed` is what the next call can cost where that
    did not fit, else 0. `design` is the id of the live design, None before there is one; `estimate` what the whole run
    will cost by it. `asked` is the digest of the question that waits already, if one does. Of `day` (repository) and
    `month` (installation) a limit of 0 is none.
    """

    run: Annotated[str, Field(min_length=1)]
    budget: Micro
    spent: Micro
    needed: Micro = 0
    asked: str = ""
    design: str | None = None
    estimate: Micro = 0
    monthly_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    day: Micro = 0
    day_limit: Micro = 0
    month: Micro = 0
    month_limit: Micro = 0
    ballots: tuple[CostBallot, ...] = ()
    standings: tuple[Person, ...] = ()


@dataclass(frozen=True)
class Question:
    """What people are asked: why, under which digest, and how many micro-dollars more a plain yes gives (0: none).

    `operator`: nobody here can say yes, only whoever hosts Seconder; it goes on by itself when the day or month
    is over.
    """

    digest: str
    why: str
    suggested: int = 0
    operator: bool = False


def estimate(files: int, contracts: int, past: tuple[int, ...]) -> int:
    """What a run with such a design costs in all, in micro-dollars, roughly.

    `past` is what the repository's completed runs cost; three of them or more count as much as the design's size.
    """
    by_size = BASE + PER_FILE * max(1, files) + PER_CONTRACT * contracts
    return by_size if len(past) < LEAST_PAST else (by_size + int(median(past))) // 2


def question(evidence: CostEvidence) -> Question | None:
    """What has to be asked, or None where all limits hold or what passes them was accepted.

    The hard limits come first: nobody can accept what would pass them.
    """
    return _hard(evidence) or _of_design(evidence) or _short(evidence)


def _money(micro: int) -> str:
    return f"${micro / DOLLAR:,.2f}"


def _hard(evidence: CostEvidence) -> Question | None:
    next_call = max(1, evidence.needed)
    for name, used, limit, until in (
        ("repository", evidence.day, evidence.day_limit, "today, until midnight UTC"),
        ("installation", evidence.month, evidence.month_limit, "this month, UTC"),
    ):
        if limit and used + next_call > limit:
            why = f"this {name} has used {_money(used)} of the {_money(limit)} that it may use {until}"
            return Question(f"{evidence.run}:{name}:{limit}", why, operator=True)
    return None


def _of_design(evidence: CostEvidence) -> Question | None:
    """The design commits money, or its estimate passes the run's limit: one yes to this very design settles both."""
    if evidence.design is None:
        return None
    reasons = []
    if evidence.monthly_usd > 0:
        reasons.append(f"the design commits ${evidence.monthly_usd:,.2f} a month outside of this run")
    over = max(evidence.estimate, evidence.spent) - evidence.budget
    if over > 0 and evidence.estimate > evidence.budget:
        reasons.append(
            f"the whole work is estimated at {_money(evidence.estimate)}, the limit is {_money(evidence.budget)}"
        )
    digest = f"{evidence.run}:design:{evidence.design}"
    if not reasons or _yes(evidence, digest):
        return None
    suggested = -(-over // DOLLAR) * DOLLAR if over > 0 else 0
    return Question(digest, "; ".join(reasons), suggested)


def _short(evidence: CostEvidence) -> Question | None:
    """A call does not fit. While that is asked, nothing else of the run is paid for either, small as it may be."""
    left, digest = evidence.budget - evidence.spent, f"{evidence.run}:limit:{evidence.budget}"
    if evidence.needed <= max(0, left):
        return Question(digest, "the run waits for more money", STEP) if evidence.asked == digest else None
    rest = f"{_money(max(0, left))} of {_money(evidence.budget)} is left"
    why = f"the next call can cost {_money(evidence.needed)}, and {rest}"
    suggested = max(STEP, -(-(evidence.needed - left) // DOLLAR) * DOLLAR)
    return Question(digest, why, suggested)


def _yes(evidence: CostEvidence, digest: str) -> tuple[Person, ...]:
    """Who said yes to this last, and may."""
    newest = {one.by: one for one in sorted(evidence.ballots, key=lambda one: one.at) if one.digest == digest}
    return tuple(one for one in evidence.standings if one.at_least("write") and one.id in newest and newest[one.id].yes)


def judge(evidence: Evidence) -> Verdict:
    """Pass while every limit holds, or what passes one was accepted by somebody with write; else wait."""
    if not isinstance(evidence, CostEvidence):
        return Blocked("nothing is known of what this costs")
    asked = question(evidence)
    if asked is None:
        by = _yes(evidence, f"{evidence.run}:design:{evidence.design}")
        return Pass(by, "accepted" if by else "within all limits")
    if asked.operator:
        return Wait("more money from whoever hosts Seconder", (), asked.why)
    more = f" +{asked.suggested // DOLLAR}" if asked.suggested else ""
    return Wait(f"`/approve cost{more}`", tuple(one for one in evidence.standings if one.at_least("write")), asked.why)


GATE = Gate(
    name="cost",
    check=None,
    opens="spending and estimate within the limits of run, repository-day and installation-month, and a design that "
    "commits no money; or a yes to it",
    decides="people with write access; the limits of day and month only whoever hosts Seconder",
    judge=judge,
    facts=CostEvidence,
)
