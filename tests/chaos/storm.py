"""What goes wrong meanwhile: workers killed and frozen, the store killed and started again on the same data."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bot import wiring
from tests.crash.crew import Crew, Member

if TYPE_CHECKING:
    from infra.store.embedded import EmbeddedServer

LEAST_PAUSE_S = 0.7


@dataclass(frozen=True)
class Plan:
    """How much of everything, over all runs; how long leases and settling last, and how far lists lag, in seconds."""

    runs: int = 150
    worker_kills: int = 105
    server_kills: int = 21
    freezes: int = 8
    workers: int = 3
    at_once: int = 24
    lease_s: float = 8.0
    settle_s: float = 10.0
    late_s: float = 5.0


@dataclass
class Storm:
    """Strikes as often as the share of finished runs asks for, so that every planned blow falls while there is work."""

    crew: Crew
    store: Path
    plan: Plan
    chance: random.Random
    finished: int = 0
    killed: list[tuple[Member, float]] = field(default_factory=list)
    server_kills: int = 0
    freezes: int = 0
    at_work: list[Member] = field(default_factory=list)
    _servers: list[EmbeddedServer] = field(default_factory=list)
    _waking: list[asyncio.Task[None]] = field(default_factory=list)

    async def rage(self) -> None:
        """Keep the planned number of workers at work, and strike, until cancelled."""
        self.at_work = [self.crew.start() for _ in range(self.plan.workers)]
        await asyncio.sleep(3)
        while True:
            await asyncio.sleep(LEAST_PAUSE_S + self.chance.random())
            if self._owed(len(self.killed), self.plan.worker_kills):
                self._kill_a_worker()
            if self._owed(self.server_kills, self.plan.server_kills):
                await self._kill_the_server()
            if self._owed(self.freezes, self.plan.freezes):
                self._freeze_a_worker()

    def _owed(self, done: int, planned: int) -> bool:
        """Whether the next of `planned` blows is due: all have fallen before the last twentieth of the runs ends."""
        return done < planned and done <= planned * self.finished / (0.95 * self.plan.runs)

    def _kill_a_worker(self) -> None:
        place = self.chance.randrange(len(self.at_work))
        victim = self.at_work[place]
        victim.kill()
        self.killed.append((victim, time.monotonic()))
        self.at_work[place] = self.crew.start()

    async def _kill_the_server(self) -> None:
        os.kill(int((self.store / "store" / "valkey.pid").read_text()), signal.SIGKILL)
        self.server_kills += 1
        await asyncio.sleep(self.chance.random())
        self._servers.append(await asyncio.to_thread(wiring.start_embedded, self.store))

    def _freeze_a_worker(self) -> None:
        sleeper = self.chance.choice(self.at_work)
        sleeper.send(signal.SIGSTOP)
        self.freezes += 1
        self._waking.append(asyncio.create_task(_wake(sleeper, self.plan.lease_s * (1.1 + self.chance.random() / 2))))

    def over(self) -> None:
        """Stop everything that was started."""
        for task in self._waking:
            task.cancel()
        self.crew.stop()
        for server in self._servers[-1:]:
            server.stop()


async def _wake(sleeper: Member, seconds: float) -> None:
    await asyncio.sleep(seconds)
    if sleeper.alive:
        sleeper.send(signal.SIGCONT)
