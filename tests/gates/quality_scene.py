"""Evidence for the quality gate, by name."""

from __future__ import annotations

from typing import Any

from gates import quality
from gates.evidence import Permission, Person, PullEvidence, ReviewEvidence
from gates.gate import evaluate
from gates.verdict import Verdict

HEAD = "a" * 40
OLD = "b" * 40
BOT, REQUESTER, ANN, BEN, CAT = 1, 2, 3, 4, 5
LOGINS = {BOT: "seconder[bot]", REQUESTER: "rita", ANN: "ann", BEN: "ben", CAT: "cat"}


def person(user: int, permission: Permission | None = None, kind: str = "User") -> Person:
    return Person(id=user, login=LOGINS[user], type=kind, permission=permission)


def review(
    number: int, user: int | None, state: Any = "approved", commit: str | None = HEAD, **more: Any
) -> ReviewEvidence:
    """A review; `more` may be its time `at` (else its number), its author's `kind`, and `names_head`."""
    author = None if user is None else person(user, kind=more.pop("kind", "User"))
    at = more.pop("at", number)
    return ReviewEvidence(id=number, state=state, commit=commit, author=author, submitted_at=at, **more)


EVERYBODY = (person(REQUESTER, "maintain"), person(ANN, "write"), person(BEN, "admin"), person(CAT, "write"))

CAT_THE_APP = person(CAT, "admin", "Bot")


def pull(*reviews: ReviewEvidence, **changes: Any) -> PullEvidence:
    facts: dict[str, Any] = {
        "head": HEAD,
        "base": "main",
        "meant_for": "main",
        "draft": False,
        "state": "open",
        "merged": False,
        "complete": True,
        "pushers": frozenset({BOT}),
        "unknown_pusher": False,
        "requester": REQUESTER,
        "bot": BOT,
        "reviews": reviews,
        "standings": EVERYBODY,
        "required": 1,
    }
    return PullEvidence(**(facts | changes))


def standings(**permissions: Permission | None) -> tuple[Person, ...]:
    """Everybody, with some permissions changed by login."""
    return tuple(
        one.model_copy(update={"permission": permissions[one.login]}) if one.login in permissions else one
        for one in EVERYBODY
    )


def ask(evidence: PullEvidence) -> Verdict:
    return evaluate(quality.GATE, evidence)
