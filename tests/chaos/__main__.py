"""`make chaos`: many runs in a storm of kills; prints what came of them and writes build/chaos.json."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from bot import wiring
from bot.logs import configure
from infra.local_github import Fault
from tests.chaos.judge import Findings, judge, longest_recovery
from tests.chaos.storm import Plan, Storm
from tests.crash.crew import Crew
from tests.e2e.house import House, open_house
from tests.e2e.plays import play
from tests.e2e.scene import Scene

LONGEST_RECOVERY_S = 15.0
DROPPED = 0.1
PATIENCE_S = 400.0


@dataclass(frozen=True)
class Result:
    """The figures of build/chaos.json."""

    runs: int
    worker_kills: int
    server_kills: int
    freezes: int
    replies_dropped: int
    lost: int
    wrong: int
    duplicated: int
    paid_twice: int
    longest_recovery_s: float
    seconds: float

    @property
    def good(self) -> bool:
        """Whether nothing was lost, wrong, doubled or paid twice, and nobody was missed for long."""
        bad = self.lost or self.wrong or self.duplicated or self.paid_twice
        return not bad and self.longest_recovery_s <= LONGEST_RECOVERY_S


async def storm_over(plan: Plan, seed: int) -> tuple[Result, Findings]:
    """Play all runs while everything goes wrong, and judge them when it is calm again."""
    began = time.monotonic()
    findings = Findings()
    async with open_house(SECONDER_TEST_COMMAND="true") as house:
        await house.stop_workers()
        with tempfile.TemporaryDirectory(prefix="seconder-chaos-") as folder:
            storm = Storm(
                _crew(house, Path(folder), plan), Path(house.env["SECONDER_DATA_DIR"]), plan, random.Random(seed)
            )
            house.github.world.faults.chance.seed(seed)
            scenes = await _play_all(house, storm, findings)
            for scene in scenes:
                await judge(scene, findings)
            recovery = longest_recovery(storm)
            storm.over()
    dropped = sum(seen.startswith("drop_after") for seen in house.github.world.faults.seen)
    result = Result(
        runs=plan.runs,
        worker_kills=len(storm.killed),
        server_kills=storm.server_kills,
        freezes=storm.freezes,
        replies_dropped=dropped,
        lost=len(findings.lost),
        wrong=len(findings.wrong),
        duplicated=len(findings.duplicated),
        paid_twice=len(findings.paid_twice),
        longest_recovery_s=round(recovery, 2),
        seconds=round(time.monotonic() - began, 1),
    )
    return result, findings


def _crew(house: House, folder: Path, plan: Plan) -> Crew:
    """Workers with the settings that everybody has."""
    env = {
        **house.env,
        "REDIS_URL": wiring.url_of(house.hub.address),
        "SECONDER_PUBLIC_URL": house.web,
        "SECONDER_LEASE_S": str(plan.lease_s),
        "SECONDER_SWEEP_S": "1",
        "SECONDER_SETTLE_S": str(plan.settle_s),
        # A delivery that met a dead store is asked for again; five minutes, the default, would be most of a storm.
        "SECONDER_RECOVERY_MINUTES": "0.5",
    }
    return Crew(env, folder)


async def _play_all(house: House, storm: Storm, findings: Findings) -> list[Scene]:
    """All runs, some at once; returns those that came to their end."""
    plan = storm.plan
    scenes = [await _scene(house, number) for number in range(plan.runs)]
    _trouble(house, plan)
    room = asyncio.Semaphore(plan.at_once)
    ended: list[Scene] = []

    async def one(scene: Scene) -> None:
        async with room:
            try:
                await _through(scene)
                ended.append(scene)
            except AssertionError as error:
                findings.lost.append(f"{scene.repo}: {error}")
            storm.finished += 1
            print(f"\r{storm.finished} of {plan.runs} runs, {len(storm.killed)} kills", end="", file=sys.stderr)

    raging = asyncio.create_task(storm.rage())
    try:
        playing = asyncio.create_task(_all(one(scene) for scene in scenes))
        await asyncio.wait({raging, playing}, return_when=asyncio.FIRST_COMPLETED)
        if raging.done():
            raging.result()
        await playing
        house.github.world.faults.planned.clear()
        # Late calls of workers that were frozen are part of what is judged.
        await asyncio.sleep(3)
    finally:
        raging.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await raging
        storm.crew.stop()
    return ended


async def _all(runs: Iterable[Coroutine[None, None, None]]) -> None:
    await asyncio.gather(*runs)


async def _scene(house: House, number: int) -> Scene:
    scene = await Scene.open(house, f"chaos-{number:03}", play())
    scene.patience_s, scene.pause_s = PATIENCE_S, 0.5
    return scene


def _trouble(house: House, plan: Plan) -> None:
    faults = house.github.world.faults
    for method in ("POST", "PATCH", "PUT", "DELETE"):
        faults.plan(Fault("drop_after", method, "*", share=DROPPED, times=None))
    faults.plan(Fault("lag", "GET", "*", seconds=plan.late_s, times=None))


async def _through(scene: Scene) -> None:
    """A maintainer who approves and merges. People's own words are not lost: they would try again."""
    act, base = scene.house.github.act, f"/repos/{scene.repo}"
    filed = await act("requester", "POST", f"{base}/issues", {"title": "add subtracts", "body": "2 + 3 gives -1."})
    scene.number = int(str(filed["number"]))
    await scene.begun()
    await scene.event("gate_opened", gate="quality")
    number = (await scene.facts()).pull
    await act("maintainer", "POST", f"{base}/pulls/{number}/reviews", {"event": "APPROVE"})
    await scene.event("gate_opened", gate="merge")
    await act("maintainer", "POST", f"{base}/issues/{number}/comments", {"body": "/merge"})
    await scene.ended("run_completed")


def main(arguments: Sequence[str]) -> int:
    """Run the storm; 1 when a goal was missed."""
    usual = Plan()
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    for part in fields(Plan):
        flag = "--" + part.name.replace("_", "-")
        parser.add_argument(flag, type=type(getattr(usual, part.name)), default=getattr(usual, part.name))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--out", type=Path, default=Path("build/chaos.json"))
    given = vars(parser.parse_args(arguments))
    out, seed = given.pop("out"), given.pop("seed")
    configure(level=40)
    result, findings = asyncio.run(storm_over(Plan(**given), seed))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({**vars(result), "seed": seed}, indent=2) + "\n")
    print(file=sys.stderr)
    for part in fields(findings):
        for text in getattr(findings, part.name):
            print(f"{part.name}: {text}\n")
    for name, value in vars(result).items():
        print(f"{name:<20} {value:>10,}")
    print(f"seed {seed}; written to {out}; {'all goals met' if result.good else 'GOALS MISSED'}")
    return 0 if result.good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
