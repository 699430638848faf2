from __future__ import annotations

import pytest

from handlers.events import Actor
from handlers.ports import Refused
from tests.infra.github.conftest import APP_ID, REPO, Hub

ADA = {"id": 1, "login": "ada", "type": "User"}
BOT = {"id": 99, "login": "seconder[bot]", "type": "Bot"}


async def test_an_issue_of_nulls_and_news(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/issues/1").respond(
        200,
        json={
            "number": 1,
            "title": None,
            "body": None,
            "state": "LOCKED_SOMEHOW",
            "user": None,
            "labels": ["old", {"name": "bug", "color": None}, {"name": None}],
            "pull_request": None,
            "brand_new_field": {"x": 1},
        },
    )
    issue = await hub.ports.issues.get(REPO, 1)
    assert (issue.title, issue.body, issue.state, issue.labels) == ("", "", "locked_somehow", ("old", "bug"))
    assert issue.author == Actor(id=0, login="ghost")
    assert not issue.is_pull_request


@pytest.mark.parametrize(
    ("fields", "by_us"),
    [
        pytest.param({"user": BOT, "performed_via_github_app": {"id": APP_ID}}, True, id="through our App"),
        pytest.param({"user": ADA, "performed_via_github_app": {"id": APP_ID}}, True, id="a person through our App"),
        pytest.param({"user": BOT, "performed_via_github_app": {"id": 8}}, False, id="through another App"),
        pytest.param({"user": BOT, "performed_via_github_app": None}, True, id="our bot, App not told"),
        pytest.param({"user": {**BOT, "id": 98}}, False, id="a bot that took our old login"),
        pytest.param({"user": {**BOT, "type": "User"}}, False, id="a person with a bot's login"),
        pytest.param({"user": ADA}, False, id="a person"),
        pytest.param({"user": None}, False, id="a ghost"),
        pytest.param({"user": {"id": 5, "login": "x", "type": "Mannequin"}}, False, id="an unknown type"),
    ],
)
async def test_whose_comment_it_is(hub: Hub, fields: dict[str, object], by_us: bool) -> None:
    hub.router.get("/repos/octo/app/issues/1/comments").respond(200, json=[{"id": 3, "body": None, **fields}])
    hub.router.get("/app").respond(200, json={"id": APP_ID, "slug": "seconder"})
    installed = [{"id": 8, "suspended_at": "2026-01-01T00:00:00Z"}, {"id": 9, "suspended_at": None}]
    hub.router.get("/app/installations").respond(200, json=installed)
    hub.router.get("/users/seconder%5Bbot%5D").respond(200, json=BOT)
    (found,) = await hub.ports.issues.comments(REPO, 1)
    assert (found.by_us, found.body, found.created_at) == (by_us, "", 0)


async def test_too_long_a_text_is_never_sent(hub: Hub) -> None:
    with pytest.raises(Refused, match="65537 characters"):
        await hub.ports.issues.comment(REPO, 1, "x" * 65_537)
    assert not hub.router.calls
