"""From a filed issue to its pull request with a script that answers at once: what Seconder itself takes."""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from agents.board import Entry
from bot.demo.plays import sample
from bot.local.people import People
from bot.local.stage import Play, Stage, open_stage
from bot.logs import configure
from tests.bench.prompts import of_board

RUNS = 3


def measure() -> dict[str, float]:
    """`issue_to_pr_overhead_s`: seconds from the run's first record to `pr_opened`, less the target's own tests;
    `orchestration_s_per_run` the same to `pr_ready`, two rounds with their review; and what the roles were shown."""
    configure(level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="seconder-bench-") as folder:
        play = _quick(sample(), Path(folder))
        taken = [asyncio.run(_once(play)) for _ in range(RUNS)]
    return {
        "issue_to_pr_overhead_s": round(statistics.median(one.opened for one in taken), 3),
        "orchestration_s_per_run": round(statistics.median(one.ready for one in taken), 3),
        **of_board(taken[-1].entries),
    }


@dataclass(frozen=True)
class Taken:
    """Seconds until the pull request was there and until it was ready, without tests; and the board by then."""

    opened: float
    ready: float
    entries: tuple[Entry, ...]


def _quick(play: Play, folder: Path) -> Play:
    """The sample's play with no pause between answers."""
    assert play.script is not None
    script = yaml.safe_load(play.script.read_text())
    script["latency_s"] = 0
    quick = folder / "script.yml"
    quick.write_text(yaml.safe_dump(script))
    return replace(play, script=quick)


async def _once(play: Play) -> Taken:
    async with open_stage(play, dict(os.environ)) as stage:
        await People(stage).file_issue()
        async with asyncio.timeout(60):
            return await _until_ready(stage)


async def _until_ready(stage: Stage) -> Taken:
    while not (runs := await stage.hub.runs.recent(1)):
        await asyncio.sleep(0.005)
    began, opened = 0, 0.0
    entries: list[Entry] = []
    async for record in stage.hub.runs.follow(runs[0], 0):
        began = began or record.at
        if record.type == "entry":
            entries.append(Entry.model_validate(record.data))
        name = record.data["name"] if record.type == "event" else ""
        took = (record.at - began) / 1000 - sum(map(_test_seconds, entries))
        if name == "pr_opened":
            opened = took
        if name == "pr_ready":
            return Taken(opened, took, tuple(entries))
    raise RuntimeError("the log ended before a pull request was ready")


def _test_seconds(entry: Entry) -> float:
    """Seconds of a test run that stands on the board."""
    return float(str(entry.value["seconds"])) if entry.kind == "test_results" else 0.0
