"""Who is let in: App JWTs, installation tokens and their scopes, people's roles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.infra.local_github.scene import Scene

Claims = Callable[[int], dict[str, Any]]
OTHER_KEY = rsa.generate_private_key(65537, 2048)


def claims(scene: Scene, begin: int = -60, end: int = 540, **more: Any) -> dict[str, Any]:
    now = int(scene.clock().timestamp())
    return {"iat": now + begin, "exp": now + end, "iss": str(scene.app.id), **more}


async def get(scene: Scene, path: str, token: str, method: str = "GET", **more: Any) -> httpx.Response:
    async with scene.http() as client:
        return await client.request(method, path, headers={"Authorization": f"Bearer {token}"}, **more)


@pytest.mark.parametrize(
    ("times", "status", "said"),
    [
        pytest.param((-60, 540), 200, "", id="good"),
        pytest.param((0, 600), 200, "", id="exactly ten minutes"),
        pytest.param((-60, 0), 401, "'exp'", id="expires now"),
        pytest.param((-900, -300), 401, "'exp'", id="expired"),
        pytest.param((0, 601), 401, "too far in the future", id="eleven minutes"),
        pytest.param((30, 540), 401, "'iat'", id="issued in the future"),
    ],
)
async def test_app_jwt_times(scene: Scene, times: tuple[int, int], status: int, said: str) -> None:
    token = jwt.encode(claims(scene, *times), scene.app.private_key_pem, "RS256")
    reply = await get(scene, "/app", token)
    assert reply.status_code == status
    assert said in reply.json().get("message", "")


async def test_app_jwt_takes_client_id_and_number(scene: Scene) -> None:
    for issuer in (scene.app.client_id, str(scene.app.id)):
        token = jwt.encode(claims(scene, iss=issuer), scene.app.private_key_pem, "RS256")
        assert (await get(scene, "/app", token)).json()["id"] == scene.app.id


async def test_forged_jwts_are_refused(scene: Scene) -> None:
    good = jwt.encode(claims(scene), scene.app.private_key_pem, "RS256")
    head, body, signature = good.split(".")
    forged = {
        "another key": jwt.encode(claims(scene), OTHER_KEY, "RS256"),
        "symmetric": jwt.encode(claims(scene), "x" * 64, "HS256"),
        "another algorithm": jwt.encode(claims(scene), scene.app.private_key_pem, "RS384"),
        "unsigned": jwt.encode(claims(scene), "", "none"),
        "no signature": f"{head}.{body}.",
        "cut": f"{head}.{body}.{signature[:-8]}",
        "junk": "a.b.c",
        "unknown App": jwt.encode(claims(scene, iss="999"), scene.app.private_key_pem, "RS256"),
    }
    got = {name: (await get(scene, "/app", token)).status_code for name, token in forged.items()}
    assert got == {**dict.fromkeys(forged, 401), "unknown App": 404}


async def test_a_jwt_opens_no_repository_and_a_token_no_app(scene: Scene) -> None:
    token = jwt.encode(claims(scene), scene.app.private_key_pem, "RS256")
    assert (await get(scene, "/repos/acme/shop", token)).status_code == 403
    assert (await get(scene, "/app", await scene.token())).status_code == 401


SCOPES = [
    pytest.param({"issues": "read"}, "GET", "/issues", 200, "", id="issues:read reads issues"),
    pytest.param({"issues": "read"}, "POST", "/issues", 403, "issues=write", id="issues:read files none"),
    pytest.param({"issues": "write"}, "POST", "/issues", 201, "", id="issues:write files one"),
    pytest.param({"issues": "write"}, "GET", "/pulls", 403, "pull_requests=read", id="issues:write sees no pulls"),
    pytest.param({"contents": "read"}, "GET", "/git/ref/heads/main", 200, "", id="contents:read reads refs"),
    pytest.param({"contents": "read"}, "POST", "/git/refs", 403, "contents=write", id="contents:read writes none"),
    pytest.param({"checks": "read"}, "POST", "/check-runs", 403, "checks=write", id="checks:read makes none"),
    pytest.param({"pull_requests": "write"}, "PUT", "/pulls/1/merge", 403, "contents=write", id="merge needs contents"),
    pytest.param({"metadata": "read"}, "GET", "/collaborators/ada/permission", 200, "", id="roles need metadata"),
]


@pytest.mark.parametrize(("permissions", "method", "path", "status", "accepted"), SCOPES)
async def test_token_permissions_are_enforced(
    scene: Scene, permissions: dict[str, str], method: str, path: str, status: int, accepted: str
) -> None:
    token = await scene.token(permissions=permissions)
    body = {"title": "t"} if method != "GET" else None
    reply = await get(scene, f"/repos/acme/shop{path}", token, method, json=body)
    assert reply.status_code == status
    assert reply.headers.get("x-accepted-github-permissions", "") == accepted
    if status == 403:
        assert reply.json()["message"] == "Resource not accessible by integration"


async def test_a_token_reaches_its_repositories_only(scene: Scene) -> None:
    other = await scene.gh.world.add_repo("acme/other", private=False)
    assert (await get(scene, "/repos/acme/other", await scene.token())).status_code == 404
    scene.installation.repository_ids.append(other.id)
    whole, narrow = await scene.token(), await scene.token(repository_ids=[other.id])
    assert (await get(scene, "/repos/acme/other", whole)).status_code == 200
    assert (await get(scene, "/repos/acme/other", narrow)).status_code == 200
    assert (await get(scene, "/repos/acme/shop", narrow)).status_code == 404


@pytest.mark.parametrize(
    "scope",
    [
        pytest.param({"permissions": {"issues": "admin"}}, id="more than granted"),
        pytest.param({"permissions": {"secrets": "read"}}, id="not granted at all"),
        pytest.param({"repository_ids": [1]}, id="a repository that is not installed"),
        pytest.param({"repositories": ["nowhere"]}, id="an unknown name"),
    ],
)
async def test_tokens_beyond_the_installation_are_refused(scene: Scene, scope: dict[str, object]) -> None:
    token = jwt.encode(claims(scene), scene.app.private_key_pem, "RS256")
    path = f"/app/installations/{scene.installation.id}/access_tokens"
    assert (await get(scene, path, token, "POST", json=scope)).status_code == 422


async def test_tokens_end(scene: Scene) -> None:
    first, second = await scene.token(), await scene.token()
    assert (await get(scene, "/installation/token", first, "DELETE")).status_code == 204
    assert (await get(scene, "/repos/acme/shop", first)).status_code == 401
    scene.clock.forward(minutes=59)
    assert (await get(scene, "/repos/acme/shop", second)).status_code == 200
    scene.clock.forward(minutes=2)
    reply = await get(scene, "/repos/acme/shop", second)
    assert (reply.status_code, reply.json()["message"]) == (401, "Bad credentials")


async def test_a_suspended_installation_is_told_so(scene: Scene) -> None:
    token = await scene.token()
    scene.installation.suspended_at = scene.clock()
    reply = await get(scene, "/repos/acme/shop", token)
    assert (reply.status_code, "suspended" in reply.json()["message"]) == (403, True)


@pytest.mark.parametrize(
    ("login", "method", "path", "status"),
    [
        pytest.param("", "GET", "", 404, id="nobody sees a private repository"),
        pytest.param("eve", "GET", "", 404, id="an outsider sees nothing"),
        pytest.param("eve", "POST", "/issues", 404, id="an outsider files nothing"),
        pytest.param("bob", "GET", "", 200, id="a writer sees it"),
        pytest.param("bob", "PUT", "/branches/main/protection", 403, id="a writer sets no rules"),
        pytest.param("ada", "PUT", "/branches/main/protection", 422, id="an admin must say which rules"),
        pytest.param("ada", "POST", "/check-runs", 403, id="people make no check runs"),
        pytest.param("ada", "GET", "/nothing", 404, id="an unknown address"),
        pytest.param("ada", "GET", "/", 404, id="a trailing slash"),
    ],
)
async def test_people(scene: Scene, login: str, method: str, path: str, status: int) -> None:
    async with scene.http(login) as client:
        reply = await client.request(
            method, f"/repos/acme/shop{path}", json={"title": "t"} if method != "GET" else None
        )
    assert reply.status_code == status


@pytest.mark.parametrize(
    ("role", "permission"),
    [
        pytest.param("admin", "admin", id="admin"),
        pytest.param("maintain", "write", id="maintain counts as write"),
        pytest.param("write", "write", id="write"),
        pytest.param("triage", "read", id="triage counts as read"),
        pytest.param("read", "read", id="read"),
        pytest.param(None, "none", id="outsider"),
    ],
)
async def test_permission_names(scene: Scene, role: Any, permission: str) -> None:
    scene.gh.world.collaborate("acme/shop", "eve", role)
    async with scene.http("ada") as client:
        shown = (await client.get("/repos/acme/shop/collaborators/EVE/permission")).json()
        missing = await client.get("/repos/acme/shop/collaborators/nobody/permission")
    eve = scene.gh.world.user("eve")
    assert eve is not None
    assert (shown["permission"], shown["role_name"], shown["user"]["id"]) == (permission, role or "none", eve.id)
    assert missing.status_code == 404
