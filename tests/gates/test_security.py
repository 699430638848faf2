"""The security gate over named rows, hostile ones included."""

from __future__ import annotations

from typing import Any

import pytest

from gates import security
from gates.evidence import Permission, Person
from gates.gate import evaluate
from gates.rules import Finding, digest
from gates.security import Ballot, Deciders, SecurityEvidence
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait

HEAD, BLOB = "a" * 40, "b" * 40
BOT, REQUESTER, ANN, BEN, CAT, DAN = 1, 2, 3, 4, 5, 6
LOGINS = {BOT: "seconder[bot]", REQUESTER: "rita", ANN: "ann", BEN: "ben", CAT: "cat", DAN: "dan"}


def person(user: int, permission: Permission | None, kind: str = "User") -> Person:
    return Person(id=user, login=LOGINS[user], type=kind, permission=permission)


EVERYBODY = (
    person(REQUESTER, "admin"),
    person(ANN, "write"),
    person(BEN, "admin"),
    person(CAT, "maintain"),
    person(DAN, "read"),
)


def finding(path: str = "src/auth.py", level: Any = "approve", rule: str = "word.auth", blob: str = BLOB) -> Finding:
    return Finding(rule=rule, level=level, path=path, blob=blob, why="the path holds the word auth")


ONE = (finding(),)
TWO = (finding(), finding("pyproject.toml", rule="path.dependencies"))
OWNED = (Deciders(path="src/auth.py", people=frozenset({CAT})),)


def yes(user: int, findings: tuple[Finding, ...] = ONE, at: int = 10, **more: Any) -> Ballot:
    given: dict[str, Any] = {"by": user, "digest": digest(findings), "yes": True, "at": at}
    return Ballot(**(given | more))


def change(*findings: Finding, **facts: Any) -> SecurityEvidence:
    base: dict[str, Any] = {
        "head": HEAD,
        "judged": HEAD,
        "base": "main",
        "meant_for": "main",
        "draft": True,
        "state": "open",
        "merged": False,
        "complete": True,
        "pushers": frozenset({BOT}),
        "unknown_pusher": False,
        "requester": REQUESTER,
        "bot": BOT,
        "reviews": (),
        "standings": EVERYBODY,
        "required": 1,
        "findings": findings,
    }
    return SecurityEvidence(**(base | facts))


def ask(evidence: object) -> Verdict:
    return evaluate(security.GATE, evidence)


PASSES = [
    pytest.param(change(), [], id="nothing was found"),
    pytest.param(change(finding(level="note")), [], id="only a note"),
    pytest.param(change(*ONE, ballots=(yes(ANN),)), [ANN], id="somebody with write where nobody owns the path"),
    pytest.param(change(*ONE, ballots=(yes(BEN),)), [BEN], id="an admin"),
    pytest.param(change(*ONE, ballots=(yes(CAT),), deciders=OWNED), [CAT], id="the path's owner"),
    pytest.param(change(*ONE, ballots=(yes(BEN),), deciders=OWNED), [BEN], id="an admin beside an owner"),
    pytest.param(change(*ONE, ballots=(yes(ANN),), team=frozenset({ANN})), [ANN], id="the security team"),
    pytest.param(
        change(*ONE, ballots=(yes(ANN),), team=frozenset({ANN}), deciders=OWNED), [ANN], id="the team beside an owner"
    ),
    pytest.param(
        change(*TWO, ballots=(yes(CAT, TWO), yes(ANN, TWO)), deciders=OWNED),
        [ANN, CAT],
        id="each path by somebody who may",
    ),
    pytest.param(change(*ONE, ballots=(yes(ANN, at=1, yes=False), yes(ANN, at=2))), [ANN], id="no, then yes"),
    pytest.param(change(*ONE, ballots=(yes(ANN, at=2), yes(ANN, at=1, yes=False))), [ANN], id="handed in newest first"),
    pytest.param(change(*ONE, ballots=(yes(DAN, yes=False), yes(ANN))), [ANN], id="a no without write does not count"),
    pytest.param(
        change(*ONE, ballots=(yes(BEN, (finding(blob="c" * 40),), yes=False), yes(ANN))),
        [ANN],
        id="a no to other content",
    ),
    pytest.param(
        change(*ONE, ballots=(yes(REQUESTER, names_head=True),), writers=frozenset({REQUESTER})),
        [REQUESTER],
        id="the only writer names the commit",
    ),
    pytest.param(change(*ONE, ballots=(yes(ANN),), draft=False), [ANN], id="out of draft"),
]


