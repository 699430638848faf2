"""A ring of five nodes on the real store, for the step measurement: every step commits two entries and three events.

GitHub, model and work trees are the tests' fakes and are not touched by a step of the ring.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from agents.board import Author, Entry, Report
from handlers.advance import Advancer
from handlers.events import Event
from handlers.intake import start_run
from handlers.ports import Commit, Lease
from handlers.work import Work
from handlers.workflow import Workflow
from infra.jobs.connection import connect as connect_jobs
from infra.jobs.engine import ArqEngine, ArqWake
from infra.store.embedded import EmbeddedServer
from infra.store.tasks import RedisTasks
from tests.fakes.store import RealStore
from tests.fakes.team import Team

EVENTS = ("requirements_ready", "design_ready", "code_updated", "tests_written", "review_approved")
WORDS = "words and words " * 20
NODES = len(EVENTS)
LEASE_S = 30.0


def workflow() -> Workflow:
    """Five nodes, each woken by what the one before it says, each reading the newest report."""
    nodes: dict[str, dict[str, object]] = {
        f"n{number}": {"action": "ring", "on": [EVENTS[number - 1]], "reads": ["report"], "writes": ["report"]}
        for number in range(NODES)
    }
    nodes["n0"] |= {"on": ["run_started", EVENTS[-1]], "reads": ["issue", "report?"]}
    return Workflow.model_validate({"name": "ring", "nodes": nodes})


@dataclass
class TimedTasks:
    """The store's tasks; keeps how long each step took from asking for its claim to its commit, in milliseconds."""

    inner: RedisTasks
    took: list[float] = field(default_factory=list)
    _asked: dict[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def claim(self, task: str, worker: str) -> Lease | None:
        self._asked[task] = time.perf_counter()
        return await self.inner.claim(task, worker)

    async def commit(self, lease: Lease, commit: Commit) -> bool:
        done = await self.inner.commit(lease, commit)
        self.took.append((time.perf_counter() - self._asked.pop(lease.task)) * 1000)
        return done


class Ring:
    """Runs on one store. `began` holds when each step began, on the performance counter, in seconds."""

    def __init__(self, server: EmbeddedServer, prefix: str = "") -> None:
        self.server = server
        self.store = RealStore(server, LEASE_S, prefix)
        self.team = Team(self.store, workflow=workflow())
        self.tasks = TimedTasks(self.store.tasks)
        store = replace(self.team.context.store, tasks=self.tasks)
        self.context = replace(self.team.context, store=store)
        self.began: list[float] = []
        self._advancer = Advancer(self.context, {"action:ring": self._step, "status": _quiet}, "bench")

    async def start(self) -> str:
        """A new run whose first step is due."""
        team = self.team
        issue = team.world.add_issue(team.repo, team.rita, "Round and round", "")
        run = await start_run(self.context, team.repo, issue, team.rita, team.cause())
        assert run is not None
        await self._advancer.advance(f"control:{run}")
        return run

    async def go(self, run: str, first: int, last: int) -> list[float]:
        """Do the steps `first` to `last` - 1 of a run, one after the other, without any queue; milliseconds of each,
        from its claim to the next step's being due."""
        times = []
        for number in range(first, last):
            began = time.perf_counter()
            await self._advancer.advance(f"{run}/n{number % NODES}.{number // NODES + 1}")
            times.append((time.perf_counter() - began) * 1000)
        return times

    async def race(self, run: str, steps: int) -> list[float]:
        """Let a worker's engine do some steps of a run; milliseconds from each step's beginning to the next's."""
        jobs = connect_jobs(self.server.address.url, self.server.address.socket, self.server.address.password)
        context = replace(self.context, wake=ArqWake(jobs))
        advancer = Advancer(context, {"action:ring": self._step, "status": _quiet}, "bench")
        self.began.clear()
        engine = asyncio.create_task(ArqEngine(jobs, advancer.advance, 10, LEASE_S).run())
        try:
            await context.wake.wake(await self.store.tasks.due(50))
            async with asyncio.timeout(60):
                while len(self.began) <= steps:
                    await asyncio.sleep(0.05)
        finally:
            engine.cancel()
            await asyncio.wait({engine})
            await jobs.aclose()
        return [(after - before) * 1000 for before, after in zip(self.began, self.began[1:], strict=False)]

    async def _step(self, work: Work) -> Commit:
        self.began.append(time.perf_counter())
        lease = work.lease
        value = Report(text=WORDS).model_dump(mode="json")
        entries = tuple(
            Entry(
                id=f"report.{lease.node}.{lease.visit}.{number}",
                kind="report",
                value=value,
                author=Author(kind="agent", name=lease.node),
                derived_from=lease.inputs,
            )
            for number in range(2)
        )
        names = (EVENTS[int(lease.node[1:])], "budget_warned", "gate_reminded")
        events = tuple(Event(id=f"{lease.task}:{name}", name=name, run=lease.run) for name in names)
        return Commit("done", entries=entries, events=events)


async def _quiet(work: Work) -> Commit:
    return Commit("parked", retry_in_ms=600_000)


@asynccontextmanager
async def ring(server: EmbeddedServer, prefix: str = "") -> AsyncIterator[Ring]:
    """A ring on a server, on keys of its own where no prefix is given."""
    made = Ring(server, prefix)
    try:
        yield made
    finally:
        await made.store.close()
