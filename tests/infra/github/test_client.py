from __future__ import annotations

import asyncio

import httpx
import pytest
import structlog.testing

from handlers.ports import Conflicted, GitHubError, Later, Missing, NewPull, Refused, Unknown
from tests.infra.github.conftest import API, REPO, START, Hub

ISSUE = {"number": 1, "title": "T", "body": "B", "state": "open"}
COMMENTS = "/repos/octo/app/issues/1/comments"


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        pytest.param(404, {"message": "Not Found"}, Missing, id="404"),
        pytest.param(410, {"message": "This issue was deleted"}, Missing, id="410"),
        pytest.param(451, {"message": "Repository access blocked"}, Refused, id="451"),
        pytest.param(400, {"message": "Problems parsing JSON"}, Refused, id="400"),
        pytest.param(401, {"message": "Requires authentication"}, Refused, id="401"),
        pytest.param(403, {"message": "Resource not accessible by integration"}, Refused, id="403"),
        pytest.param(409, {"message": "Git Repository is empty."}, Refused, id="409 empty repository"),
        pytest.param(409, {"message": "Conflict"}, Conflicted, id="409"),
        pytest.param(
            422,
            {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for o:b."}]},
            Conflicted,
            id="422 with the reason among the errors",
        ),
        pytest.param(422, {"message": "Validation Failed", "errors": ["odd", None, 3]}, Refused, id="422 odd errors"),
        pytest.param(422, {"message": "Validation Failed", "errors": "text"}, Refused, id="422 errors is text"),
        pytest.param(422, {"message": None, "errors": None}, Refused, id="422 nulls"),
        pytest.param(418, {"message": "New"}, Refused, id="a status nobody knows"),
    ],
)
async def test_answers_and_their_errors(hub: Hub, status: int, body: object, error: type[GitHubError]) -> None:
    hub.router.post("/repos/octo/app/pulls").respond(status, json=body)
    with pytest.raises(GitHubError) as raised:
        await hub.ports.pulls.open(REPO, NewPull("T", "B", "seconder/x", "main"))
    assert type(raised.value) is error
    assert "POST /repos/octo/app/pulls" in str(raised.value)


async def test_an_answer_that_is_no_json_is_shown_cut(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/issues/1").respond(403, text="<html>" + "x" * 5000)
    with pytest.raises(Refused) as raised:
        await hub.ports.issues.get(REPO, 1)
    assert len(str(raised.value)) < 700


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(httpx.Response(500, json={"message": "Server Error"}), id="500"),
        pytest.param(httpx.Response(502, text="<html>Unicorn!"), id="502"),
        pytest.param(httpx.Response(503, headers={"retry-after": "9"}), id="503"),
        pytest.param(httpx.ReadTimeout("slow"), id="time-out"),
        pytest.param(httpx.RemoteProtocolError("Server disconnected"), id="broken connection"),
        pytest.param(httpx.WriteError("broken pipe"), id="broken while sending"),
        pytest.param(httpx.Response(201, json={"id": None}), id="an answer without what it should hold"),
        pytest.param(httpx.Response(201, text="<html>"), id="an answer that is no JSON"),
    ],
)
async def test_a_write_without_a_clear_answer_is_unknown_and_not_repeated(
    hub: Hub, trouble: httpx.Response | Exception
) -> None:
    route = hub.router.post(COMMENTS).mock(side_effect=[trouble])
    with pytest.raises(Unknown):
        await hub.ports.issues.comment(REPO, 1, "Hello")
    assert route.call_count == 1


async def test_a_merge_that_answers_500_is_unknown(hub: Hub) -> None:
    route = hub.router.put("/repos/octo/app/pulls/1/merge").respond(500, json={"message": "Server Error"})
    with pytest.raises(Unknown):
        await hub.ports.pulls.merge(REPO, 1, "a" * 40, "T")
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("trouble", "seconds"),
    [
        pytest.param(httpx.Response(500), 15.0, id="500"),
        pytest.param(httpx.Response(503, headers={"retry-after": "40"}), 40.0, id="503 that says how long"),
        pytest.param(httpx.Response(503, headers={"retry-after": "soon"}), 60.0, id="503 that says it unreadably"),
        pytest.param(httpx.ReadTimeout("slow"), 15.0, id="time-out"),
        pytest.param(httpx.ConnectError("refused"), 15.0, id="nobody listens"),
    ],
)
async def test_a_read_is_tried_thrice_and_then_later(
    hub: Hub, trouble: httpx.Response | Exception, seconds: float
) -> None:
    route = hub.router.get("/repos/octo/app/issues/1").mock(side_effect=[trouble] * 3)
    with pytest.raises(Later) as raised:
        await hub.ports.issues.get(REPO, 1)
    assert (raised.value.seconds, route.call_count) == (seconds, 3)
    assert hub.time.pauses == [0.5, 1.5]