@pytest.mark.parametrize(("evidence", "by"), PASSES)
def test_passes(evidence: SecurityEvidence, by: list[int]) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Pass), verdict
    assert [one.id for one in verdict.by] == by


WAITS = [
    pytest.param(change(*ONE), "1 finding to be decided", [ANN, BEN, CAT], id="nobody has said anything"),
    pytest.param(change(*ONE, deciders=OWNED), "1 finding", [BEN, CAT], id="the owner and admins may"),
    pytest.param(change(*ONE, team=frozenset({ANN})), "1 finding", [ANN, BEN], id="the team and admins may"),
    pytest.param(change(*ONE, ballots=(yes(REQUESTER),)), "asked for this change", [ANN, BEN, CAT], id="the requester"),
    pytest.param(
        change(*ONE, ballots=(yes(REQUESTER),), requester_may_approve=True),
        "asked for this change",
        [ANN, BEN, CAT],
        id="the requester, whatever the setting for quality",
    ),
    pytest.param(
        change(*ONE, ballots=(yes(ANN),), pushers=frozenset({BOT, ANN})), "they pushed", [BEN, CAT], id="a pusher"
    ),
    pytest.param(change(*ONE, ballots=(yes(DAN),)), "write access", [ANN, BEN, CAT], id="a reader"),
    pytest.param(change(*ONE, ballots=(yes(ANN),), deciders=OWNED), "do not own", [BEN, CAT], id="not the owner"),
    pytest.param(
        change(*ONE, ballots=(yes(CAT),), deciders=(Deciders(path="src/auth.py", people=frozenset()),)),
        "do not own",
        [BEN],
        id="owned by nobody who can be told",
    ),
    pytest.param(
        change(*ONE, ballots=(yes(CAT),), team=frozenset({ANN})), "security team", [ANN, BEN], id="not in the team"
    ),
    pytest.param(
        change(*ONE, ballots=(yes(BOT),), standings=(*EVERYBODY, person(BOT, "admin"))),
        "only people",
        [ANN, BEN, CAT],
        id="our own bot",
    ),
    pytest.param(
        change(*ONE, ballots=(yes(ANN),), standings=(person(ANN, "admin", "Bot"),)), "only people", [], id="an App"
    ),
    pytest.param(
        change(*ONE, ballots=(yes(ANN),), standings=(person(ANN, None),)),
        "could not be read",
        [],
        id="unknown standing",
    ),
    pytest.param(change(*ONE, ballots=(yes(ANN),), standings=()), "could not be read", [], id="never looked up"),
    pytest.param(
        change(*ONE, ballots=(yes(ANN, (finding(blob="c" * 40),)),)), "1 finding", [ANN, BEN, CAT], id="other content"
    ),
    pytest.param(change(*TWO, ballots=(yes(ANN, ONE),)), "2 findings", [ANN, BEN, CAT], id="fewer findings"),
    pytest.param(change(*ONE, ballots=(yes(ANN, digest=HEAD),)), "1 finding", [ANN, BEN, CAT], id="on the head only"),
    pytest.param(
        change(*TWO, ballots=(yes(ANN, TWO),), deciders=OWNED), "do not own", [ANN, BEN, CAT], id="one of two paths"
    ),
    pytest.param(
        change(*ONE, ballots=(yes(REQUESTER),), writers=frozenset({REQUESTER}), standings=EVERYBODY[:1]),
        "naming the commit",
        [REQUESTER],
        id="the only writer, no commit named",
    ),
    pytest.param(
        change(*ONE, standings=(EVERYBODY[0], EVERYBODY[4])), "nobody here may decide it", [], id="nobody is eligible"
    ),
]


