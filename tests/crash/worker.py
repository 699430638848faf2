"""A worker process of the tests: the real context, a diary of what it claims and commits, and perhaps a doom."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from bot import wiring
from bot.settings import load
from bot.worker import Pace, work
from handlers.advance import Advancer
from handlers.ports import Commit, Lease, Tasks
from handlers.steps import steps
from infra.jobs.connection import connect
from infra.jobs.engine import ArqEngine
from tests.crash.doom import Doom, Fate, doomed, doomed_bus


@dataclass(frozen=True)
class Line:
    """A line of a worker's diary; `at` is the machine's monotonic clock in seconds."""

    what: str
    task: str
    at: float


class Diary:
    """What a worker did, written so that it survives the worker."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, what: str, task: str) -> None:
        """Add a line; one write(2), so that a kill leaves whole lines."""
        with self.path.open("ab", buffering=0) as out:
            out.write(f"{what}\t{task}\t{time.monotonic()}\n".encode())

    def lines(self) -> list[Line]:
        """Everything written so far."""
        text = self.path.read_text() if self.path.exists() else ""
        parts = (line.split("\t") for line in text.splitlines())
        return [Line(what, task, float(at)) for what, task, at in parts]

    def held(self, sure: bool = False) -> set[str]:
        """Steps that were claimed and not given back; `sure`: without those whose commit was under way."""
        tasks: set[str] = set()
        for line in self.lines():
            if line.what == "claim":
                tasks.add(line.task)
            elif line.what == ("committing" if sure else "commit"):
                tasks.discard(line.task)
        return tasks


class Recorded:
    """`handlers.ports.Tasks` that keeps a diary."""

    def __init__(self, tasks: Tasks, diary: Diary) -> None:
        self._tasks, self._diary = tasks, diary

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._tasks, verb)

    async def claim(self, task: str, worker: str) -> Lease | None:
        """Claim, and write it down."""
        lease = await self._tasks.claim(task, worker)
        if lease is not None:
            self._diary.write("claim", task)
        return lease

    async def commit(self, lease: Lease, commit: Commit) -> bool:
        """Commit, and write it down before and after: a kill between the two leaves open whether it happened."""
        self._diary.write("committing", lease.task)
        done = await self._tasks.commit(lease, commit)
        self._diary.write("commit", lease.task)
        return done


def main(env: Mapping[str, str], diary: Path, doom: Doom | None) -> None:
    """Work until killed; what is printed goes beside the diary."""
    log = os.open(diary.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    asyncio.run(_work(env, Diary(diary), doom))


def _end_with_the_tests() -> None:
    """Nobody kills the workers of tests that were killed themselves."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


async def _work(env: Mapping[str, str], diary: Diary, doom: Doom | None) -> None:
    settings, name = load(env, "worker"), diary.path.stem
    async with (
        wiring.open_hub(wiring.address_of(settings)) as hub,
        wiring.open_workshop(settings, hub, name=name) as workshop,
    ):
        store = workshop.context.store
        context = replace(workshop.context, store=replace(store, tasks=cast(Tasks, Recorded(store.tasks, diary))))
        bus = cast(Any, hub.bus)
        if doom is not None:
            fate = Fate(doom)
            context, bus = doomed(context, fate), doomed_bus(hub.bus, fate)
        jobs = connect(hub.address.url, hub.address.socket, hub.address.password)
        advance = Advancer(context, steps(), name).advance
        engine = replace(workshop.engine, run=ArqEngine(jobs, advance, wiring.JOBS_AT_ONCE, settings.lease_s).run)
        await work(context, bus, engine, Pace(name, settings.sweep_s))
