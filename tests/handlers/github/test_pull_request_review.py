from __future__ import annotations

import pytest

from tests.handlers.github.payloads import (
    ADA,
    BOB,
    GHOST,
    HEAD,
    OTHER_BOT,
    REF,
    US,
    WHEN,
    WHEN_MS,
    events,
    names,
)

PULL: dict[str, object] = {"number": 7, "user": BOB, "head": {"sha": HEAD, "ref": "work"}}


def review(action: str = "submitted", **more: object) -> dict[str, object]:
    """A review by Ada of pull request 7."""
    given = {"id": 9, "state": "approved", "body": "", "commit_id": HEAD, "user": ADA, "submitted_at": WHEN, **more}
    return {"action": action, "pull_request": PULL, "review": given}


def test_a_review_says_what_it_judged() -> None:
    (event,) = events("pull_request_review", review(commit_id="b" * 40))
    assert (event.name, event.at) == ("review_submitted", WHEN_MS)
    assert event.data == {
        "repo": REF,
        "sender": ADA,
        "number": 7,
        "review_id": 9,
        "state": "approved",
        "body": "",
        "head": "b" * 40,
        "current_head": HEAD,
        "author": ADA,
        "url": "",
    }


def test_a_body_is_also_a_comment() -> None:
    first, second = events("pull_request_review", review(body="Please rename it", state="commented"))
    assert (first.id, first.name) == ("d-1", "review_submitted")
    assert (second.id, second.name, second.at) == ("d-1.1", "comment_added", WHEN_MS)
    assert (second.data["where"], second.data["comment_id"], second.data["on_pull_request"]) == ("review", 9, True)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(review(body="/merge"), ["review_submitted", "command_given"], id="command in a review"),
        pytest.param(
            {**review(body="/merge"), "sender": BOB}, ["review_submitted", "comment_added"], id="other sender"
        ),
        pytest.param(review(state="CHANGES_REQUESTED"), ["review_submitted"], id="upper case as in the REST API"),
        pytest.param(review(state="pending"), [], id="a state that is no vote"),
        pytest.param(review(state=None), [], id="null state"),
        pytest.param(review(state="pending", body="hm"), ["comment_added"], id="words with an unknown state"),
        pytest.param({**review(user=US, body="findings"), "sender": US}, [], id="our own review"),
        pytest.param(
            {**review(user=OTHER_BOT, body="/approve"), "sender": OTHER_BOT}, ["review_submitted"], id="a bot"
        ),
        pytest.param(review("dismissed", state="dismissed"), ["review_dismissed"], id="dismissed"),
        pytest.param(review("dismissed", state="dismissed", body="/merge"), ["review_dismissed"], id="body is old"),
        pytest.param({**review("dismissed", state="dismissed"), "sender": US}, ["review_dismissed"], id="by us"),
        pytest.param(review("edited", body="/merge"), [], id="edited"),
        pytest.param({**review(), "review": None}, [], id="null review"),
        pytest.param({**review(), "pull_request": None}, [], id="null pull request"),
        pytest.param({**review(body="x"), "installation": None}, [], id="null installation"),
    ],
)
def test_what_becomes_of_a_review(payload: dict[str, object], expected: list[str]) -> None:
    assert names("pull_request_review", payload) == expected


def test_commit_and_author_may_be_missing() -> None:
    payload = {**review(commit_id=None, user=None), "pull_request": {"number": 7, "head": None}}
    (event,) = events("pull_request_review", payload)
    assert (event.data["head"], event.data["current_head"], event.data["author"]) == (None, "", GHOST)
