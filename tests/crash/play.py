"""The run that every row plays: from an issue to a merge, with people who answer at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from infra.llm.script import Script
from tests.crash import outcome
from tests.crash.crew import Crew
from tests.e2e.house import House
from tests.e2e.plays import FIXED, approval, checks, play, write
from tests.e2e.scene import Scene

# The developer writes in one turn and hands in in the next, so that a work tree has to be restored between the two.
WRITES = {"calls": [write("calc.py", FIXED)]}
COVERS = {"submit": {"summary": "add(2, 3) is 5", "covers": ["R1"]}}
HANDS_IN = {"submit": {"summary": "Make add add", "requirement_ids": ["R1"]}}


def script() -> Script:
    """The usual play with a developer of two turns; everybody has more for a person's word in between."""
    return play(developer=[WRITES, *[HANDS_IN] * 4], tester=[checks(), *[COVERS] * 3], reviewer=[approval()] * 4)


@dataclass(frozen=True)
class Ended:
    """What a run left."""

    board: list[Any]
    github: dict[str, Any]
    events: Counter[str]
    bill: outcome.Bill


async def through(scene: Scene) -> None:
    """File the issue, approve, ask for the merge, and wait for the run's end."""
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    await scene.review("maintainer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
    await scene.say("maintainer", "/merge", (await scene.pull())["number"])
    await scene.ended("run_completed")


async def ended(scene: Scene) -> Ended:
    """Look at everything that a finished run left."""
    return Ended(
        await outcome.board(scene),
        await outcome.github(scene),
        await outcome.events(scene),
        await outcome.bill(scene),
    )


async def undisturbed(house: House, crew: Crew) -> Ended:
    """The same run with a worker that nobody kills."""
    scene = await Scene.open(house, "crash-00", script())
    with crew.telling():
        crew.start()
        await through(scene)
    return await ended(scene)
