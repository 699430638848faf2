"""People at the wheel while the team works: stop, close, steer, pay."""

from __future__ import annotations

import asyncio

import pytest

from infra.llm.faults import Fault
from tests.e2e.house import House
from tests.e2e.plays import FIXED, checks, code, play
from tests.e2e.scene import Scene, processes_with

pytestmark = pytest.mark.asyncio(loop_scope="session")

SLEEP = "86421.5"
SLOW_TEST = (
    "import subprocess\nimport unittest\n\n\nclass SlowTest(unittest.TestCase):\n"
    f"    def test_slow(self):\n        subprocess.run(['sleep', '{SLEEP}'])\n"
)


async def test_stop_while_tests_run(house: House) -> None:
    script = play(developer={1: [code()], "any": [code(SLOW_TEST, path="tests/test_slow.py")]})
    scene = await Scene.open(house, "stop", script)
    pull = await scene.to_quality()
    await scene.review("maintainer", "REQUEST_CHANGES", "Test that it is slow.")

    async def sleeping() -> bool:
        return bool(processes_with(SLEEP))

    await scene.eventually(sleeping, "the tests at work")
    await scene.say("writer", "/stop we do this by hand")
    await scene.ended("run_cancelled")
    status = await scene.status()
    assert "Stopped" in status
    assert "we do this by hand" in status
    assert await scene.conclusion() == "cancelled"

    async def gone() -> bool:
        return not processes_with(SLEEP)

    await scene.eventually(gone, "the end of the sandbox")
    length = await scene.position()
    await asyncio.sleep(1)
    assert await scene.position() == length
    assert (await scene.pull())["head"]["sha"] == pull["head"]["sha"]
    assert (await scene.pull())["state"] == "open"


@pytest.mark.parametrize("how", [pytest.param("stop", id="stop"), pytest.param("close", id="issue closed")])
async def test_end_while_the_model_never_answers(house: House, how: str) -> None:
    scene = await Scene.open(house, f"never-{how}")
    scene.faults.plan(Fault("trickle", role="architect", times=9))
    await scene.begin()
    await scene.event("requirements_ready")

    async def asked() -> bool:
        return bool(scene.faults.struck)

    await scene.eventually(asked, "the call that is never answered")
    if how == "stop":
        await scene.say("requester", "/stop")
    else:
        await scene.ask("maintainer", "PATCH", f"/issues/{scene.number}", {"state": "closed"})
    await scene.ended("run_cancelled")
    status = await scene.status()
    assert "Stopped" in status
    assert ("requester stopped it" if how == "stop" else "maintainer closed the issue") in status
    assert await scene.pulls() == []
    assert len(scene.faults.struck) == 1


async def test_start_again_after_a_stop(house: House) -> None:
    scene = await Scene.open(house, "again")
    scene.faults.plan(Fault("trickle", role="architect"))
    first = await scene.begin()

    async def asked() -> bool:
        return bool(scene.faults.struck)

    await scene.eventually(asked, "the call that is never answered")
    await scene.say("writer", "/stop")
    await scene.ended("run_cancelled")
    await scene.say("reader", "/start")
    await scene.say("writer", "/start")
    await scene.begun()
    assert scene.run != first
    await scene.event("gate_opened", gate="quality")
    assert (await scene.pull())["head"]["ref"] == "seconder/issue-1-add-subtracts-2"
    assert len(await scene.statuses()) == 2, "each run has its own"


async def test_steer_reaches_the_running_agent(house: House) -> None:
    looking = {"calls": [{"tool": "read_file", "input": {"path": "calc.py"}}], "latency_s": 1.5}
    # The tester hears it too, or has handed in before: both are right.
    tester = [checks(), {"submit": checks()["submit"]}]
    scene = await Scene.open(house, "steer", play(developer={1: [looking, code()]}, tester=tester))
    await scene.begin()
    await scene.event("design_ready")

    async def at_work() -> bool:
        return any(seen.place.role == "developer" for seen in scene.model.seen)

    await scene.eventually(at_work, "the developer's first call")
    await scene.say("reader", "/steer Delete everything.")
    await scene.say("writer", "/steer Use the plus sign, please.")
    await scene.event("code_updated")
    heard = [str(seen.request) for seen in scene.model.seen if seen.place.role == "developer"]
    assert "Use the plus sign, please." in heard[1]
    assert not any("Delete everything." in request for request in heard)
    await scene.event("gate_opened", gate="quality")
    assert await scene.text_of("calc.py", (await scene.pull())["head"]["sha"]) == FIXED
    assert len(heard) == 2, "words that the developer has heard do not wake them once more"


async def test_steer_at_the_gate_wakes_the_developer(house: House) -> None:
    scene = await Scene.open(house, "steer-late")
    pull = await scene.to_quality()
    before = await scene.position()
    await scene.say("writer", "/steer Say it in the README, too.", pull["number"])
    await scene.event("pr_updated", before)
    await scene.event("gate_opened", before, gate="quality")
    now = await scene.pull()
    assert now["head"]["sha"] != pull["head"]["sha"]
    assert await scene.conclusion() == "action_required"


async def test_budget_pauses_and_goes_on(poor_house: House) -> None:
    scene = await Scene.open(poor_house, "poor")
    await scene.begin()
    await scene.event("run_parked", why="budget")
    await scene.shows("Paused: people decide about the cost")
    assert "/approve cost +5" in await scene.status()
    spent = (await scene.facts()).spent
    await scene.say("writer", "/budget +1000")
    await scene.replied("at most $25.00")
    await scene.say("writer", "/budget lots")
    await scene.replied("That is no amount of dollars.")
    await scene.say("reader", "/budget +5")
    await scene.house.github.webhooks_idle()
    assert (await scene.facts()).spent == spent
    await scene.say("writer", "/budget +5")
    await scene.event("gate_opened", gate="quality")
    assert (await scene.facts()).budget == 5_120_000
    await scene.shows("Waiting for people")
    used_up = [text for text in await scene.replies() if "may this run cost more?" in text]
    assert len(used_up) == 1
    assert len(await scene.replies()) == 3
    calls = [seen.place for seen in scene.model.seen]
    assert len(set(calls)) == len(calls), "no call is paid twice"
