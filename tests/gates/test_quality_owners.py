"""Code owners at the quality gate."""

from __future__ import annotations

import pytest

from gates.evidence import OwnerGroup, ReviewEvidence
from gates.verdict import Blocked, Pass, Wait
from tests.gates.quality_scene import ANN, BEN, CAT, OLD, REQUESTER, ask, pull, review


def group(*people: int, path: str = "a.py", line: int = 1, owners: str = "@o/t") -> OwnerGroup:
    return OwnerGroup(line=line, paths=(path,), owners=tuple(owners.split()), people=frozenset(people))


PASSES = [
    pytest.param((review(1, ANN),), (group(ANN, BEN),), [ANN], id="any one of a line's owners"),
    pytest.param((review(1, ANN),), (group(ANN), group(ANN, CAT)), [ANN], id="one person for two groups"),
    pytest.param((review(1, ANN), review(2, BEN)), (group(ANN), group(BEN)), [ANN, BEN], id="two for two groups"),
]


@pytest.mark.parametrize(("reviews", "owners", "by"), PASSES)
def test_passes(reviews: tuple[ReviewEvidence, ...], owners: tuple[OwnerGroup, ...], by: list[int]) -> None:
    verdict = ask(pull(*reviews, owners=owners))
    assert isinstance(verdict, Pass), verdict
    assert [one.id for one in verdict.by] == by


WAITS = [
    pytest.param((review(1, ANN),), (group(BEN),), "a.py (@o/t)", ["ben"], id="approved, but by no owner"),
    pytest.param((review(1, ANN),), (group(ANN), group(BEN, path="b")), "b (@o/t)", ["ben"], id="one group is missing"),
    pytest.param((review(1, BEN, commit=OLD),), (group(BEN),), "a.py", ["ben"], id="an owner approved an older head"),
    pytest.param((review(1, BEN), review(2, BEN, "dismissed")), (group(BEN),), "a.py", ["ben"], id="dismissed"),
    pytest.param(
        (review(1, REQUESTER), review(2, ANN)), (group(REQUESTER),), "a.py", [], id="the requester is the owner"
    ),
    pytest.param((review(1, ANN),), (group(),), "a.py", [], id="no owner has write"),
    pytest.param((), (group(BEN),), "one approving review and a code owner's", ["ben"], id="nobody yet"),
]


@pytest.mark.parametrize(("reviews", "owners", "need", "who"), WAITS)
def test_waits(reviews: tuple[ReviewEvidence, ...], owners: tuple[OwnerGroup, ...], need: str, who: list[str]) -> None:
    verdict = ask(pull(*reviews, owners=owners))
    assert isinstance(verdict, Wait), verdict
    assert need in verdict.need
    assert [one.login for one in verdict.eligible] == who


def test_more_reviews_than_groups_may_come_from_anybody() -> None:
    verdict = ask(pull(owners=(group(BEN),), required=2))
    assert isinstance(verdict, Wait)
    assert [one.login for one in verdict.eligible] == ["ann", "ben", "cat"]


def test_owners_who_cannot_approve_are_said_with_the_way_out() -> None:
    verdict = ask(pull(review(1, ANN), owners=(group(line=7, owners="gone@example.com"),)))
    assert isinstance(verdict, Wait)
    assert "line 7 of CODEOWNERS has to name somebody else" in verdict.why


def test_many_groups_are_cut() -> None:
    verdict = ask(pull(owners=tuple(group(BEN, path=f"f{n}", line=n) for n in range(1, 9))))
    assert isinstance(verdict, Wait)
    assert "f3" in verdict.need
    assert "f4" not in verdict.need


def test_owners_that_cannot_be_told_block() -> None:
    verdict = ask(pull(review(1, ANN), owners_unknown="more than 3,000 files"))
    assert verdict == Blocked("more than 3,000 files")