async def test_a_read_that_fails_once_is_answered(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/issues/1").mock(side_effect=[httpx.ReadError("x"), httpx.Response(200, json=ISSUE)])
    assert (await hub.ports.issues.get(REPO, 1)).title == "T"


@pytest.mark.parametrize(
    "trouble", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")]
)
async def test_a_write_that_never_left_is_repeated(hub: Hub, trouble: Exception) -> None:
    hub.router.post(COMMENTS).mock(side_effect=[trouble, httpx.Response(201, json={"id": 5})])
    assert await hub.ports.issues.comment(REPO, 1, "Hello") == 5


async def test_a_write_that_can_never_leave_is_later(hub: Hub) -> None:
    hub.router.post(COMMENTS).mock(side_effect=[httpx.ConnectError("refused")] * 3)
    with pytest.raises(Later):
        await hub.ports.issues.comment(REPO, 1, "Hello")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(httpx.Response(200, text="<html>"), id="no JSON"),
        pytest.param(httpx.Response(200, json=[]), id="a list"),
        pytest.param(httpx.Response(200, json={"number": "x"}), id="no number"),
        pytest.param(httpx.Response(200, content=b"\xff\xfe"), id="bytes"),
    ],
)
async def test_a_read_that_cannot_be_understood_is_later(hub: Hub, wrong: httpx.Response) -> None:
    hub.router.get("/repos/octo/app/issues/1").mock(side_effect=[wrong])
    with pytest.raises(Later, match="cannot be read"):
        await hub.ports.issues.get(REPO, 1)


# --- Rate limits


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        pytest.param(httpx.Response(429), 60.0, id="bare 429"),
        pytest.param(httpx.Response(403, headers={"retry-after": "soon"}, json={"message": ""}), 60.0, id="unreadable"),
        pytest.param(httpx.Response(429, headers={"retry-after": "1.5"}), 2.0, id="a fraction is rounded up"),
        pytest.param(
            httpx.Response(403, json={"message": "You have exceeded a secondary rate limit"}), 60.0, id="secondary"
        ),
        pytest.param(
            httpx.Response(403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(START) + 90)}),
            90.0,
            id="primary",
        ),
        pytest.param(
            httpx.Response(403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1e99"}, json={}),
            60.0,
            id="primary, reset unreadable",
        ),
    ],
)
async def test_a_limit_holds_back_the_whole_installation(hub: Hub, answer: httpx.Response, seconds: float) -> None:
    hub.router.post(COMMENTS).mock(side_effect=[answer])
    read = hub.router.get("/repos/octo/app/issues/1").respond(200, json=ISSUE)
    with pytest.raises(Later) as raised:
        await hub.ports.issues.comment(REPO, 1, "Hello")
    assert raised.value.seconds == seconds
    with pytest.raises(Later):
        await hub.ports.issues.get(REPO, 1)
    with pytest.raises(Later):
        await hub.ports.client.token(REPO)
    assert read.call_count == 0
    await hub.time.sleep(seconds)
    assert (await hub.ports.issues.get(REPO, 1)).number == 1


async def test_writes_keep_a_second_between_them(hub: Hub) -> None:
    hub.router.post(COMMENTS).respond(201, json={"id": 5})
    await asyncio.gather(*(hub.ports.issues.comment(REPO, 1, str(n)) for n in range(4)))
    assert sum(hub.time.pauses) >= 3.0


async def test_at_most_eight_requests_at_a_time(hub: Hub) -> None:
    going = most = 0

    async def slow(request: httpx.Request) -> httpx.Response:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await asyncio.sleep(0.005)
        going -= 1
        return httpx.Response(200, json=ISSUE)

    hub.router.get("/repos/octo/app/issues/1").mock(side_effect=slow)
    await asyncio.gather(*(hub.ports.issues.get(REPO, 1) for _ in range(20)))
    assert most == 8


async def test_every_403_logs_the_permissions_that_would_do(hub: Hub) -> None:
    headers = {"x-accepted-github-permissions": "issues=write"}
    hub.router.post(COMMENTS).respond(403, json={"message": "Must have admin rights"}, headers=headers)
    with structlog.testing.capture_logs() as logs, pytest.raises(Refused):
        await hub.ports.issues.comment(REPO, 1, "Hello")
    assert [entry["accepted_permissions"] for entry in logs if entry["event"] == "github_forbidden"] == ["issues=write"]


# --- Redirects and pages


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_moved_repository_is_followed(hub: Hub, status: int) -> None:
    hub.router.post(COMMENTS).respond(status, headers={"location": f"{API}/repositories/42/issues/1/comments"})
    moved = hub.router.post("/repositories/42/issues/1/comments").respond(201, json={"id": 5})
    assert await hub.ports.issues.comment(REPO, 1, "Hello") == 5
    assert moved.calls[0].request.content == b'{"body":"Hello"}'


