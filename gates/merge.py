"""The merge gate: the quality gate passes, and a maintainer asked for the merge of exactly this head."""

from __future__ import annotations

from gates import quality
from gates.evidence import Person, PullEvidence
from gates.gate import Gate
from gates.verdict import Pass, Verdict, Wait


def _maintainers(evidence: PullEvidence) -> tuple[Person, ...]:
    people = (one for one in evidence.standings if one.at_least("maintain") and one.id != evidence.bot)
    return tuple(sorted(people, key=lambda person: person.id))


def judge(evidence: PullEvidence) -> Verdict:
    """Whatever keeps the quality gate shut keeps this one shut; then somebody with maintain has to ask."""
    approved = quality.judge(evidence)
    if not isinstance(approved, Pass):
        return approved
    if evidence.auto_merge:
        return Pass(approved.by, f"auto-merge is on, and the change was {approved.why}")
    who = _maintainers(evidence)
    allowed = {person.id: person for person in who}
    for ask in sorted(evidence.asks, key=lambda one: one.at, reverse=True):
        if ask.head == evidence.head and ask.by in allowed:
            person = allowed[ask.by]
            return Pass((person,), f"{person.login} asked for the merge of {evidence.head[:12]}")
    why = "nobody has asked for the merge yet"
    if any(ask.head != evidence.head for ask in evidence.asks):
        why = "the merge was asked for an earlier commit"
    elif evidence.asks:
        why = "the merge was asked by somebody who may not merge"
    return Wait(f"`/merge` on {evidence.head[:12]}", who, why)


GATE = Gate(
    name="merge",
    check=None,
    opens="`/merge` on the present head after the quality gate has passed, or auto-merge",
    decides="people with maintain access",
    judge=judge,
)
