"""The quality gate over named rows, hostile ones included."""

from __future__ import annotations

import pytest

from gates.evidence import PullEvidence
from gates.verdict import Blocked, Pass, Refuse, Wait
from tests.gates.quality_scene import (
    ANN,
    BEN,
    BOT,
    CAT,
    CAT_THE_APP,
    EVERYBODY,
    HEAD,
    OLD,
    REQUESTER,
    ask,
    person,
    pull,
    review,
    standings,
)

PASSES = [
    pytest.param(
        pull(review(1, REQUESTER), author=REQUESTER, requester_may_approve=True),
        [REQUESTER],
        id="the author who began it, where requesters may",
    ),
    pytest.param(pull(review(1, ANN)), [ANN], id="one approval on the head by somebody with write"),
    pytest.param(pull(review(1, ANN, "APPROVED")), [ANN], id="upper case as the REST API writes it"),
    pytest.param(pull(review(1, ANN), review(2, ANN, "commented")), [ANN], id="a later comment does not clear"),
    pytest.param(pull(review(1, ANN), review(2, ANN, "pending")), [ANN], id="a pending review is no opinion"),
    pytest.param(pull(review(1, ANN), review(2, ANN, "commented", None)), [ANN], id="comment without a commit"),
    pytest.param(
        pull(review(1, ANN, "changes_requested", OLD), review(2, ANN)), [ANN], id="objected once, approves now"
    ),
    pytest.param(pull(review(1, ANN, "dismissed"), review(2, ANN)), [ANN], id="approved again after a dismissal"),
    pytest.param(pull(review(2, ANN), review(1, ANN, "dismissed")), [ANN], id="handed in newest first"),
    pytest.param(
        pull(review(1, ANN, "changes_requested", at=5), review(2, ANN, at=5)), [ANN], id="same instant: higher id wins"
    ),
    pytest.param(
        pull(review(1, ANN, "changes_requested"), review(2, ANN, "dismissed"), review(3, BEN)),
        [BEN],
        id="a dismissed objection no longer blocks",
    ),
    pytest.param(
        pull(review(1, CAT, "changes_requested"), review(2, BEN), standings=standings(cat="read")),
        [BEN],
        id="an objection without write does not block",
    ),
    pytest.param(
        pull(review(1, BOT, "changes_requested", kind="Bot"), review(2, ANN)), [ANN], id="a bot's objection is ignored"
    ),
    pytest.param(
        pull(review(1, CAT, "changes_requested", kind="Bot"), review(2, ANN), standings=(*EVERYBODY[:3], CAT_THE_APP)),
        [ANN],
        id="another App's objection is ignored, whatever it may do",
    ),
    pytest.param(pull(review(1, ANN), review(2, BEN), required=2), [ANN, BEN], id="two of two"),
    pytest.param(pull(review(1, REQUESTER), requester_may_approve=True), [REQUESTER], id="requester, where allowed"),
    pytest.param(pull(review(1, None), review(2, ANN)), [ANN], id="a ghost's review beside a real one"),
    pytest.param(pull(review(1, ANN), review(1, ANN)), [ANN], id="the same review on two pages"),
    pytest.param(pull(review(1, ANN), standings=standings(ann="maintain")), [ANN], id="maintain is more than write"),
    pytest.param(
        pull(review(1, REQUESTER, names_head=True), writers=frozenset({REQUESTER})),
        [REQUESTER],
        id="the only writer names the commit",
    ),
]


@pytest.mark.parametrize(("evidence", "by"), PASSES)
def test_passes(evidence: PullEvidence, by: list[int]) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Pass), verdict
    assert [one.id for one in verdict.by] == by


