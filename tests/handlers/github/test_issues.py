from __future__ import annotations

import pytest

from handlers.snapshot import text_digest
from tests.handlers.github.payloads import ADA, BOB, GHOST, REF, US, WHEN, WHEN_MS, events, names

ISSUE: dict[str, object] = {"number": 4, "user": BOB, "updated_at": WHEN, "title": "t", "body": "secret plans"}
ABOUT = {"repo": REF, "sender": ADA, "number": 4, "author": BOB, "is_pull_request": False}


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("opened", "issue_created"),
        ("edited", "issue_edited"),
        ("closed", "issue_closed"),
        ("reopened", "issue_reopened"),
        ("deleted", "issue_closed"),
        ("transferred", "issue_closed"),
    ],
)
def test_an_action_is_an_event_without_the_text(action: str, name: str) -> None:
    (event,) = events("issues", {"action": action, "issue": ISSUE})
    assert (event.id, event.name, event.at, event.data) == ("d-1", name, WHEN_MS, ABOUT)


@pytest.mark.parametrize(("action", "name"), [("labeled", "issue_labeled"), ("unlabeled", "issue_unlabeled")])
def test_a_label_is_named(action: str, name: str) -> None:
    (event,) = events("issues", {"action": action, "issue": ISSUE, "label": {"name": "seconder:hold"}})
    text = {"text": text_digest("t", "secret plans")} if action == "labeled" else {}
    assert (event.name, event.data) == (name, {**ABOUT, "label": "seconder:hold", **text})


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"action": "pinned", "issue": ISSUE}, id="unread action"),
        pytest.param({"action": None, "issue": ISSUE}, id="null action"),
        pytest.param({"issue": ISSUE}, id="no action"),
        pytest.param({"action": "opened", "issue": None}, id="null issue"),
        pytest.param({"action": "opened"}, id="no issue"),
        pytest.param({"action": "opened", "issue": {}}, id="issue without a number"),
        pytest.param({"action": "opened", "issue": ISSUE, "repository": None}, id="null repository"),
        pytest.param({"action": "opened", "issue": ISSUE, "repository": {"id": 1}}, id="nameless repository"),
        pytest.param({"action": "opened", "issue": ISSUE, "installation": None}, id="null installation"),
        pytest.param({"action": "opened", "issue": ISSUE, "installation": {}}, id="empty installation"),
        pytest.param({"action": "labeled", "issue": ISSUE}, id="label missing"),
        pytest.param({"action": "labeled", "issue": ISSUE, "label": {"name": None}}, id="nameless label"),
    ],
)
def test_what_cannot_be_acted_on_is_no_event(payload: dict[str, object]) -> None:
    assert names("issues", payload) == []


@pytest.mark.parametrize(
    ("payload", "author", "sender"),
    [
        pytest.param({"issue": {"number": 4, "user": None}}, GHOST, ADA, id="deleted author"),
        pytest.param({"issue": {"number": 4, "user": {}}}, GHOST, ADA, id="empty author"),
        pytest.param({"issue": {"number": 4, "user": BOB}, "sender": None}, BOB, GHOST, id="null sender"),
        pytest.param(
            {"issue": {"number": 4, "user": {"id": 6, "login": "bob"}}}, BOB | {"type": ""}, ADA, id="author of no type"
        ),
        pytest.param(
            {"issue": {"number": 4, "user": BOB | {"type": "Mannequin"}}},
            BOB | {"type": "Mannequin"},
            ADA,
            id="a type that we never heard of",
        ),
        pytest.param({"issue": {"number": 4, "user": BOB}, "sender": US}, BOB, US, id="ourselves: state may pass"),
    ],
)
def test_people_may_be_missing(payload: dict[str, object], author: object, sender: object) -> None:
    (event,) = events("issues", {"action": "opened", **payload})
    assert (event.data["author"], event.data["sender"]) == (author, sender)


@pytest.mark.parametrize("when", [None, "", "yesterday", "2026-13-45T00:00:00Z"])
def test_a_missing_or_odd_time_is_zero(when: str | None) -> None:
    (event,) = events("issues", {"action": "opened", "issue": {**ISSUE, "updated_at": when}})
    assert event.at == 0
