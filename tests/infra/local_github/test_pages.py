"""Pages: hostile text stays text, forms act as the chosen person, and only from the pages themselves."""

from __future__ import annotations

import httpx
import pytest

from infra.local_github.markdown import render
from tests.infra.local_github.scene import Scene


def browser(scene: Scene, login: str = "bob") -> httpx.AsyncClient:
    """A browser on the local GitHub's own pages, acting as a person."""
    headers = {"Origin": scene.gh.url, "Sec-Fetch-Site": "same-origin"}
    return httpx.AsyncClient(base_url=scene.gh.url, headers=headers, cookies={"as": login}, trust_env=False)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;", id="script"),
        pytest.param("a <img src=x onerror=y>", "<p>a &lt;img src=x onerror=y&gt;</p>\n", id="inline image"),
        pytest.param("<details onclick=x>", "&lt;details onclick=x&gt;", id="attribute"),
        pytest.param("[x](javascript:alert)", "<p>[x](javascript:alert)</p>\n", id="script link"),
        pytest.param("![x](https://e.example/p)", '<p>!<a href="https://e.example/p">x</a></p>\n', id="image"),
        pytest.param("a<!-- marker -->b", "<p>ab</p>\n", id="hidden marker"),
        pytest.param("<!-- marker -->", "", id="hidden block"),
        pytest.param("<!-- open <b>", "&lt;!-- open <b>", id="open comment"),
        pytest.param("<details>\n\n`x`\n\n</details>", "<details>\n<p><code>x</code></p>\n</details>", id="fold"),
        pytest.param("- [x] a", "<ul>\n<li class=task>☑ a</li>\n</ul>\n", id="task"),
    ],
)
def test_markdown_is_safe(text: str, html: str) -> None:
    assert render(text) == html


async def test_hostile_text_is_escaped_everywhere(scene: Scene) -> None:
    evil = "<script>alert('x')</script>"
    number = await scene.pull("feature", title=evil, body=evil)
    act = scene.gh.act
    await act("bob", "POST", f"/repos/acme/shop/issues/{number}/comments", {"body": evil})
    await act("ada", "POST", f"/repos/acme/shop/issues/{number}/labels", {"labels": ["<b>label</b>"]})
    await act(
        "ada",
        "PUT",
        "/repos/acme/shop/contents/e.txt",
        {"message": evil, "content": "PHNjcmlwdD4=", "branch": "feature"},
    )
    async with browser(scene) as client:
        for path in ("/", "/acme/shop/pulls", f"/acme/shop/pull/{number}", "/acme/shop/issues"):
            reply = await client.get(path)
            assert reply.status_code == 200
            assert "<script>" not in reply.text
            assert "<b>label" not in reply.text
            assert "not github.com" in reply.text
            assert "default-src 'none'" in reply.headers["content-security-policy"]


async def test_a_person_files_reviews_and_merges(scene: Scene) -> None:
    async with browser(scene) as client:
        filed = await client.post("/acme/shop/issues/new", data={"title": "From the page", "body": "a\r\nb"})
        assert filed.headers["location"] == "/acme/shop/issues/1"
        assert scene.repo.issues[1].body == "a\nb"
        number = await scene.pull(draft=True)
        head, where = scene.repo.pulls[number].head_sha, f"/acme/shop/pull/{number}/act"
        for form in (
            {"do": "ready"},
            {"do": "approve", "head": head, "body": ""},
            {"do": "comment", "body": "/approve"},
            {"do": "label", "label": "bug"},
            {"do": "unlabel:bug"},
            {"do": "merge", "head": head, "method": "squash"},
        ):
            reply = await client.post(where, data=form)
            assert reply.status_code == 303, reply.text
        assert (await client.get(reply.headers["location"])).text.count("Merged") == 1
    assert scene.repo.pulls[number].merged_at is not None
    assert [r.state for r in scene.repo.reviews.values()] == ["APPROVED"]
    assert [c.body for c in scene.repo.comments.values()] == ["/approve"]


async def test_a_refusal_is_a_page_with_the_reason(scene: Scene) -> None:
    number = await scene.pull()
    async with browser(scene, "ada") as client:
        reply = await client.post(f"/acme/shop/pull/{number}/act", data={"do": "approve"})
        missing = await client.get("/acme/nothing/issues/7")
    assert (reply.status_code, "Can not approve your own pull request" in reply.text) == (422, True)
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 303, id="own page"),
        pytest.param({"Origin": "http://evil.example"}, 403, id="another site"),
        pytest.param({"Origin": "null"}, 403, id="a sandboxed frame"),
        pytest.param({"Origin": ""}, 403, id="no origin"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"Host": "evil.example", "Origin": "http://evil.example"}, 421, id="a rebound name"),
    ],
)
async def test_forms_come_from_own_pages_only(scene: Scene, headers: dict[str, str], status: int) -> None:
    async with browser(scene) as client:
        reply = await client.post("/acme/shop/issues/new", data={"title": "t"}, headers=headers)
    assert (reply.status_code, len(scene.repo.issues)) == (status, int(status == 303))


@pytest.mark.parametrize(
    ("target", "location"),
    [
        pytest.param("/acme/shop/issues", "/acme/shop/issues", id="a page"),
        pytest.param("//evil.example", "/", id="another host"),
        pytest.param("/\\evil.example", "/", id="another host by backslash"),
        pytest.param("https://evil.example", "/", id="a whole address"),
    ],
)
async def test_switching_people_stays_here(scene: Scene, target: str, location: str) -> None:
    async with browser(scene) as client:
        reply = await client.post("/local/as", data={"as": "ada", "next": target})
    assert reply.headers["location"] == location
    assert reply.cookies["as"] == "ada"
