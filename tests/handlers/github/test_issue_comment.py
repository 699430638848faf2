from __future__ import annotations

import pytest

from handlers.github import AppIdentity
from tests.handlers.github.payloads import (
    ADA,
    APP,
    BOB,
    IMPOSTOR,
    OTHER_BOT,
    REF,
    US,
    US_BY_NAME,
    WHEN,
    WHEN_MS,
    events,
    names,
)


def comment(body: object = "/approve cost", **more: object) -> dict[str, object]:
    """A new comment by Ada on issue 4."""
    given = {"id": 9, "body": body, "user": ADA, "html_url": "https://x/9", "created_at": WHEN, **more}
    return {"action": "created", "issue": {"number": 4}, "comment": given}


def test_words_of_a_person() -> None:
    (event,) = events("issue_comment", comment("Good idea"))
    assert (event.id, event.name, event.at) == ("d-1", "comment_added", WHEN_MS)
    assert event.data == {
        "repo": REF,
        "sender": ADA,
        "number": 4,
        "on_pull_request": False,
        "where": "issue",
        "comment_id": 9,
        "author": ADA,
        "body": "Good idea",
        "url": "https://x/9",
        "cut": False,
    }


def test_a_command() -> None:
    (event,) = events("issue_comment", comment("/Reject security\r\nno"))
    assert event.name == "command_given"
    assert (event.data["verb"], event.data["arguments"], event.data["words"]) == ("reject", "security", "no")


def test_a_command_that_contradicts_itself_is_for_the_answer() -> None:
    (event,) = events("issue_comment", comment("/approve\n/reject"))
    assert (event.name, event.data["verb"], event.data["arguments"]) == ("command_given", "refused", "opposed")
    assert "contradict" in str(event.data["words"])


def test_on_a_pull_request() -> None:
    (event,) = events("issue_comment", {**comment(), "issue": {"number": 4, "pull_request": {"url": "u"}}})
    assert event.data["on_pull_request"] is True


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({**comment(), "action": "edited"}, [], id="command edited in"),
        pytest.param({**comment(), "action": "deleted"}, [], id="deleted"),
        pytest.param({**comment(), "sender": BOB}, ["comment_added"], id="sender is not the author"),
        pytest.param({**comment(), "sender": None}, ["comment_added"], id="no sender"),
        pytest.param({**comment(), "sender": {**ADA, "type": "Bot"}}, ["comment_added"], id="sender is a bot"),
        pytest.param({**comment(), "sender": {**ADA, "type": None}}, ["comment_added"], id="sender of no type"),
        pytest.param({**comment(user=OTHER_BOT), "sender": OTHER_BOT}, [], id="another bot"),
        pytest.param({**comment(user=US), "sender": US}, [], id="ourselves by number"),
        pytest.param({**comment(user=US_BY_NAME), "sender": US_BY_NAME}, [], id="ourselves by name"),
        pytest.param({**comment(user=ADA), "sender": US}, [], id="sent by us"),
        pytest.param(comment(performed_via_github_app={"id": 77}), [], id="through our App"),
        pytest.param(comment(performed_via_github_app={"id": 78}), ["command_given"], id="through another App"),
        pytest.param(comment(performed_via_github_app=None), ["command_given"], id="through no App"),
        pytest.param({**comment(user=IMPOSTOR), "sender": IMPOSTOR}, ["command_given"], id="a person with our name"),
        pytest.param(comment(user=None), [], id="deleted author"),
        pytest.param(comment(user={**ADA, "type": "Organization"}), [], id="an organization"),
        pytest.param(comment(user={**ADA, "type": "user"}), [], id="a type in lower case is no person"),
        pytest.param(comment(None), [], id="null body"),
        pytest.param(comment(" \n"), [], id="blank body"),
        pytest.param(comment(id=None), [], id="no id"),
        pytest.param({**comment(), "issue": None}, [], id="null issue"),
        pytest.param({**comment(), "comment": None}, [], id="null comment"),
        pytest.param({**comment(), "installation": None}, [], id="null installation"),
        pytest.param(comment("> /approve"), ["comment_added"], id="quoted command"),
        pytest.param(comment("/lgtm"), ["comment_added"], id="somebody else's command"),
    ],
)
def test_who_says_what(payload: dict[str, object], expected: list[str]) -> None:
    assert names("issue_comment", payload) == expected


def test_without_short_commands_only_the_long_form_counts() -> None:
    app = AppIdentity(app_id=77, bot_id=None, slug="seconder", short_commands=False)
    assert names("issue_comment", comment("/approve"), app) == ["comment_added"]
    assert names("issue_comment", comment("/seconder approve"), app) == ["command_given"]


def test_before_the_bots_number_is_known_its_name_counts() -> None:
    app = AppIdentity(app_id=APP.app_id, bot_id=None, slug=APP.slug)
    assert names("issue_comment", {**comment(), "sender": US}, app) == []


@pytest.mark.parametrize(
    ("body", "kept", "cut"),
    [
        pytest.param("x" * 16384, "x" * 16384, False, id="exactly 16 KiB"),
        pytest.param("x" * 16385, "x" * 16384, True, id="one over"),
        pytest.param("x" * 16383 + "é", "x" * 16383, True, id="a character across the edge"),
        pytest.param("☃" * 6000, "☃" * 5461, True, id="bytes, not characters"),
    ],
)
def test_a_long_body_is_cut(body: str, kept: str, cut: bool) -> None:
    (event,) = events("issue_comment", comment(body))
    assert event.data["body"] == kept
    assert event.data["cut"] is cut
