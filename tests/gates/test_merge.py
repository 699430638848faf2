"""The merge gate: a maintainer's word on exactly this head, behind the quality gate."""

from __future__ import annotations

from typing import Any

import pytest

from gates import merge
from gates.evidence import MergeAsk, Person, PullEvidence, ReviewEvidence
from gates.gate import evaluate
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait

HEAD, OLD = "a" * 40, "b" * 40
BOT, REQUESTER, WRITER, MAINTAINER = 1, 2, 3, 4
ANN = Person(id=WRITER, login="ann", type="User", permission="write")
MAX = Person(id=MAINTAINER, login="max", type="User", permission="maintain")
APPROVED = ReviewEvidence(id=1, state="approved", commit=HEAD, author=ANN, submitted_at=1)


def pull(**changes: Any) -> PullEvidence:
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
        "reviews": (APPROVED,),
        "standings": (ANN, MAX),
        "required": 1,
    }
    return PullEvidence(**(facts | changes))


def asked(by: int, head: str = HEAD, at: int = 9) -> MergeAsk:
    return MergeAsk(by=by, head=head, at=at)


OBJECTION = APPROVED.model_copy(update={"id": 2, "state": "changes_requested", "submitted_at": 2})
BOT_AS_ADMIN = Person(id=BOT, login="seconder[bot]", type="Bot", permission="admin")

ROWS = [
    pytest.param(pull(asks=(asked(MAINTAINER),)), Pass, "max asked", id="approved and asked by a maintainer"),
    pytest.param(pull(auto_merge=True), Pass, "auto-merge", id="auto-merge needs no word"),
    pytest.param(
        pull(asks=(asked(MAINTAINER, at=1), asked(WRITER, at=2))), Pass, "max asked", id="a later ask by a writer"
    ),
    pytest.param(pull(), Wait, "nobody has asked", id="approved, nobody asked"),
    pytest.param(pull(asks=(asked(WRITER),)), Wait, "may not merge", id="asked with write only"),
    pytest.param(pull(asks=(asked(MAINTAINER, OLD),)), Wait, "earlier commit", id="asked for an older head"),
    pytest.param(pull(asks=(asked(MAINTAINER, HEAD[:9]),)), Wait, "earlier commit", id="an abbreviated head"),
    pytest.param(pull(asks=(asked(77),)), Wait, "may not merge", id="asked by somebody never looked up"),
    pytest.param(
        pull(asks=(asked(BOT),), standings=(ANN, MAX, BOT_AS_ADMIN)), Wait, "may not merge", id="asked by the bot"
    ),
    pytest.param(
        pull(asks=(asked(BOT),), standings=(ANN, MAX, BOT_AS_ADMIN.model_copy(update={"type": "User"}))),
        Wait,
        "may not merge",
        id="asked by the bot, which claims to be a User",
    ),
    pytest.param(
        pull(asks=(asked(9),), standings=(ANN, MAX, BOT_AS_ADMIN.model_copy(update={"id": 9}))),
        Wait,
        "may not merge",
        id="asked by another App",
    ),
    pytest.param(
        pull(asks=(asked(MAINTAINER),), standings=(ANN, MAX.model_copy(update={"permission": None}))),
        Wait,
        "may not merge",
        id="permission unknown",
    ),
    pytest.param(
        pull(asks=(asked(MAINTAINER),), reviews=()), Wait, "nobody has approved", id="asked before it was approved"
    ),
    pytest.param(pull(reviews=(), auto_merge=True), Wait, "nobody has approved", id="auto-merge without approval"),
    pytest.param(
        pull(asks=(asked(MAINTAINER),), reviews=(APPROVED, OBJECTION)), Refuse, "requested changes", id="objection"
    ),
    pytest.param(pull(asks=(asked(MAINTAINER),), hold=True), Blocked, "hold", id="on hold"),
    pytest.param(pull(asks=(asked(MAINTAINER),), unknown_pusher=True), Blocked, "unknown", id="unknown pusher"),
    pytest.param(pull(asks=(asked(MAINTAINER),), merged=True), Blocked, "merged already", id="merged already"),
]


@pytest.mark.parametrize(("evidence", "kind", "words"), ROWS)
def test_merge(evidence: PullEvidence, kind: type[Verdict], words: str) -> None:
    verdict = evaluate(merge.GATE, evidence)
    assert isinstance(verdict, kind), verdict
    said = verdict.reason if isinstance(verdict, Blocked | Refuse) else verdict.why
    assert words in said
