"""The quality gate: enough people have approved exactly this head, code owners among them where the branch's rules
ask for those, and nobody with write objects."""

from __future__ import annotations

from gates.approvals import Approvals, approvals, eligible
from gates.evidence import OwnerGroup, Person, PullEvidence
from gates.gate import Gate
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait

SHOWN = 3
"""Code owners' groups that a text lists."""


def unjudgeable(evidence: PullEvidence) -> str | None:
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
    return evidence.owners_unknown


def _logins(people: tuple[str, ...]) -> str:
    return ", ".join(people)


def owners_missing(evidence: PullEvidence, approved: tuple[Person, ...]) -> tuple[OwnerGroup, ...]:
    """The code owners' groups that none of those who approve belongs to."""
    have = {person.id for person in approved}
    return tuple(group for group in evidence.owners if not group.people & have)


def _shown(group: OwnerGroup) -> str:
    more = f" and {len(group.paths) - 1} more" if len(group.paths) > 1 else ""
    return f"{group.paths[0]}{more} ({' or '.join(group.owners)})"


def _waiting(evidence: PullEvidence, found: Approvals, groups: tuple[OwnerGroup, ...]) -> Wait:
    missing = evidence.required - len(found.approved)
    have = {person.id for person in found.approved}
    who = tuple(person for person in eligible(evidence) if person.id not in have)
    reasons = [f"the approval by {one.by.login} does not count: {one.why}" for one in found.discounted if one.by]
    needs = []
    if missing > 0:
        needs.append("one approving review" if missing == 1 else f"{missing} approving reviews")
    if groups:
        needs.append(f"a code owner's approving review for {', '.join(map(_shown, groups[:SHOWN]))}")
        # While only owners are missing, asking anybody else would not help.
        owners = frozenset[int]().union(*(group.people for group in groups))
        who = who if missing > len(groups) else tuple(person for person in who if person.id in owners)
        reasons += [
            _unheard(group) for group in groups if not group.people & {person.id for person in eligible(evidence)}
        ]
    elif not who:
        reasons.append("nobody known here may approve it: somebody else with write access has to")
    need = " and ".join(needs)
    return Wait(f"{need} of {evidence.head[:12]}", who, "; ".join(reasons) or _silence(groups))


def _silence(groups: tuple[OwnerGroup, ...]) -> str:
    return "its code owners have not approved this commit yet" if groups else "nobody has approved this commit yet"


def _unheard(group: OwnerGroup) -> str:
    """No owner of these paths may approve: what would help."""
    return (
        f"no code owner of {group.paths[0]} may approve it: line {group.line} of CODEOWNERS has to name somebody else "
        "with write access"
    )


def judge(evidence: PullEvidence) -> Verdict:
    """Judge the head: block what cannot be decided, then objections, then count approvals."""
    reason = unjudgeable(evidence)
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
    groups = owners_missing(evidence, found.approved)
    if len(found.approved) < evidence.required or groups:
        return _waiting(evidence, found, groups)
    logins = _logins(tuple(person.login for person in found.approved))
    if found.alone:
        return Pass(found.approved, f"one person decided: {logins} is the only writer and named {evidence.head[:12]}")
    return Pass(found.approved, f"approved by {logins} on {evidence.head[:12]}")


GATE = Gate(
    name="quality",
    check="seconder/quality",
    opens="the required number of approving reviews on the present head (also of code owners where the branch's rules "
    "ask for them), and no open request for changes",
    decides="people with write access who did not ask for the change and did not push to it",
    judge=judge,
)