@pytest.mark.parametrize(
    ("location", "error"),
    [
        pytest.param("https://evil.org/repos/octo/app/issues/1", Refused, id="another host"),
        pytest.param("http://api.github.com/repos/octo/app/issues/1", Refused, id="clear text"),
        pytest.param("https://api.github.com:8443/repos/octo/app/issues/1", Refused, id="another port"),
        pytest.param("//evil.org/x", Refused, id="another host, no scheme"),
        pytest.param("/repositories/43/issues/1", Missing, id="another repository"),
        pytest.param("/repositories/42x/issues/1", Missing, id="no number"),
        pytest.param("/repos/octo/app/issues/1", Refused, id="itself"),
        pytest.param("", Refused, id="nowhere"),
    ],
)
async def test_redirects_that_are_not_followed(hub: Hub, location: str, error: type[GitHubError]) -> None:
    hub.router.get("/repos/octo/app/issues/1").respond(301, headers={"location": location})
    with pytest.raises(error):
        await hub.ports.issues.get(REPO, 1)
    assert {call.request.url.host for call in hub.router.calls} == {"api.github.com"}


def comment(number: int) -> dict[str, object]:
    return {"id": number, "body": str(number), "created_at": "2026-01-01T00:00:00Z"}


def page(url: str, *numbers: int) -> httpx.Response:
    link = {"link": f'<{url}>; rel="next", <{url}>; rel="last"'}
    return httpx.Response(200, json=[comment(n) for n in numbers], headers=link if url else {})


async def test_pages_are_followed_by_their_links(hub: Hub) -> None:
    first = hub.router.get(COMMENTS).mock(side_effect=[page(f"{API}/repositories/42/issues/1/comments?after=xyz", 1)])
    second = hub.router.get("/repositories/42/issues/1/comments").mock(side_effect=[page("", 2)])
    assert [c.id for c in await hub.ports.issues.comments(REPO, 1)] == [1, 2]
    assert dict(first.calls[0].request.url.params) == {"per_page": "100"}
    assert dict(second.calls[0].request.url.params) == {"after": "xyz"}


@pytest.mark.parametrize(
    ("following", "error"),
    [
        pytest.param(f"{API}{COMMENTS}?page=2", Refused, id="a circle"),
        pytest.param("https://evil.org/comments?page=2", Refused, id="another host"),
        pytest.param(f"{API}/repositories/43/issues/1/comments?page=2", Missing, id="another repository"),
    ],
)
async def test_pages_that_lead_astray(hub: Hub, following: str, error: type[GitHubError]) -> None:
    route = hub.router.get(COMMENTS).mock(side_effect=lambda request: page(following, 1))
    with pytest.raises(error):
        await hub.ports.issues.comments(REPO, 1)
    assert route.call_count <= 2


async def test_pages_without_end_are_bounded(hub: Hub) -> None:
    route = hub.router.get(COMMENTS)
    route.mock(side_effect=lambda request: page(f"{API}{COMMENTS}?page={route.call_count + 2}", 1))
    with pytest.raises(Refused, match="more than 100 pages"):
        await hub.ports.issues.comments(REPO, 1)
    assert route.call_count == 100


async def test_half_a_list_is_no_list(hub: Hub) -> None:
    following = f"{API}{COMMENTS}?page=2"
    hub.router.get(COMMENTS).mock(side_effect=[page(following, 1), *[httpx.Response(502)] * 3])
    with pytest.raises(Later):
        await hub.ports.issues.comments(REPO, 1)


@pytest.mark.parametrize("name", ["octo/../evil", "octo/./app", "/app", "octo/"])
async def test_names_that_would_lead_elsewhere_are_not_sent(hub: Hub, name: str) -> None:
    with pytest.raises(Refused):
        await hub.ports.issues.get(REPO.model_copy(update={"full_name": name}), 1)
    assert not hub.router.calls


async def test_odd_characters_are_encoded(hub: Hub) -> None:
    route = hub.router.get(url__regex=r".*/git/ref/heads/a%3Fb%23c%25d$").respond(404, json={})
    assert await hub.ports.repository.branch(REPO, "a?b#c%d") is None
    assert route.call_count == 1


async def test_the_api_version_is_named_everywhere(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/issues/1").respond(200, json=ISSUE)
    await hub.ports.issues.get(REPO, 1)
    assert {call.request.headers["x-github-api-version"] for call in hub.router.calls} == {"2026-03-10"}


async def test_a_bug_is_not_dressed_up_as_a_network_error(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/issues/1").mock(side_effect=KeyError("a bug"))
    with pytest.raises(KeyError):
        await hub.ports.issues.get(REPO, 1)
