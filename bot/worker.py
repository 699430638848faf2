"""The worker process: routes the bus's events, runs what is due, and sweeps for what nobody was told of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from handlers.context import Context
from handlers.ending import end
from handlers.events import Event
from handlers.ports import Bus, Later, Unknown
from handlers.router import GROUP, Poison, route

log = structlog.get_logger("seconder.worker")

BATCH = 20
BLOCK_MS = 1_000
TRIES = 6
TRIM_EVERY_S = 60.0
KEEP_EVERY_S = 2.5
LONGEST_PAUSE_S = 30.0
SHORTEST_PAUSE_S = 0.2
STORE_PAUSE_S = 5.0
CALM_S = 30.0
"""A loop that ran for so long was well: its next pause is short again."""


@dataclass(frozen=True)
class Engine:
    """What runs wake-ups (`run` until cancelled), what the store's errors are called, and what else is to be kept up:
    loops by name, each for ever."""

    run: Callable[[], Awaitable[None]]
    trim: Callable[[], Awaitable[int]]
    unavailable: tuple[type[Exception], ...]
    upkeep: Mapping[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pace:
    """How often is looked, in seconds; `name` is this worker's stable name."""

    name: str
    sweep_s: float = 1.0


async def work(context: Context, bus: Bus, engine: Engine, pace: Pace) -> None:
    """Run the worker until cancelled, or until one of its loops fails for good."""
    loops: dict[str, Callable[[], Awaitable[None]]] = {
        "engine": engine.run,
        "router": _Router(context, bus, pace.name, engine.unavailable).run,
        "keeper": lambda: _keep(bus, pace.name),
        "sweeper": lambda: _sweep(context, pace.sweep_s),
        "trimmer": lambda: _trim(engine),
        **engine.upkeep,
    }
    tasks = [asyncio.create_task(_patiently(name, loop, engine.unavailable)) for name, loop in loops.items()]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await end(*tasks)


async def _patiently(name: str, loop: Callable[[], Awaitable[None]], unavailable: tuple[type[Exception], ...]) -> None:
    """Run a loop for ever; while the store cannot be reached, wait and begin again."""
    pause = SHORTEST_PAUSE_S
    while True:
        began = time.monotonic()
        try:
            await loop()
        except unavailable as error:
            if time.monotonic() - began > CALM_S:
                pause = SHORTEST_PAUSE_S
            log.warning("store_unavailable", loop=name, why=str(error)[:200], again_in_s=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, STORE_PAUSE_S)


async def _keep(bus: Bus, name: str) -> None:
    """An event may take long to handle; without a sign of life somebody else would take it for orphaned."""
    while True:
        await asyncio.sleep(KEEP_EVERY_S)
        await bus.keep(GROUP, name)


async def _sweep(context: Context, every_s: float) -> None:
    while True:
        await context.wake.wake(await context.store.tasks.due(200))
        await asyncio.sleep(every_s)


async def _trim(engine: Engine) -> None:
    while True:
        await asyncio.sleep(TRIM_EVERY_S)
        await engine.trim()


@dataclass(frozen=True)
class _Router:
    """Handles the bus's events one after the other. `unavailable` is what the store's errors are called."""

    context: Context
    bus: Bus
    name: str
    unavailable: tuple[type[Exception], ...]

    async def run(self) -> None:
        """Handle events for ever. Raises what is `unavailable`."""
        while True:
            for stream_id, event in await self.bus.read(GROUP, self.name, BATCH, BLOCK_MS):
                await self._one(stream_id, event)

    async def _one(self, stream_id: str, event: Event) -> None:
        """Handle an event until it is done, or put it aside after some tries: one bad event holds nobody up for
        long, and never ends the process, which would only meet it again."""
        for number in range(1, TRIES + 1):
            try:
                await route(self.context, event)
            except Poison as error:
                await self._park(stream_id, event, str(error))
                return
            except (Later, Unknown) as error:
                pause = error.seconds if isinstance(error, Later) else 2.0**number / 4
                why = str(error)
            except self.unavailable:
                raise
            except Exception as error:  # the edge of a handler: what was not foreseen is tried again, then put aside
                log.exception("event_crashed", name=event.name, id=event.id)
                pause, why = 2.0**number / 10, f"unexpected {type(error).__name__}: {error}"
            else:
                await self.bus.ack(GROUP, [stream_id])
                return
            if number < TRIES:
                log.info("event_again", name=event.name, id=event.id, why=why[:200], again_in_s=pause)
                await asyncio.sleep(min(pause, LONGEST_PAUSE_S))
        await self._park(stream_id, event, f"gave up after {TRIES} tries: {why}")

    async def _park(self, stream_id: str, event: Event, reason: str) -> None:
        log.error("event_parked", name=event.name, id=event.id, why=reason)
        await self.bus.park(GROUP, stream_id, event, reason)
