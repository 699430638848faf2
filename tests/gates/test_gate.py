"""Asking a gate fails closed, whatever is handed in and however the judgement fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import gates
from gates import GATES, Gate, evaluate
from gates.evidence import PullEvidence, digest
from gates.verdict import Blocked, Pass, Verdict

HEAD = "a" * 40
ANN = {"id": 3, "login": "ann", "type": "User", "permission": "write"}
GOOD: dict[str, Any] = {
    "head": HEAD,
    "base": "main",
    "meant_for": "main",
    "draft": False,
    "state": "open",
    "merged": False,
    "complete": True,
    "pushers": frozenset({1}),
    "unknown_pusher": False,
    "requester": 2,
    "bot": 1,
    "reviews": ({"id": 1, "state": "approved", "commit": HEAD, "author": ANN, "submitted_at": 1},),
    "standings": (ANN,),
    "required": 1,
    "auto_merge": True,
}
REVIEW: dict[str, Any] = GOOD["reviews"][0]
MORE: dict[str, dict[str, Any]] = {"security": {"judged": HEAD, "findings": ()}}
"""What a gate needs to know besides."""


def of(gate: Gate, evidence: object) -> object:
    """The evidence with what this gate needs besides, where it is a mapping with anything in it."""
    return {**evidence, **MORE.get(gate.name, {})} if isinstance(evidence, dict) and evidence else evidence


HOSTILE = [
    pytest.param(None, id="missing"),
    pytest.param(TimeoutError(), id="time-out"),
    pytest.param(OSError("connection reset"), id="error"),
    pytest.param({}, id="empty"),
    pytest.param("approved", id="a word"),
    pytest.param([GOOD], id="a list"),
    pytest.param({**GOOD, "head": "a" * 7}, id="abbreviated head"),
    pytest.param({**GOOD, "head": HEAD + "\n"}, id="head with a newline"),
    pytest.param({**GOOD, "head": None}, id="no head"),
    pytest.param({**GOOD, "required": 0}, id="no approvals required"),
    pytest.param({**GOOD, "required": -1}, id="negative number required"),
    pytest.param({**GOOD, "required": True}, id="a boolean for a number"),
    pytest.param({**GOOD, "draft": "no"}, id="a word for a boolean"),
    pytest.param({**GOOD, "merged": 0}, id="a number for a boolean"),
    pytest.param({**GOOD, "state": "unlocked"}, id="unknown state"),
    pytest.param({**GOOD, "approve_anyway": True}, id="unknown field"),
    pytest.param({**GOOD, "reviews": ({**REVIEW, "state": "lgtm"},)}, id="unknown review state"),
    pytest.param({**GOOD, "reviews": ({**REVIEW, "id": "1"},)}, id="a review id as text"),
    pytest.param({**GOOD, "reviews": (REVIEW, {**REVIEW, "state": "dismissed"})}, id="one id, two contents"),
    pytest.param({**GOOD, "standings": ({**ANN, "permission": "owner"},)}, id="unknown permission"),
    pytest.param({**GOOD, "standings": (ANN, {**ANN, "permission": "read"})}, id="two standings for one person"),
    pytest.param({**GOOD, "standings": ({**ANN, "id": 0},)}, id="user id nought"),
    pytest.param({key: GOOD[key] for key in GOOD if key != "complete"}, id="nobody says that all pages were read"),
    pytest.param({key: GOOD[key] for key in GOOD if key != "pushers"}, id="nobody says who pushed"),
    pytest.param(PullEvidence(**GOOD).model_copy(update={"required": 0}), id="copied past the checks"),
    pytest.param(PullEvidence(**GOOD).model_copy(update={"standings": None}), id="copied past the checks, no people"),
]


@pytest.mark.parametrize("gate", [pytest.param(gate, id=gate.name) for gate in GATES])
@pytest.mark.parametrize("evidence", HOSTILE)
def test_bad_evidence_blocks(gate: Gate, evidence: object) -> None:
    verdict = evaluate(gate, of(gate, evidence))
    assert isinstance(verdict, Blocked), verdict
    assert verdict.reason


@pytest.mark.parametrize(
    "gate", [pytest.param(gate, id=gate.name) for gate in GATES if issubclass(gate.facts, PullEvidence)]
)
def test_the_good_evidence_passes(gate: Gate) -> None:
    assert isinstance(evaluate(gate, of(gate, GOOD)), Pass)


def _raises(error: Exception) -> Callable[[PullEvidence], Verdict]:
    def judge(evidence: PullEvidence) -> Verdict:
        raise error

    return judge


BROKEN = [
    pytest.param(_raises(ValueError("bad")), id="raises a value error"),
    pytest.param(_raises(KeyError("who")), id="raises a key error"),
    pytest.param(_raises(RecursionError()), id="never ends"),
    pytest.param(_raises(ZeroDivisionError()), id="divides by nought"),
    pytest.param(lambda evidence: None, id="says nothing"),
    pytest.param(lambda evidence: True, id="says true"),
    pytest.param(lambda evidence: "pass", id="says a word"),
    pytest.param(lambda evidence: Pass, id="returns the class"),
]


@pytest.mark.parametrize("judge", BROKEN)
def test_a_broken_judgement_blocks(judge: Callable[[PullEvidence], object]) -> None:
    broken = replace(GATES[0], judge=cast("Callable[[PullEvidence], Verdict]", judge))
    assert isinstance(evaluate(broken, of(broken, GOOD)), Blocked)


def test_the_digest_is_the_full_head() -> None:
    assert digest("A" * 40) == HEAD
    assert digest("0" * 64) == "0" * 64


@pytest.mark.parametrize("head", ["", "abc123", "g" * 40, "a" * 41, " " + "a" * 39, "a" * 39 + "\n"])
def test_the_digest_refuses_anything_else(head: str) -> None:
    with pytest.raises(ValueError, match="not a full commit SHA"):
        digest(head)


def test_the_list_is_the_gates_files() -> None:
    shared = {"__init__", "approvals", "codeowners", "evidence", "gate", "verdict"}
    folder = Path(gates.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - shared == {gate.name for gate in GATES}


def test_every_gate_says_what_opens_it_and_who_decides() -> None:
    assert [gate.name for gate in GATES] == ["security", "cost", "quality", "merge"]
    assert all(gate.opens and gate.decides for gate in GATES)
    assert [gate.check for gate in GATES] == ["seconder/security", None, "seconder/quality", None]
