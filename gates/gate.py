"""A gate as a record, and the one way to ask it: whatever goes wrong on the way is `Blocked`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError

from gates.evidence import Evidence, PullEvidence
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait


@dataclass(frozen=True)
class Gate:
    """A gate: its name, its check run's name (None when it has none), what opens it, who decides, and its judgement.

    `facts` is the record that it judges.
    """

    name: str
    check: str | None
    opens: str
    decides: str
    judge: Callable[..., Verdict]
    facts: type[Evidence] = PullEvidence


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"]) or "evidence"
    return f"{where}: {fault['msg']}"


def evaluate(gate: Gate, evidence: object) -> Verdict:
    """Ask a gate. `evidence` is its record of facts, a mapping of its fields, None, or the error that fetching raised.

    Never raises and never passes on doubt: missing, malformed or failed evidence, a judgement that fails or returns
    anything but a verdict, all are `Blocked` with the reason in plain words.
    """
    if evidence is None:
        return Blocked(f"the {gate.name} gate got no facts to judge")
    if isinstance(evidence, TimeoutError):
        return Blocked(f"the facts for the {gate.name} gate did not arrive in time")
    if isinstance(evidence, BaseException):
        return Blocked(f"the facts for the {gate.name} gate could not be read ({type(evidence).__name__})")
    try:
        facts = gate.facts.model_validate(evidence)
    except ValidationError as error:
        return Blocked(f"the facts for the {gate.name} gate make no sense ({_first_fault(error)})")
    try:
        verdict: object = gate.judge(facts)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return Blocked(f"the {gate.name} gate failed while judging ({type(error).__name__})")
    if isinstance(verdict, Pass | Wait | Refuse | Blocked):
        return verdict
    return Blocked(f"the {gate.name} gate answered with something that is no verdict ({type(verdict).__name__})")
