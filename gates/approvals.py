"""Who has approved a head in a way that counts.

A review counts when it is its author's newest opinion, approves exactly the head, and its author is a person who has
write or better right now, did not push to the head, and did not ask for the work (unless the setting allows that).
GitHub GraphQL `latestOpinionatedReviews`: a comment leaves an earlier opinion standing, a dismissal takes it away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gates.evidence import Person, PullEvidence, ReviewEvidence

OPINIONS = frozenset({"approved", "changes_requested", "dismissed"})


@dataclass(frozen=True)
class Discounted:
    """An approval that does not count, and why."""

    by: Person | None
    why: str


@dataclass(frozen=True)
class Approvals:
    """The reviews of a head, sorted: who approves, who objects, whose approval does not count, who is unclear.

    `alone` is true when the one approval is that of the repository's only writer, who asked for the work or pushed.
    """

    approved: tuple[Person, ...]
    objecting: tuple[Person, ...]
    discounted: tuple[Discounted, ...]
    unclear: tuple[Person, ...]
    alone: bool = False


def latest_opinions(reviews: Iterable[ReviewEvidence]) -> tuple[ReviewEvidence, ...]:
    """Each person's newest opinion, oldest first. Reviews of deleted accounts have no author and are left out."""
    newest: dict[int, ReviewEvidence] = {}
    for review in sorted(set(reviews), key=lambda one: (one.submitted_at, one.id)):
        if review.author is not None and review.state in OPINIONS:
            newest[review.author.id] = review
    return tuple(sorted(newest.values(), key=lambda one: (one.submitted_at, one.id)))


def why_not_eligible(person: Person, evidence: PullEvidence) -> str | None:
    """Why a person's approval could not count on this head, or None when it could."""
    if person.id == evidence.bot or person.type != "User":
        return "only people can approve"
    if person.permission is None:
        return "their permission could not be read"
    if not person.at_least("write"):
        return "they do not have write access"
    if person.id in evidence.pushers:
        return "they pushed to this branch"
    if person.id == evidence.requester and not evidence.requester_may_approve:
        return "they asked for this change"
    if person.id == evidence.author != evidence.requester:
        return "they wrote the issue that somebody else let the team begin with"
    return None


def may_decide_alone(person: Person, evidence: PullEvidence) -> bool:
    """Whether this is the repository's only writer, who then decides alone by naming the commit."""
    return person.id == evidence.sole_writer and person.id != evidence.bot and person.at_least("write")


def _standing(review: ReviewEvidence, evidence: PullEvidence) -> Person | None:
    """The author with the live permission. The review's own type counts too: an App never becomes a person."""
    if review.author is None:
        return None
    known = evidence.standing(review.author.id)
    if known is None:
        return review.author.model_copy(update={"permission": None})
    return known if review.author.type == "User" else known.model_copy(update={"type": review.author.type})


def _weigh(review: ReviewEvidence, person: Person, evidence: PullEvidence) -> str | None:
    """Why this approval does not count, or None when it does."""
    if review.commit is None:
        return "GitHub does not say which commit it judged"
    if review.commit != evidence.head:
        return "it judged another commit"
    reason = why_not_eligible(person, evidence)
    if reason is not None and may_decide_alone(person, evidence):
        return None if review.names_head else f"{reason}; as the only writer they can decide by naming the commit"
    return reason


def approvals(evidence: PullEvidence) -> Approvals:
    """Sort all reviews of the pull request by what they mean for its present head."""
    approved: list[Person] = []
    objecting: list[Person] = []
    discounted: list[Discounted] = []
    unclear: list[Person] = []
    for review in latest_opinions(evidence.reviews):
        person = _standing(review, evidence)
        if person is None or review.state == "dismissed":
            continue
        if review.state == "changes_requested":
            if person.type == "User" and person.id != evidence.bot and person.permission is None:
                unclear.append(person)
            elif person.id != evidence.bot and person.at_least("write"):
                objecting.append(person)
            continue
        reason = _weigh(review, person, evidence)
        if reason is None:
            approved.append(person)
        else:
            discounted.append(Discounted(person, reason))
    alone = len(approved) == 1 and why_not_eligible(approved[0], evidence) is not None
    return Approvals(tuple(approved), tuple(objecting), tuple(discounted), tuple(unclear), alone)


def eligible(evidence: PullEvidence) -> tuple[Person, ...]:
    """Everybody among the known standings whose approval could count on this head, by id."""
    people = (
        person
        for person in evidence.standings
        if why_not_eligible(person, evidence) is None or may_decide_alone(person, evidence)
    )
    return tuple(sorted(people, key=lambda person: person.id))
