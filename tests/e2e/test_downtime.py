"""Downtime: what happened meanwhile is found in GitHub's own record, or by comparing, and the work goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.house import House, open_house
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOBODY = "http://127.0.0.1:1/webhook"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def watchful_house() -> AsyncIterator[House]:
    """Looks after what was missed every second or two."""
    async with open_house(SECONDER_RECOVERY_MINUTES="0.03", SECONDER_SWEEP_MINUTES="0.03") as opened:
        yield opened


async def unplug(house: House) -> None:
    """Nobody listens where deliveries go."""
    await house.github.webhooks_idle()
    house.github.world.set_webhook("seconder", NOBODY, house.webhook_secret)


async def plug_in(house: House) -> None:
    """The web process is there again."""
    await house.github.webhooks_idle()
    house.github.world.set_webhook("seconder", f"{house.web}/webhook", house.webhook_secret)


async def test_an_issue_filed_while_nobody_listened_is_worked_on(watchful_house: House) -> None:
    house = watchful_house
    scene = await Scene.open(house, "filed-meanwhile")
    await house.stop_workers()
    await unplug(house)
    await scene.file()
    await plug_in(house)
    await house.start_worker()
    await scene.begun()
    await scene.event("gate_opened", gate="quality")
    tries = [d for d in house.github.world.deliveries.values() if d.event == "issues" and d.action == "opened"]
    assert [d.status for d in tries] == ["failed to connect to host", "OK"]
    assert len({d.guid for d in tries}) == 1
    assert len(await scene.pulls()) == 1


async def test_an_issue_closed_without_a_word_ends_its_run(watchful_house: House) -> None:
    """The deliveries are lost for good: they are not in GitHub's record any more."""
    house = watchful_house
    scene = await Scene.open(house, "closed-meanwhile")
    await scene.to_quality()
    await unplug(house)
    await scene.ask("maintainer", "PATCH", f"/issues/{scene.number}", {"state": "closed"})
    await house.github.webhooks_idle()
    house.github.world.deliveries.clear()
    await plug_in(house)
    await scene.ended("run_cancelled")
    assert "the issue was closed" in await scene.status()
    assert await scene.conclusion() == "cancelled"


async def test_a_repository_renamed_without_a_word_is_followed(watchful_house: House) -> None:
    house = watchful_house
    scene = await Scene.open(house, "renamed-meanwhile")
    await scene.to_quality()
    await house.stop_workers()
    made = house.github.world.repo(scene.repo)
    assert made is not None
    made.name = "renamed-since"
    scene.repo = f"acme/{made.name}"

    await house.start_worker()

    async def known() -> bool:
        return (await scene.facts()).repo.full_name == scene.repo

    await scene.eventually(known, "the new name")
    await scene.review("maintainer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
