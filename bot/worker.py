"""The worker process: routes the bus's events, runs what is due, and sweeps for what nobody was told of."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True)
class Engine:
    """What runs wake-ups (`run` until cancelled) and what the store's errors are called."""

    run: Callable[[], Awaitable[None]]
    trim: Callable[[], Awaitable[int]]
    unavailable: tuple[type[Exception], ...]


@dataclass(frozen=True)
class Pace:
    """How often is looked, in seconds; `name` is this worker's stable name."""

    name: str
    sweep_s: float = 1.0


async def work(context: Context, bus: Bus, engine: Engine, pace: Pace) -> None:
    """Run the worker until cancelled, or until one of its loops fails for good."""
    loops: dict[str, Callable[[], Awaitable[None]]] = {
        "engine": engine.run,
        "router": lambda: _consume(context, bus, pace.name),
        "sweeper": lambda: _sweep(context, pace.sweep_s),
        "trimmer": lambda: _trim(engine),
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
    pause = 0.2
    while True:
        try:
            await loop()
        except unavailable as error:
            log.warning("store_unavailable", loop=name, why=str(error)[:200], again_in_s=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
        else:
            pause = 0.2


async def _sweep(context: Context, every_s: float) -> None:
    while True:
        await context.wake.wake(await context.store.tasks.due(200))
        await asyncio.sleep(every_s)


async def _trim(engine: Engine) -> None:
    while True:
        await asyncio.sleep(TRIM_EVERY_S)
        await engine.trim()


async def _consume(context: Context, bus: Bus, consumer: str) -> None:
    tries: Counter[str] = Counter()
    while True:
        for stream_id, event in await bus.read(GROUP, consumer, BATCH, BLOCK_MS):
            await _one(context, bus, stream_id, event, tries)


async def _one(context: Context, bus: Bus, stream_id: str, event: Event, tries: Counter[str]) -> None:
    """Handle an event until it is done, or put it aside after some tries: one bad event holds nobody up for long."""
    while True:
        tries[stream_id] += 1
        try:
            await route(context, event)
        except Poison as error:
            await _park(bus, stream_id, event, str(error))
        except (Later, Unknown) as error:
            if tries[stream_id] < TRIES:
                pause = error.seconds if isinstance(error, Later) else 2.0 ** tries[stream_id] / 4
                log.info("event_again", event=event.name, id=event.id, why=str(error)[:200], again_in_s=pause)
                await asyncio.sleep(min(pause, LONGEST_PAUSE_S))
                continue
            await _park(bus, stream_id, event, f"gave up after {TRIES} tries: {error}")
        else:
            await bus.ack(GROUP, [stream_id])
        del tries[stream_id]
        return


async def _park(bus: Bus, stream_id: str, event: Event, reason: str) -> None:
    log.error("event_parked", event=event.name, id=event.id, why=reason)
    await bus.park(GROUP, stream_id, event, reason)
