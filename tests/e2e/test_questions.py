"""The team asks before it begins, or finds that there is nothing to do."""

from __future__ import annotations

import pytest

from tests.e2e.house import House
from tests.e2e.plays import nothing, play, questions, requirements
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    "answer",
    [pytest.param("Floats, please.", id="plain comment"), pytest.param("/steer Floats, please.", id="steer")],
)
async def test_questions_are_answered_by_who_may_write(house: House, answer: str) -> None:
    case = "asks-steer" if answer.startswith("/") else "asks"
    script = play(product_manager={1: [questions("Ints or floats?", "Since when?")], "any": [requirements()]})
    scene = await Scene.open(house, case, script)
    await scene.begin()
    text = await scene.replied("Ints or floats?")
    assert "Since when?" in text
    await scene.shows("Questions first")
    for login in ("reader", "triager"):
        await scene.say(login, "Bananas.")
        await scene.say(login, "/steer Bananas.")
    await house.github.webhooks_idle()
    await scene.say("writer", answer)
    await scene.event("requirements_ready")
    asked = [str(seen.request) for seen in scene.model.seen if seen.place.role == "product_manager"]
    assert len(asked) == 2
    assert "Floats, please." in asked[1]
    assert "Ints or floats?" in asked[1]
    assert not any("Bananas" in request for request in asked)
    await scene.event("gate_opened", gate="quality")
    assert sum("Ints or floats?" in text for text in await scene.replies()) == 1
    assert len(await scene.statuses()) == 1


async def test_nothing_to_do(house: House) -> None:
    scene = await Scene.open(house, "nothing", play(product_manager=[nothing("add has added since version 2.")]))
    await scene.begin()
    await scene.ended("run_declined")
    said = [text for text in await scene.ours() if "add has added since version 2." in text]
    assert 1 <= len(said) <= 2
    assert len(await scene.replies()) == 1
    assert "Nothing to do" in await scene.status()
    assert await scene.pulls() == []
    assert (await scene.ask("reader", "GET", "/issues/1"))["state"] == "open"
