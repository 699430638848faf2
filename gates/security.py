"""The security gate: each finding that needs a person has been seen and accepted by one who may decide on its path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from gates.approvals import may_decide_alone
from gates.evidence import Evidence, Person, PullEvidence, UserId
from gates.gate import Gate
from gates.quality import unjudgeable
from gates.rules.finding import Finding, digest
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait

SHOWN = 7
"""Digits of the head by which a command names it."""


class Ballot(Evidence):
    """One person's word on a set of findings: `yes`, or not. `names_head` says that it named the present head."""

    by: UserId
    digest: str
    yes: bool
    at: Annotated[int, Field(ge=0)]
    names_head: bool = False


class Deciders(Evidence):
    """The people behind a path's CODEOWNERS line who have write; there may be none. A path that nobody owns has none of
    these, and everybody with write decides on it."""

    path: str
    people: frozenset[UserId]


class SecurityEvidence(PullEvidence):
    """What the security gate looks at: the pull request's facts, what was found in its head, and what people said.

    `judged` is the head that the findings are of. `team` are the ids of the security team.
    """

    judged: str
    findings: tuple[Finding, ...]
    ballots: tuple[Ballot, ...] = ()
    deciders: tuple[Deciders, ...] = ()
    team: frozenset[UserId] = frozenset()

    @model_validator(mode="after")
    def _one_line_per_path(self) -> Self:
        if len({one.path for one in self.deciders}) != len(self.deciders):
            raise ValueError("two lists of deciders for one path")
        return self

    def owners_of(self, path: str) -> frozenset[int] | None:
        """The owners of a path, None where nobody owns it."""
        return next((one.people for one in self.deciders if one.path == path), None)


def open_findings(evidence: SecurityEvidence) -> tuple[Finding, ...]:
    """What people decide on: everything but notes."""
    return tuple(one for one in evidence.findings if one.level != "note")


def why_not(person: Person, path: str, evidence: SecurityEvidence) -> str | None:
    """Why a person's word does not count for a path, or None when it does. The requester's never does."""
    if person.id == evidence.bot or person.type != "User":
        return "only people decide here"
    if person.permission is None:
        return "their permission could not be read"
    if not person.at_least("write"):
        return "they do not have write access"
    if person.id in evidence.pushers:
        return "they pushed to this branch"
    if person.id == evidence.requester:
        return "they asked for this change"
    if person.id == evidence.author:
        return "they wrote the issue"
    owners = evidence.owners_of(path)
    if person.at_least("admin") or person.id in (owners or frozenset()) | evidence.team:
        return None
    if owners is not None:
        return f"they do not own {path}"
    return "they are not in the security team" if evidence.team else None


def newest_ballots(evidence: SecurityEvidence) -> tuple[Ballot, ...]:
    """Each person's newest word on exactly these findings."""
    judged = digest(evidence.findings)
    newest: dict[int, Ballot] = {}
    for one in sorted(evidence.ballots, key=lambda ballot: ballot.at):
        if one.digest == judged:
            newest[one.by] = one
    return tuple(newest.values())


def eligible(evidence: SecurityEvidence) -> tuple[Person, ...]:
    """Everybody among the known standings whose word could count for some path that is open, by id."""
    paths = {one.path for one in open_findings(evidence)}
    people = (
        person
        for person in evidence.standings
        if may_decide_alone(person, evidence) or any(why_not(person, path, evidence) is None for path in paths)
    )
    return tuple(sorted(people, key=lambda person: person.id))


def _weigh(ballot: Ballot, path: str, evidence: SecurityEvidence) -> str | None:
    person = evidence.standing(ballot.by)
    if person is None:
        return "their permission could not be read"
    reason = why_not(person, path, evidence)
    if reason is not None and may_decide_alone(person, evidence):
        return None if ballot.names_head else f"{reason}; as the only writer they can decide by naming the commit"
    return reason


def _refusal(evidence: SecurityEvidence) -> Refuse | Blocked | None:
    """A no counts from everybody with write, whoever asked for the change: it only keeps something out."""
    against: list[Person] = []
    for one in newest_ballots(evidence):
        person = evidence.standing(one.by)
        if one.yes or one.by == evidence.bot or (person is not None and person.type != "User"):
            continue
        if person is None or person.permission is None:
            return Blocked("somebody said no to what was found, and their permission could not be read")
        if person.at_least("write"):
            against.append(person)
    return Refuse(f"{_logins(against)} said no to what was found", tuple(against)) if against else None


def _logins(people: Iterable[Person]) -> str:
    return ", ".join(person.login for person in people)


def _waiting(evidence: SecurityEvidence, uncovered: list[Finding], reasons: list[str]) -> Wait:
    who = eligible(evidence)
    head = evidence.head[:SHOWN]
    count = len(uncovered)
    reasons = list(dict.fromkeys(reasons)) or [f"{count} finding{'s' if count != 1 else ''} to be decided"]
    if not who:
        reasons.append(
            "nobody here may decide it: give somebody else write access, or let an admin who neither asked for the "
            "change nor pushed to it decide"
        )
    return Wait(f"`/approve security {head}`", who, "; ".join(reasons))


def judge(evidence: PullEvidence) -> Verdict:
    """Without findings it passes by itself. What is never pushed is refused; the rest waits until each path has a yes
    from somebody who may decide on it, and nobody who may said no."""
    if not isinstance(evidence, SecurityEvidence):
        return Blocked("the change was not looked through")
    reason = unjudgeable(evidence)
    if reason is not None:
        return Blocked(reason)
    if evidence.judged != evidence.head:
        return Blocked("this commit has not been looked through yet")
    refused = [one for one in evidence.findings if one.level == "block"]
    if refused:
        return Refuse(f"what is in {refused[0].path} may never be pushed: {refused[0].why}", ())
    findings = open_findings(evidence)
    if not findings:
        return Pass((), "nothing was found that needs a person")
    refusal = _refusal(evidence)
    return refusal if refusal is not None else _count(evidence, findings)


def _count(evidence: SecurityEvidence, findings: tuple[Finding, ...]) -> Verdict:
    yes = [one for one in newest_ballots(evidence) if one.yes]
    uncovered: list[Finding] = []
    reasons: list[str] = []
    counted: dict[int, Person] = {}
    for finding in findings:
        weighed = [(one, _weigh(one, finding.path, evidence)) for one in yes]
        people = [evidence.standing(one.by) for one, why in weighed if why is None]
        if people:
            counted |= {person.id: person for person in people if person is not None}
            continue
        uncovered.append(finding)
        for one, why in weighed:
            known = evidence.standing(one.by)
            reasons.append(f"the word of {known.login if known else 'somebody'} does not count: {why}")
    if uncovered:
        return _waiting(evidence, uncovered, reasons)
    by = tuple(sorted(counted.values(), key=lambda person: person.id))
    head = evidence.head[:SHOWN]
    if len(by) == 1 and any(why_not(by[0], one.path, evidence) is not None for one in findings):
        return Pass(by, f"one person decided: {by[0].login} is the only writer and named {head}")
    return Pass(by, f"accepted by {_logins(by)} on {head}")


GATE = Gate(
    name="security",
    check="seconder/security",
    opens="nothing found in the change, or a yes to what was found; a push that changes it asks again",
    decides="admins, the security team and the code owners of the path, or people with write access where there are "
    "neither; never who asked for the change or pushed to it",
    judge=judge,
    facts=SecurityEvidence,
)
