from __future__ import annotations

import pytest

from handlers.events import Actor
from handlers.ports import Later, Missing, Refused
from tests.infra.github.conftest import REPO, Hub

ADA = Actor(id=5, login="ada")
USER = {"id": 5, "login": "ada", "type": "User"}
PERMISSION = "/repos/octo/app/collaborators/ada/permission"


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        pytest.param({"permission": "admin", "role_name": "admin", "user": USER}, "admin", id="admin"),
        pytest.param({"permission": "write", "role_name": "maintain", "user": USER}, "maintain", id="maintain"),
        pytest.param({"permission": "write", "role_name": "write", "user": USER}, "write", id="write"),
        pytest.param({"permission": "read", "role_name": "triage", "user": USER}, "triage", id="triage"),
        pytest.param({"permission": "read", "role_name": "read", "user": USER}, "read", id="read"),
        pytest.param({"permission": "none", "role_name": "none", "user": USER}, "none", id="none"),
        pytest.param({"permission": "write", "role_name": "sec-lead", "user": USER}, "write", id="an own role"),
        pytest.param({"permission": "write", "user": USER}, "write", id="no role told"),
        pytest.param({"permission": "read", "role_name": "admin", "user": USER}, "none", id="role over permission"),
        pytest.param({"permission": "admin", "role_name": "read", "user": USER}, "none", id="permission over role"),
        pytest.param({"permission": "owner", "role_name": "owner", "user": USER}, "none", id="unknown words"),
        pytest.param({"permission": "maintain", "role_name": "own", "user": USER}, "none", id="unknown base"),
        pytest.param({"permission": None, "role_name": "admin", "user": USER}, "none", id="no permission"),
        pytest.param({"permission": "ADMIN", "role_name": "ADMIN", "user": USER}, "none", id="upper case"),
        pytest.param({}, "none", id="nothing"),
        pytest.param({"permission": "admin", "role_name": "admin", "user": None}, "none", id="nobody's"),
        pytest.param(
            {"permission": "admin", "role_name": "admin", "user": {**USER, "id": 6}}, "none", id="somebody else's"
        ),
    ],
)
async def test_what_a_permission_amounts_to(hub: Hub, answer: dict[str, object], level: str) -> None:
    hub.router.get("/user/5").respond(200, json=USER)
    hub.router.get(PERMISSION).respond(200, json=answer)
    assert (await hub.ports.people.standing(REPO, ADA)).permission == level


async def test_the_login_of_today_is_asked_about(hub: Hub) -> None:
    now = {"id": 5, "login": "ada-l", "type": "User"}
    hub.router.get("/user/5").respond(200, json=now)
    answer = {"permission": "write", "role_name": "write", "user": now}
    hub.router.get("/repos/octo/app/collaborators/ada-l/permission").respond(200, json=answer)
    standing = await hub.ports.people.standing(REPO, ADA)
    assert (standing.user.login, standing.permission) == ("ada-l", "write")


@pytest.mark.parametrize("kind", ["Bot", "Organization", "Mannequin"])
async def test_who_is_no_person_reaches_nothing(hub: Hub, kind: str) -> None:
    user = {**USER, "type": kind}
    hub.router.get("/user/5").respond(200, json=user)
    hub.router.get(PERMISSION).respond(200, json={"permission": "admin", "role_name": "admin", "user": user})
    assert not (await hub.ports.people.standing(REPO, ADA)).at_least("read")


async def test_another_users_record_is_not_believed(hub: Hub) -> None:
    hub.router.get("/user/5").respond(200, json={**USER, "id": 6})
    assert (await hub.ports.people.standing(REPO, ADA)).permission == "none"


async def test_who_is_gone_or_a_stranger_has_nothing(hub: Hub) -> None:
    hub.router.get("/user/5").respond(404, json={"message": "Not Found"})
    assert (await hub.ports.people.standing(REPO, ADA)).permission == "none"
    hub.router.get("/user/5").respond(200, json=USER)
    hub.router.get(PERMISSION).respond(404, json={"message": "ada is not a user"})
    assert (await hub.ports.people.standing(REPO, ADA)).permission == "none"


async def test_a_ghost_is_not_even_asked_about(hub: Hub) -> None:
    assert (await hub.ports.people.standing(REPO, Actor(id=0, login="ghost"))).permission == "none"
    assert not hub.router.calls


async def test_what_cannot_be_asked_is_an_error_not_an_answer(hub: Hub) -> None:
    hub.router.get("/user/5").respond(200, json=USER)
    hub.router.get(PERMISSION).respond(403, json={"message": "Must have push access"})
    with pytest.raises(Refused):
        await hub.ports.people.standing(REPO, ADA)
    hub.router.get(PERMISSION).respond(502)
    with pytest.raises(Later):
        await hub.ports.people.standing(REPO, ADA)


async def test_those_with_write(hub: Hub) -> None:
    def one(number: int, login: str, kind: str | None = "User", **flags: bool) -> dict[str, object]:
        return {"id": number, "login": login, "type": kind, "permissions": flags, "role_name": "whatever"}

    listed = [
        one(1, "Zoe", admin=True, maintain=True, push=True, triage=True, pull=True),
        one(2, "bob", admin=False, maintain=True, push=True, triage=True, pull=True),
        one(3, "ada", push=True, pull=True),
        one(4, "tri", push=False, triage=True, pull=True),
        one(5, "robot[bot]", "Bot", admin=True, push=True),
        {"id": 6, "login": "null", "type": "User", "permissions": None},
    ]
    hub.router.get("/repos/octo/app/collaborators").respond(200, json=listed)
    found = await hub.ports.people.with_write(REPO)
    assert [(s.user.login, s.permission) for s in found] == [("ada", "write"), ("bob", "maintain"), ("Zoe", "admin")]


async def test_the_bot_is_asked_about_once(hub: Hub) -> None:
    app = hub.router.get("/app").respond(200, json={"id": 7, "slug": "seconder"})
    hub.router.get("/app/installations").respond(200, json=[{"id": 9}])
    hub.router.get("/users/seconder%5Bbot%5D").respond(200, json={"id": 99, "login": "seconder[bot]", "type": "Bot"})
    for _ in range(2):
        assert await hub.ports.people.bot() == Actor(id=99, login="seconder[bot]", type="Bot")
    assert app.call_count == 1


async def test_an_app_that_is_installed_nowhere_has_no_bot(hub: Hub) -> None:
    hub.router.get("/app").respond(200, json={"id": 7, "slug": "seconder"})
    hub.router.get("/app/installations").respond(200, json=[{"id": 9, "suspended_at": "2026-01-01T00:00:00Z"}])
    with pytest.raises(Missing, match="install it"):
        await hub.ports.people.bot()
