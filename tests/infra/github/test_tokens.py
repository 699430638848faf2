from __future__ import annotations

import asyncio
import json

import httpx
import jwt
import pytest
import respx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from handlers.ports import GitHubError, Later, Missing, Refused
from infra.github.tokens import AppKey
from tests.infra.github.conftest import APP_ID, REPO, START, Hub, minted

ISSUE = {"number": 1, "title": "T", "body": "B", "state": "open"}
UNKNOWN_TOKEN = httpx.Response(401, json={"message": "Bad credentials"})
NOT_ACCESSIBLE = httpx.Response(403, json={"message": "Resource not accessible by integration"})
GOOD = httpx.Response(200, json=ISSUE)


def issue_route(hub: Hub, *answers: httpx.Response | Exception) -> respx.Route:
    return hub.router.get("/repos/octo/app/issues/1").mock(side_effect=list(answers))


def bearer(call: respx.models.Call) -> str:
    return str(call.request.headers["authorization"])


def test_the_jwt_is_short_and_dated_back(pem: str) -> None:
    claims = jwt.decode(AppKey(APP_ID, pem).jwt(START), options={"verify_signature": False})
    assert claims == {"iss": "7", "iat": START - 60, "exp": START + 540}


def test_a_key_of_an_environment_file_is_understood(pem: str) -> None:
    assert AppKey(APP_ID, "  " + pem.replace("\n", "\\n") + "\n").jwt(START)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="nothing"),
        pytest.param("/path/to/key.pem", id="a path"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", id="cut"),
        pytest.param(
            ec.generate_private_key(ec.SECP256R1())
            .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            .decode(),
            id="another kind of key",
        ),
    ],
)
def test_what_is_no_key(key: str) -> None:
    with pytest.raises(ValueError, match="GITHUB_APP_PRIVATE_KEY"):
        AppKey(APP_ID, key)


async def test_a_token_is_for_one_repository_and_the_least(hub: Hub) -> None:
    issue_route(hub, GOOD)
    await hub.ports.issues.get(REPO, 1)
    body = json.loads(hub.mint.calls[0].request.content)
    assert body["repository_ids"] == [42]
    assert body["permissions"] == {"issues": "read", "pull_requests": "read", "metadata": "read"}
    assert bearer(hub.mint.calls[0]).startswith("Bearer ey")


async def test_a_token_for_git_may_only_read(hub: Hub) -> None:
    assert await hub.ports.client.token(REPO) == "ghs_1"
    assert json.loads(hub.mint.calls[0].request.content)["permissions"] == {"contents": "read", "metadata": "read"}


async def test_many_callers_share_one_mint(hub: Hub) -> None:
    tokens = await asyncio.gather(*(hub.ports.client.token(REPO) for _ in range(10)))
    assert set(tokens) == {"ghs_1"}
    assert hub.mint.call_count == 1


