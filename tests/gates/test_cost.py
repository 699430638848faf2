"""The cost gate over its evidence: limits, estimates, committed money, and who said yes to what."""

from __future__ import annotations

from typing import Any

import pytest

from gates import cost, evaluate
from gates.cost import CostBallot, CostEvidence, estimate, question
from gates.evidence import Person
from gates.verdict import Blocked, Pass, Wait

ANN = Person(id=7, login="ann", type="User", permission="write")
BASE: dict[str, Any] = {"run": "r", "budget": 5_000_000, "spent": 1_000_000}
DESIGNED = BASE | {"design": "d1", "estimate": 2_000_000}
DEAR = BASE | {"design": "d1", "estimate": 9_300_000}


def ballot(digest: str = "r:design:d1", yes: bool = True, at: int = 1, by: int = 7) -> CostBallot:
    return CostBallot(by=by, digest=digest, yes=yes, at=at)


def said(*ballots: CostBallot, person: Person = ANN) -> dict[str, Any]:
    return {"ballots": ballots, "standings": (person,)}


ROWS = [
    pytest.param(BASE, "", id="nothing asked yet"),
    pytest.param(DESIGNED, "", id="the estimate fits"),
    pytest.param(DEAR, "/approve cost +5", id="the estimate is over: what is missing, in whole dollars"),
    pytest.param(DEAR | said(ballot()), "", id="over, and accepted"),
    pytest.param(DEAR | said(ballot(yes=False)), "/approve cost +5", id="over, and a no"),
    pytest.param(DEAR | said(ballot(), ballot(yes=False, at=2)), "/approve cost +5", id="a yes taken back"),
    pytest.param(DEAR | said(ballot(yes=False), ballot(at=2)), "", id="a no taken back"),
    pytest.param(DEAR | said(ballot("r:design:d0")), "/approve cost +5", id="a yes to an older design"),
    pytest.param(DEAR | said(ballot("q:design:d1")), "/approve cost +5", id="a yes to another run"),
    pytest.param(
        DEAR | said(ballot(), person=ANN.model_copy(update={"permission": "triage"})),
        "/approve cost +5",
        id="a yes by somebody who lost write",
    ),
    pytest.param(
        DEAR | said(ballot(), person=ANN.model_copy(update={"permission": None})),
        "/approve cost +5",
        id="a yes by somebody whose permission is not known",
    ),
    pytest.param(
        DEAR | said(ballot(), person=ANN.model_copy(update={"type": "Bot"})), "/approve cost +5", id="a bot's yes"
    ),
    pytest.param(DESIGNED | {"monthly_usd": 40.0}, "/approve cost", id="the design commits money"),
    pytest.param(DESIGNED | {"monthly_usd": 40.0} | said(ballot()), "", id="committed money was accepted"),
    pytest.param(DEAR | {"monthly_usd": 40.0} | said(ballot()), "", id="one yes settles both"),
    pytest.param(BASE | {"needed": 4_000_000}, "", id="the next call fits exactly"),
    pytest.param(BASE | {"needed": 4_000_001}, "/approve cost +5", id="the next call does not fit"),
    pytest.param(BASE | {"spent": 5_500_000, "needed": 1}, "/approve cost +5", id="spent over the limit"),
    pytest.param(BASE | {"needed": 13_000_001}, "/approve cost +10", id="far too little: enough for the call"),
    pytest.param(BASE | {"asked": "r:limit:5000000"}, "/approve cost +5", id="another step asks for more already"),
    pytest.param(BASE | {"asked": "r:limit:4000000"}, "", id="what was asked for has been given"),
    pytest.param(BASE | {"day": 24_999_999, "day_limit": 25_000_000}, "", id="the day is nearly used up"),
    pytest.param(BASE | {"day": 25_000_000, "day_limit": 25_000_000}, "hosts", id="the day is used up"),
    pytest.param(
        BASE | {"day": 24_000_000, "day_limit": 25_000_000, "needed": 1_000_001}, "hosts", id="no call fits the day"
    ),
    pytest.param(BASE | {"day": 99_000_000}, "", id="no limit of a day"),
    pytest.param(BASE | {"month": 200_000_000, "month_limit": 200_000_000}, "hosts", id="the month is used up"),
    pytest.param(
        DEAR | {"day": 25_000_000, "day_limit": 25_000_000} | said(ballot()), "hosts", id="nobody accepts a hard limit"
    ),
]


@pytest.mark.parametrize(("facts", "needs"), ROWS)
def test_the_gate(facts: dict[str, Any], needs: str) -> None:
    verdict = evaluate(cost.GATE, CostEvidence(**facts))
    if not needs:
        assert isinstance(verdict, Pass)
    else:
        assert isinstance(verdict, Wait)
        assert needs in verdict.need
        assert verdict.why


DOUBT = [
    pytest.param(None, id="nothing"),
    pytest.param(TimeoutError(), id="too late"),
    pytest.param(BASE | {"spent": -1}, id="negative"),
    pytest.param(BASE | {"monthly_usd": float("nan")}, id="not a number"),
    pytest.param(BASE | {"monthly_usd": float("inf")}, id="infinite"),
    pytest.param(BASE | {"surprise": 1}, id="an unknown field"),
    pytest.param({}, id="empty"),
]


@pytest.mark.parametrize("evidence", DOUBT)
def test_doubt_blocks(evidence: object) -> None:
    assert isinstance(evaluate(cost.GATE, evidence), Blocked)


@pytest.mark.parametrize(
    ("files", "contracts", "past", "expected"),
    [
        pytest.param(0, 0, (), 950_000, id="no file named counts as one"),
        pytest.param(3, 2, (), 1_810_000, id="by size"),
        pytest.param(3, 2, (9_000_000, 9_000_000), 1_810_000, id="two runs say nothing yet"),
        pytest.param(3, 2, (4_000_000, 1_000_000, 2_190_000), 2_000_000, id="three do: as much as the size"),
        pytest.param(3, 2, (0, 0, 0), 905_000, id="runs that cost nothing"),
    ],
)
def test_the_estimate(files: int, contracts: int, past: tuple[int, ...], expected: int) -> None:
    assert estimate(files, contracts, past) == expected


def test_a_question_of_the_operator_suggests_nothing() -> None:
    asked = question(CostEvidence(**(BASE | {"day": 25_000_000, "day_limit": 25_000_000})))
    assert asked is not None
    assert (asked.operator, asked.suggested) == (True, 0)
