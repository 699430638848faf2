"""The worker process: routes the bus's events, runs what is due, and sweeps for what nobody was told of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from bot.routing import Router
from handlers.context import Context
from handlers.ending import end
from handlers.ports import Bus
from handlers.router import GROUP

log = structlog.get_logger("seconder.worker")

TRIM_EVERY_S = 60.0
KEEP_EVERY_S = 2.5
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
        "router": Router(context, bus, pace.name, engine.unavailable).run,
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