async def test_a_failed_mint_fails_all_who_wait_and_is_not_kept(hub: Hub) -> None:
    hub.mint.mock(side_effect=[httpx.Response(404, json={"message": "Not Found"})])
    found = await asyncio.gather(*(hub.ports.client.token(REPO) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in found] == [Missing] * 3
    hub.mint.mock(side_effect=minted)
    assert await hub.ports.client.token(REPO)


async def test_a_cancelled_caller_leaves_the_token_to_the_others(hub: Hub) -> None:
    first = asyncio.create_task(hub.ports.client.token(REPO))
    second = asyncio.create_task(hub.ports.client.token(REPO))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "ghs_1"
    assert hub.mint.call_count == 1


async def test_a_token_is_renewed_five_minutes_before_it_ends(hub: Hub) -> None:
    await hub.ports.client.token(REPO)
    await hub.time.sleep(54 * 60)
    assert await hub.ports.client.token(REPO) == "ghs_1"
    await hub.time.sleep(2 * 60)
    assert await hub.ports.client.token(REPO) == "ghs_2"


async def test_a_token_is_forgotten_when_permissions_change(hub: Hub) -> None:
    assert await hub.ports.client.token(REPO) == "ghs_1"
    hub.ports.client.forget(9)
    assert await hub.ports.client.token(REPO) == "ghs_2"


async def test_a_token_minted_before_permissions_changed_is_not_kept(hub: Hub) -> None:
    waiting = asyncio.create_task(hub.ports.client.token(REPO))
    await asyncio.sleep(0)
    hub.ports.client.forget(9)
    assert await waiting == "ghs_1"
    assert await hub.ports.client.token(REPO) == "ghs_2"


async def test_a_new_token_that_is_not_known_yet(hub: Hub) -> None:
    route = issue_route(hub, UNKNOWN_TOKEN, UNKNOWN_TOKEN, GOOD)
    assert (await hub.ports.issues.get(REPO, 1)).number == 1
    assert hub.time.pauses == [1.0, 2.0]
    assert {bearer(call) for call in route.calls} == {"token ghs_1"}


async def test_a_new_token_whose_permissions_are_not_known_yet(hub: Hub) -> None:
    issue_route(hub, NOT_ACCESSIBLE, GOOD)
    assert (await hub.ports.issues.get(REPO, 1)).number == 1
    assert hub.time.pauses == [1.0]


async def test_an_old_token_that_is_refused_is_minted_anew_once(hub: Hub) -> None:
    route = issue_route(hub, GOOD, UNKNOWN_TOKEN, GOOD)
    await hub.ports.issues.get(REPO, 1)
    await hub.time.sleep(600)
    await hub.ports.issues.get(REPO, 1)
    assert [bearer(call) for call in route.calls] == ["token ghs_1", "token ghs_1", "token ghs_2"]


@pytest.mark.parametrize("answer", [pytest.param(401, id="401"), pytest.param(403, id="403")])
async def test_what_stays_refused_is_given_up(hub: Hub, answer: int) -> None:
    text = "Bad credentials" if answer == 401 else "Resource not accessible by integration"
    route = hub.router.get("/repos/octo/app/issues/1").respond(answer, json={"message": text})
    with pytest.raises(Refused, match=text):
        await hub.ports.issues.get(REPO, 1)
    assert hub.time.pauses == [1.0, 2.0, 4.0]
    assert route.call_count == 4
    assert hub.mint.call_count == 1


async def test_an_old_token_that_stays_refused_is_given_up(hub: Hub) -> None:
    route = issue_route(hub, GOOD, *[UNKNOWN_TOKEN] * 9)
    await hub.ports.issues.get(REPO, 1)
    await hub.time.sleep(600)
    with pytest.raises(Refused):
        await hub.ports.issues.get(REPO, 1)
    assert hub.mint.call_count == 2
    assert route.call_count == 6


@pytest.mark.parametrize(
    ("status", "message", "date", "error", "said"),
    [
        pytest.param(403, "This installation has been suspended", None, Refused, "suspended", id="suspended"),
        pytest.param(404, "Not Found", None, Missing, "not installed there any more", id="uninstalled"),
        pytest.param(
            422,
            "The permissions requested are not granted to this installation.",
            None,
            Refused,
            "accept the App's new permissions",
            id="not granted",
        ),
        pytest.param(
            401,
            "'Expiration time' claim ('exp') is too far in the future",
            "Fri, 15 Jan 2027 07:58:00 GMT",
            Refused,
            "120 s ahead of GitHub's",
            id="clock ahead",
        ),
        pytest.param(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time",
            "Fri, 15 Jan 2027 08:20:00 GMT",
            Refused,
            "1200 s behind GitHub's",
            id="clock behind",
        ),
        pytest.param(
            401,
            "'Issued at' claim ('iat') must be an Integer",
            "soon",
            Refused,
            "check this machine's clock",
            id="no date",
        ),
        pytest.param(
            401,
            "A JSON web token could not be decoded",
            "Fri, 15 Jan 2027 08:00:00 GMT",
            Refused,
            "belong together",
            id="another App's key",
        ),
        pytest.param(429, "", None, Later, "wait 60 s", id="limited"),
        pytest.param(502, "Server Error", None, Later, "502", id="overloaded"),
    ],
)
async def test_why_there_is_no_token(
    hub: Hub, status: int, message: str, date: str | None, error: type[GitHubError], said: str
) -> None:
    headers = {"date": date} if date else {}
    hub.mint.mock(side_effect=None, return_value=httpx.Response(status, json={"message": message}, headers=headers))
    with pytest.raises(error) as raised:
        await hub.ports.issues.get(REPO, 1)
    assert said in str(raised.value)
    assert "BEGIN" not in str(raised.value)


async def test_one_suspended_installation_leaves_others_alone(hub: Hub) -> None:
    hub.mint.mock(return_value=httpx.Response(403, json={"message": "This installation has been suspended"}))
    other = REPO.model_copy(update={"installation": 10})
    hub.router.post("/app/installations/10/access_tokens").mock(side_effect=minted)
    issue_route(hub, GOOD)
    with pytest.raises(Refused):
        await hub.ports.issues.get(REPO, 1)
    assert (await hub.ports.issues.get(other, 1)).number == 1


async def test_slow_refusals_do_not_mint_for_ever(hub: Hub) -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        hub.time.seconds += 11.0
        return UNKNOWN_TOKEN

    route = hub.router.get("/repos/octo/app/issues/1").mock(side_effect=slow)
    with pytest.raises(Refused):
        await hub.ports.issues.get(REPO, 1)
    assert (route.call_count, hub.mint.call_count) == (2, 2)
