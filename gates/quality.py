"""The quality gate: enough people have approved exactly this head, and nobody with write objects."""

from __future__ import annotations

from gates.approvals import Approvals, approvals, eligible
from gates.evidence import PullEvidence
from gates.gate import Gate
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait


def _unjudgeable(evidence: PullEvidence) -> str | None:
    """Why nothing can be decided on this pull request at all, or None."""
    if evidence.merged:
        return "the pull request is merged already"
    if evidence.state != "open":
        return "the pull request is closed"
    if not evidence.complete:
        return "not all reviews could be read"
    if evidence.hold:
        return "the label `seconder:hold` is on"
    if evidence.base != evidence.meant_for:
        return (
            f"it would go into {evidence.base} now, but was made for {evidence.meant_for}: "
            "set the base branch back, or stop the run and start again"
        )
    if evidence.unknown_pusher:
        return "a commit on this branch was pushed by somebody unknown"
    return None


def _logins(people: tuple[str, ...]) -> str:
    return ", ".join(people)


def _waiting(evidence: PullEvidence, found: Approvals) -> Wait:
    missing = evidence.required - len(found.approved)
    have = {person.id for person in found.approved}
    who = tuple(person for person in eligible(evidence) if person.id not in have)
    need = "one approving review" if missing == 1 else f"{missing} approving reviews"
    reasons = [f"the approval by {one.by.login} does not count: {one.why}" for one in found.discounted if one.by]
    if not who:
        reasons.append("nobody known here may approve it: somebody else with write access has to")
    return Wait(f"{need} of {evidence.head[:12]}", who, "; ".join(reasons) or "nobody has approved this commit yet")


def judge(evidence: PullEvidence) -> Verdict:
    """Judge the head: block what cannot be decided, then objections, then count approvals."""
    reason = _unjudgeable(evidence)
    if reason is not None:
        return Blocked(reason)
    found = approvals(evidence)
    if found.unclear:
        logins = _logins(tuple(person.login for person in found.unclear))
        return Blocked(f"{logins} requested changes, and their permission could not be read")
    if found.objecting:
        logins = _logins(tuple(person.login for person in found.objecting))
        return Refuse(f"{logins} requested changes", found.objecting)
    if evidence.draft:
        return Wait("the pull request to leave draft", (), "it is still a draft")
    if len(found.approved) < evidence.required:
        return _waiting(evidence, found)
    logins = _logins(tuple(person.login for person in found.approved))
    if found.alone:
        return Pass(found.approved, f"one person decided: {logins} is the only writer and named {evidence.head[:12]}")
    return Pass(found.approved, f"approved by {logins} on {evidence.head[:12]}")


GATE = Gate(
    name="quality",
    check="seconder/quality",
    opens="the required number of approving reviews on the present head, and no open request for changes",
    decides="people with write access who did not ask for the change and did not push to it",
    judge=judge,
)
