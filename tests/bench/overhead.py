"""From a filed issue to its pull request with a script that answers at once: what Seconder itself takes."""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

import yaml

from agents.board import Entry
from bot.demo.plays import sample
from bot.local.people import People
from bot.local.stage import Play, Stage, open_stage
from bot.logs import configure
from handlers.ports import LogRecord

RUNS = 3


def measure() -> dict[str, float]:
    """`issue_to_pr_overhead_s`: seconds from the run's first record to `pr_opened`, less the target's own tests."""
    configure(level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="seconder-bench-") as folder:
        play = _quick(sample(), Path(folder))
        taken = [asyncio.run(_once(play)) for _ in range(RUNS)]
    return {"issue_to_pr_overhead_s": round(statistics.median(taken), 3)}


def _quick(play: Play, folder: Path) -> Play:
    """The sample's play with no pause between answers."""
    assert play.script is not None
    script = yaml.safe_load(play.script.read_text())
    script["latency_s"] = 0
    quick = folder / "script.yml"
    quick.write_text(yaml.safe_dump(script))
    return replace(play, script=quick)


async def _once(play: Play) -> float:
    async with open_stage(play, dict(os.environ)) as stage:
        await People(stage).file_issue()
        async with asyncio.timeout(60):
            return await _until_opened(stage)


async def _until_opened(stage: Stage) -> float:
    while not (runs := await stage.hub.runs.recent(1)):
        await asyncio.sleep(0.005)
    began, tests = 0, 0.0
    async for record in stage.hub.runs.follow(runs[0], 0):
        began = began or record.at
        tests += _test_seconds(record)
        if record.type == "event" and record.data["name"] == "pr_opened":
            return (record.at - began) / 1000 - tests
    raise RuntimeError("the log ended before a pull request was opened")


def _test_seconds(record: LogRecord) -> float:
    """Seconds of a test run that stands on the board."""
    if record.type != "entry":
        return 0.0
    entry = Entry.model_validate(record.data)
    return float(str(entry.value["seconds"])) if entry.kind == "test_results" else 0.0
