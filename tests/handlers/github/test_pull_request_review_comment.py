from __future__ import annotations

import pytest

from tests.handlers.github.payloads import ADA, BOB, OTHER_BOT, US, events, names


def comment(body: str = "/approve", **more: object) -> dict[str, object]:
    """A new comment by Ada on a line of pull request 7."""
    given = {"id": 9, "body": body, "user": ADA, **more}
    return {"action": "created", "pull_request": {"number": 7}, "comment": given}


def test_a_line_comment_has_its_place() -> None:
    (event,) = events("pull_request_review_comment", comment("Why?"))
    assert (event.name, event.data["where"], event.data["on_pull_request"]) == ("comment_added", "line", True)
    assert (event.data["number"], event.data["comment_id"]) == (7, 9)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(comment(), ["command_given"], id="command"),
        pytest.param({**comment(), "action": "edited"}, [], id="edited"),
        pytest.param({**comment(), "sender": BOB}, ["comment_added"], id="sender is not the author"),
        pytest.param({**comment(user=OTHER_BOT), "sender": OTHER_BOT}, [], id="a bot"),
        pytest.param({**comment(user=US), "sender": US}, [], id="ourselves"),
        pytest.param({**comment(), "pull_request": None}, [], id="null pull request"),
        pytest.param({**comment(), "comment": None}, [], id="null comment"),
    ],
)
def test_who_says_what(payload: dict[str, object], expected: list[str]) -> None:
    assert names("pull_request_review_comment", payload) == expected