WAITS = [
    pytest.param(pull(review(1, ANN), author=ANN), "wrote the issue", id="the issue's author, somebody else began"),
    pytest.param(
        pull(review(1, ANN), author=ANN, requester_may_approve=True), "wrote the issue", id="also where requesters may"
    ),
    pytest.param(pull(), "nobody has approved", id="no review at all"),
    pytest.param(pull(review(1, ANN, commit=OLD)), "another commit", id="approved an older head"),
    pytest.param(pull(review(1, ANN, commit=None)), "which commit", id="commit missing"),
    pytest.param(pull(review(1, ANN, commit=HEAD[:12])), "another commit", id="an abbreviated commit is no match"),
    pytest.param(pull(review(1, ANN, commit="")), "another commit", id="an empty commit is no match"),
    pytest.param(pull(review(1, ANN), review(2, ANN, "dismissed")), "nobody has approved", id="dismissed"),
    pytest.param(
        pull(review(1, ANN), review(2, ANN, "dismissed"), review(3, ANN, "commented")),
        "nobody has approved",
        id="a comment does not bring a dismissed approval back",
    ),
    pytest.param(pull(review(1, ANN), standings=standings(ann="read")), "write access", id="read"),
    pytest.param(pull(review(1, ANN), standings=standings(ann="triage")), "write access", id="triage"),
    pytest.param(pull(review(1, ANN), standings=standings(ann="none")), "write access", id="lost access since"),
    pytest.param(pull(review(1, ANN), standings=standings(ann=None)), "could not be read", id="permission missing"),
    pytest.param(pull(review(1, ANN), standings=()), "could not be read", id="standing never looked up"),
    pytest.param(pull(review(1, ANN), pushers=frozenset({BOT, ANN})), "pushed", id="approver pushed to the branch"),
    pytest.param(pull(review(1, REQUESTER)), "asked for this change", id="requester approves"),
    pytest.param(pull(review(1, ANN), review(2, ANN, at=3), required=2), "nobody has", id="one person twice is one"),
    pytest.param(pull(review(1, ANN, kind="Bot")), "only people", id="a bot whose id has a person's standing"),
    pytest.param(pull(review(1, ANN, kind="Organization")), "only people", id="an organisation"),
    pytest.param(
        pull(review(1, BOT), standings=(person(BOT, "admin"),)), "only people", id="our own bot claims to be a User"
    ),
    pytest.param(
        pull(review(1, BOT, kind="Bot"), standings=(person(BOT, "admin", "Bot"),)), "only people", id="our own bot"
    ),
    pytest.param(pull(review(1, None)), "nobody has approved", id="only a ghost approved"),
    pytest.param(pull(review(1, ANN), draft=True), "draft", id="still a draft"),
    pytest.param(
        pull(review(1, REQUESTER), writers=frozenset({REQUESTER})),
        "naming the commit",
        id="only writer, no commit named",
    ),
    pytest.param(
        pull(review(1, REQUESTER, names_head=True), writers=frozenset({REQUESTER, ANN})),
        "asked for this change",
        id="naming the commit does not help beside another writer",
    ),
    pytest.param(
        pull(review(1, REQUESTER, names_head=True), writers=None), "asked for this change", id="writers not known"
    ),
    pytest.param(
        pull(review(1, REQUESTER, commit=OLD, names_head=True), writers=frozenset({REQUESTER})),
        "another commit",
        id="the only writer on an older head",
    ),
]


@pytest.mark.parametrize(("evidence", "why"), WAITS)
def test_waits(evidence: PullEvidence, why: str) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Wait), verdict
    assert why in verdict.why


REFUSES = [
    pytest.param(pull(review(1, ANN, "changes_requested"), review(2, BEN)), [ANN], id="one objects, one approves"),
    pytest.param(pull(review(1, ANN, "changes_requested", OLD)), [ANN], id="objection survives a push"),
    pytest.param(pull(review(1, ANN, "changes_requested", None)), [ANN], id="objection without a commit"),
    pytest.param(pull(review(1, ANN), review(2, ANN, "changes_requested")), [ANN], id="changed their mind"),
    pytest.param(
        pull(review(1, ANN, "changes_requested"), review(2, ANN, "commented"), review(3, BEN)),
        [ANN],
        id="a comment does not lift an objection",
    ),
    pytest.param(pull(review(1, REQUESTER, "changes_requested"), review(2, ANN)), [REQUESTER], id="requester objects"),
    pytest.param(
        pull(review(1, ANN, "changes_requested"), review(2, BEN), pushers=frozenset({ANN})), [ANN], id="pusher objects"
    ),
    pytest.param(pull(review(1, ANN, "changes_requested"), draft=True), [ANN], id="objection on a draft"),
]


@pytest.mark.parametrize(("evidence", "by"), REFUSES)
def test_refuses(evidence: PullEvidence, by: list[int]) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Refuse), verdict
    assert [one.id for one in verdict.by] == by


BLOCKS = [
    pytest.param(pull(review(1, ANN), base="release"), "was made for main", id="another base"),
    pytest.param(pull(review(1, ANN), unknown_pusher=True), "somebody unknown", id="unknown pusher"),
    pytest.param(pull(review(1, ANN), complete=False), "not all reviews", id="only the first page was read"),
    pytest.param(pull(review(1, ANN), hold=True), "hold", id="hold label"),
    pytest.param(pull(review(1, ANN), state="closed"), "closed", id="closed"),
    pytest.param(pull(review(1, ANN), state="closed", merged=True), "merged", id="merged by hand"),
    pytest.param(
        pull(review(1, CAT, "changes_requested"), review(2, ANN), standings=standings(cat=None)),
        "could not be read",
        id="objection by somebody whose permission is unknown",
    ),
]


@pytest.mark.parametrize(("evidence", "why"), BLOCKS)
def test_blocks(evidence: PullEvidence, why: str) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Blocked), verdict
    assert why in verdict.reason


def test_the_waiting_verdict_names_who_could_approve() -> None:
    verdict = ask(pull(pushers=frozenset({BOT, CAT})))
    assert isinstance(verdict, Wait)
    assert [one.login for one in verdict.eligible] == ["ann", "ben"]


def test_nobody_eligible_is_said_at_once() -> None:
    verdict = ask(pull(standings=standings(ann="read", ben="read", cat="read")))
    assert isinstance(verdict, Wait)
    assert verdict.eligible == ()
    assert "somebody else with write access" in verdict.why


def test_a_decision_by_one_person_says_so() -> None:
    verdict = ask(pull(review(1, REQUESTER, names_head=True), writers=frozenset({REQUESTER})))
    assert isinstance(verdict, Pass)
    assert verdict.why.startswith("one person decided")