@pytest.mark.parametrize(("evidence", "why", "who"), WAITS)
def test_waits(evidence: SecurityEvidence, why: str, who: list[int]) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Wait), verdict
    assert why in verdict.why
    assert [one.id for one in verdict.eligible] == who
    assert verdict.need == f"`/approve security {HEAD[:7]}`"


REFUSES = [
    pytest.param(change(finding(level="block")), [], id="what is never pushed"),
    pytest.param(
        change(finding(level="block"), ballots=(yes(BEN, (finding(level="block"),)),)), [], id="whoever said yes to it"
    ),
    pytest.param(change(*ONE, ballots=(yes(ANN), yes(BEN, yes=False))), [BEN], id="one yes, one no"),
    pytest.param(change(*ONE, ballots=(yes(ANN, at=1), yes(ANN, at=2, yes=False))), [ANN], id="yes, then no"),
    pytest.param(
        change(*ONE, ballots=(yes(REQUESTER, yes=False),)), [REQUESTER], id="the requester thinks better of it"
    ),
    pytest.param(
        change(*ONE, ballots=(yes(ANN, yes=False),), deciders=OWNED), [ANN], id="a no by somebody who owns nothing"
    ),
]


@pytest.mark.parametrize(("evidence", "by"), REFUSES)
def test_refuses(evidence: SecurityEvidence, by: list[int]) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Refuse), verdict
    assert [one.id for one in verdict.by] == by
    assert verdict.reason


BLOCKS = [
    pytest.param(change(judged="c" * 40), "not been looked through", id="the findings are of another commit"),
    pytest.param(change(unknown_pusher=True), "unknown", id="somebody else's commit"),
    pytest.param(change(hold=True), "seconder:hold", id="on hold"),
    pytest.param(change(state="closed"), "closed", id="closed"),
    pytest.param(change(merged=True), "merged", id="merged"),
    pytest.param(change(*ONE, owners_unknown="CODEOWNERS cannot be used"), "CODEOWNERS", id="owners cannot be told"),
    pytest.param(change(complete=False), "not all", id="half a list"),
    pytest.param(change(base="release"), "made for main", id="another base"),
    pytest.param(
        change(*ONE, ballots=(yes(ANN, yes=False), yes(BEN)), standings=EVERYBODY[2:]),
        "could not be read",
        id="a no by somebody unclear",
    ),
    pytest.param(
        {**change().model_dump(), "findings": ({**ONE[0].model_dump(), "level": "fine"},)},
        "make no sense",
        id="a level",
    ),
    pytest.param({**change().model_dump(), "findings": None}, "make no sense", id="no findings"),
    pytest.param(
        {key: value for key, value in change().model_dump().items() if key != "findings"}, "make no sense", id="missing"
    ),
    pytest.param(
        {**change(*ONE).model_dump(), "deciders": (OWNED[0].model_dump(), OWNED[0].model_dump())},
        "two lists",
        id="two lists of owners",
    ),
    pytest.param(TimeoutError(), "in time", id="the scan took too long"),
    pytest.param(RuntimeError("bandit"), "could not be read", id="the scan failed"),
    pytest.param(None, "no facts", id="no scan"),
]


@pytest.mark.parametrize(("evidence", "why"), BLOCKS)
def test_blocks(evidence: object, why: str) -> None:
    verdict = ask(evidence)
    assert isinstance(verdict, Blocked), verdict
    assert why in verdict.reason


def test_the_only_writer_is_said_to_decide_alone() -> None:
    evidence = change(*ONE, ballots=(yes(REQUESTER, names_head=True),), writers=frozenset({REQUESTER}))
    verdict = ask(evidence)
    assert isinstance(verdict, Pass)
    assert verdict.why == f"one person decided: rita is the only writer and named {HEAD[:7]}"
