"""People: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

import pytest

from handlers.events import Actor
from tests.contracts.github.stage import Stage
from tests.fakes.github_world import Level

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEVELS: tuple[Level, ...] = ("none", "read", "triage", "write", "maintain", "admin")


@pytest.mark.parametrize("level", LEVELS)
async def test_standing_is_the_live_permission(stage: Stage, level: Level) -> None:
    bob = await stage.person("bob", level)
    standing = await stage.ports.people.standing(stage.repo, bob)
    assert (standing.permission, standing.user) == (level, bob)


async def test_standing_goes_by_id_not_by_login(stage: Stage) -> None:
    bob = await stage.person("bob", "admin")
    await stage.rename(bob, "robert")
    impostor = await stage.person("bob", "none")
    assert (await stage.ports.people.standing(stage.repo, impostor)).permission == "none"
    standing = await stage.ports.people.standing(stage.repo, bob)
    assert (standing.permission, standing.user.login) == ("admin", "robert")


@pytest.mark.parametrize("number", [0, 88_888_888])
async def test_nobody_knows_them(stage: Stage, number: int) -> None:
    standing = await stage.ports.people.standing(stage.repo, Actor(id=number, login="ada"))
    assert standing.permission == "none"


async def test_the_bot_is_no_person(stage: Stage) -> None:
    bot = await stage.ports.people.bot()
    assert (bot.login, bot.type) == ("seconder[bot]", "Bot")
    assert not (await stage.ports.people.standing(stage.repo, bot)).at_least("read")


async def test_everyone_with_write(stage: Stage) -> None:
    levels: tuple[tuple[str, Level], ...] = (("cleo", "admin"), ("bob", "maintain"), ("dan", "triage"), ("eve", "read"))
    for login, level in levels:
        await stage.person(login, level)
    found = await stage.ports.people.with_write(stage.repo)
    assert [(s.user.login, s.permission) for s in found if s.user.login != "octo"] == [
        ("ada", "write"),
        ("bob", "maintain"),
        ("cleo", "admin"),
    ]
