"""Issues, comments and reactions: limits, pages, and doing a thing twice."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.infra.local_github.scene import Scene

ISSUES = "/repos/acme/shop/issues"


async def call(scene: Scene, login: str, method: str, path: str, **body: Any) -> httpx.Response:
    async with scene.http(login) as client:
        return await client.request(method, path, json=body if method not in ("GET", "DELETE") else None)


@pytest.mark.parametrize(
    ("size", "status"), [pytest.param(65_536, 201, id="longest"), pytest.param(65_537, 422, id="one too many")]
)
async def test_comment_length(scene: Scene, size: int, status: int) -> None:
    await scene.gh.act("bob", "POST", ISSUES, {"title": "t"})
    reply = await call(scene, "bob", "POST", f"{ISSUES}/1/comments", body="ü" * size)
    assert reply.status_code == status
    assert ("too long (maximum is 65536 characters)" in reply.text) == (status == 422)


async def test_comments_come_in_pages(scene: Scene) -> None:
    await scene.gh.act("bob", "POST", ISSUES, {"title": "t"})
    for number in range(5):
        await scene.gh.act("bob", "POST", f"{ISSUES}/1/comments", {"body": f"comment {number}"})
    got: list[str] = []
    url = f"{scene.gh.api_url}{ISSUES}/1/comments?per_page=2"
    async with scene.http("bob") as client:
        while url:
            reply = await client.get(url)
            got += [c["body"] for c in reply.json()]
            url = reply.links.get("next", {}).get("url", "")
    assert got == [f"comment {n}" for n in range(5)]


async def test_a_reaction_given_twice_is_one(scene: Scene) -> None:
    await scene.gh.act("bob", "POST", ISSUES, {"title": "t"})
    path = f"{ISSUES}/1/reactions"
    first, second = [await call(scene, "ada", "POST", path, content="eyes") for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    wrong = await call(scene, "ada", "POST", path, content="frown")
    not_theirs = await call(scene, "bob", "DELETE", f"{path}/{first.json()['id']}")
    assert (wrong.status_code, not_theirs.status_code) == (422, 403)
    assert (await call(scene, "ada", "DELETE", f"{path}/{first.json()['id']}")).status_code == 204


@pytest.mark.parametrize(
    ("login", "method", "path", "body", "status"),
    [
        pytest.param("bob", "PATCH", "/1", {"title": "mine"}, 200, id="the author edits"),
        pytest.param("eve", "PATCH", "/1", {"title": "mine"}, 403, id="a reader edits another's"),
        pytest.param("eve", "POST", "/1/labels", {"labels": ["bug"]}, 403, id="a reader labels"),
        pytest.param("eve", "POST", "/1/comments", {"body": "hello"}, 201, id="a reader comments"),
        pytest.param("eve", "POST", "", {"title": "t", "labels": ["bug"]}, 201, id="a reader files"),
        pytest.param("bob", "POST", "", {"title": 7}, 422, id="a title that is no text"),
        pytest.param("bob", "POST", "", {}, 422, id="no title"),
        pytest.param("bob", "PATCH", "/1", {"state": "gone"}, 422, id="an unknown state"),
        pytest.param("bob", "POST", "/1/comments", {"body": "   "}, 422, id="a blank comment"),
        pytest.param("bob", "DELETE", "/1/labels/none", None, 404, id="a label it has not"),
        pytest.param("bob", "GET", "/1%2F..%2F2", None, 404, id="an encoded slash"),
        pytest.param("bob", "GET", "/99999999999999999999", None, 404, id="a huge number"),
    ],
)
async def test_who_may_do_what(scene: Scene, login: str, method: str, path: str, body: Any, status: int) -> None:
    scene.gh.world.collaborate("acme/shop", "eve", "read")
    await scene.gh.act("bob", "POST", ISSUES, {"title": "first"})
    async with scene.http(login) as client:
        reply = await client.request(method, ISSUES + path, json=body)
    assert reply.status_code == status, reply.text
    if login == "eve" and status == 201 and path == "":
        assert reply.json()["labels"] == []


async def test_bodies_that_are_not_json(scene: Scene) -> None:
    async with scene.http("bob") as client:
        for content in (b"{", b"\xff", b"7", b'"x"'):
            assert (await client.post(ISSUES, content=content)).status_code == 400
