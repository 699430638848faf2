"""What a step costs: on the real store with fsync on every write, alone, in a long run, eight at once, through the
queue; and beside LangGraph with its AsyncSqlite saver on the same ring of five nodes, in turns."""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bot.logs import configure
from bot.wiring import start_embedded
from infra.store.connection import PREFIX
from infra.store.embedded import EmbeddedServer
from tests.bench.ring import Ring, ring

ROUNDS = 3
STEPS = 100
LONG = 510
AT_ONCE = 8
VENV = Path("build/bench-venv")
PINS = Path(__file__).with_name("requirements-langgraph.txt")


def measure() -> dict[str, float]:
    """The figures; those of the peer are left out, and it is said, where the peer cannot be installed."""
    configure(level=logging.CRITICAL)
    peer = _peer()
    with tempfile.TemporaryDirectory(prefix="seconder-bench-") as folder:
        server = start_embedded(Path(folder), leashed=True)
        try:
            rounds = []
            for _ in range(ROUNDS):
                alone = asyncio.run(_alone(server))
                beside = _beside(alone, peer, Path(folder)) if peer is not None else {}
                rounds.append({**alone, **asyncio.run(_more(server)), **beside})
        finally:
            server.stop()
    return {name: round(statistics.median(one[name] for one in rounds), 3) for name in rounds[0]}


def _beside(ours: dict[str, float], peer: Path, folder: Path) -> dict[str, float]:
    """Ours by theirs, measured one right after the other: below 1, a step costs less here. `step` is from claim to
    commit, `advance` the whole step with what follows decided and made due."""
    theirs = _theirs(peer, folder)
    return {
        "langgraph_step_ms": theirs["sync"],
        "langgraph_async_step_ms": theirs["async"],
        "step_ratio_vs_langgraph": ours["step_ms"] / theirs["sync"],
        "advance_ratio_vs_langgraph": ours["advance_ms"] / theirs["sync"],
    }


async def _more(server: EmbeddedServer) -> dict[str, float]:
    """A long run, eight runs at once, and one through the queue."""
    async with ring(server) as one:
        long = await _long(one)
        rate = await _at_once(one)
    async with ring(server, PREFIX) as one:  # the queue has one name in a store
        await one.store.client.flushall()
        path = await one.race(await one.start(), 60)
    return {**long, "steps_per_s": rate, "path_ms": statistics.median(path[10:])}


async def _alone(server: EmbeddedServer) -> dict[str, float]:
    """One run, step by step: from claim to commit, and on to the next step's being due."""
    async with ring(server) as one:
        run = await one.start()
        await one.go(run, 0, 10)
        one.tasks.took.clear()
        whole = await one.go(run, 10, 10 + STEPS)
        return {"step_ms": statistics.median(one.tasks.took), "advance_ms": statistics.median(whole)}


async def _long(one: Ring) -> dict[str, float]:
    """What a step costs at the 10th, 100th and 500th: the median of twenty around each, to the next one's being due."""
    times = await one.go(await one.start(), 0, LONG)
    return {f"step_ms_{at}": statistics.median(times[max(0, at - 10) : at + 10]) for at in (10, 100, 500)}


async def _at_once(one: Ring) -> float:
    """Steps a second with eight runs at work in one process."""
    runs = [await one.start() for _ in range(AT_ONCE)]
    await asyncio.gather(*(one.go(run, 0, 5) for run in runs))
    began = time.perf_counter()
    await asyncio.gather(*(one.go(run, 5, 45) for run in runs))
    return AT_ONCE * 40 / (time.perf_counter() - began)


def _peer() -> Path | None:
    """The Python of the peer's environment, made where it is missing; None where it cannot be made."""
    python, mark = VENV / "bin" / "python", VENV / "installed"
    if mark.exists() and mark.read_text() == PINS.read_text():
        return python
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(PINS)],
    )
    for words in steps:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip() or "no reason given").splitlines()[-1]
            print(f"LangGraph could not be installed, so there is no figure beside it: {last}", file=sys.stderr)
            return None
    mark.write_text(PINS.read_text())
    return python


def _theirs(python: Path, folder: Path) -> dict[str, float]:
    """The peer's milliseconds per step, on the same disk."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        script = Path(__file__).with_name("peer.py")
        words = [str(python), str(script), str(Path(place) / "peer.sqlite")]
        answer = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout
    found: dict[str, float] = json.loads(answer)
    return found
