"""The router: handles the bus's events, those of one repository in order, also where several workers were given them;
one that has to wait holds up no other's.

An event that is put off stays unacknowledged in the bus, so that another worker gets it when this one dies. What comes
after it in its lane waits behind it.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import structlog

from handlers.context import Context
from handlers.events import Event
from handlers.ports import Bus, Later, Unknown
from handlers.router import GROUP, HANDLERS, Poison, route

log = structlog.get_logger("seconder.worker")

BATCH = 20
BLOCK_MS = 1_000
TRIES = 6
LONGEST_PAUSE_S = 3600.0
"""GitHub's rate limits are made anew each hour."""
LONGEST_UNASKED_S = 60.0
PATIENCE_S = 2 * 3600.0
ELSEWHERE_S = 0.25
"""How long to wait where another worker has what comes before."""
MOST_HELD = 2_000
"""More events in hand than this, and no more are taken: other workers and the bus have them."""


@dataclass
class Waiting:
    """An event in hand. `stumbles` counts tries that nobody asked to repeat, `waits` those that were put off."""

    stream_id: str
    event: Event
    stumbles: int = 0
    waits: int = 0
    since: float = 0.0


@dataclass
class Lane:
    """The events of one repository, oldest first; the first is tried at `due` (seconds, monotonic)."""

    events: deque[Waiting] = field(default_factory=deque)
    due: float = 0.0


class Lanes:
    """What the router has in hand. Lanes are there as long as something is in them."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._held: set[str] = set()

    @property
    def held(self) -> Collection[str]:
        """The stream ids of all events in hand."""
        return self._held

    def add(self, stream_id: str, event: Event) -> None:
        """Put an event into its lane by its age; one that is in hand already stays where it is.

        What a dead worker left is older than what came since and waits for it: it has to go first.
        """
        if stream_id in self._held:
            return
        self._held.add(stream_id)
        lane = self._lanes.setdefault(lane_of(event), Lane())
        place = bisect_right([_position(other.stream_id) for other in lane.events], _position(stream_id))
        lane.events.insert(place, Waiting(stream_id, event))
        if place == 0:
            lane.due = 0.0

    def next(self) -> Waiting | None:
        """The oldest event that is to be handled now."""
        now = time.monotonic()
        due = (lane.events[0] for lane in self._lanes.values() if lane.due <= now)
        return min(due, key=lambda waiting: _position(waiting.stream_id), default=None)

    def done(self, waiting: Waiting) -> None:
        """The event is no longer in hand; what is behind it may be handled."""
        name = lane_of(waiting.event)
        lane = self._lanes[name]
        lane.events.popleft()
        lane.due = 0.0
        self._held.discard(waiting.stream_id)
        if not lane.events:
            del self._lanes[name]

    def put_off(self, waiting: Waiting, seconds: float) -> None:
        """Let the event, and so its lane, wait."""
        self._lanes[lane_of(waiting.event)].due = time.monotonic() + seconds

    def quiet_ms(self, longest: int) -> int:
        """How long nothing becomes due that is in hand: milliseconds, from 1 to `longest`."""
        first = min((lane.due for lane in self._lanes.values()), default=float("inf"))
        return int(max(1.0, min((first - time.monotonic()) * 1000 + 1, longest)))


def lane_of(event: Event) -> str:
    """What an event is handled in order with: its repository, whose issue and pull request are one run."""
    match event.data:
        case {"repo": {"id": int(number)}}:
            return f"repository {number}"
        case {"installation": int(number)}:
            return f"installation {number}"
        case _:
            return f"run {event.run}"


def _position(stream_id: str) -> tuple[int, int]:
    ms, _, sequence = stream_id.partition("-")
    return int(ms), int(sequence or 0)


@dataclass(frozen=True)
class Router:
    """Handles the bus's events one at a time. `unavailable` is what the store's errors are called; an event that is put
    off again and again is put aside after `patience_s`."""

    context: Context
    bus: Bus
    name: str
    unavailable: tuple[type[Exception], ...]
    patience_s: float = PATIENCE_S

    async def run(self) -> None:
        """Handle events for ever. Raises what is `unavailable`; called again it begins with what it had in hand."""
        lanes = Lanes()
        while True:
            quiet = lanes.quiet_ms(BLOCK_MS)
            if len(lanes.held) < MOST_HELD:
                await self._line_up(lanes, await self.bus.read(GROUP, self.name, BATCH, quiet, lanes.held))
            else:
                await asyncio.sleep(quiet / 1000)
            while (waiting := lanes.next()) is not None:
                await self._one(lanes, waiting)

    async def _line_up(self, lanes: Lanes, given: Sequence[tuple[str, Event]]) -> None:
        """Take events in hand, and let the other workers know before any of them is handled."""
        lined: dict[str, list[str]] = {}
        for stream_id, event in given:
            lanes.add(stream_id, event)
            if event.name in HANDLERS:
                lined.setdefault(lane_of(event), []).append(stream_id)
        for lane, ids in lined.items():
            await self.bus.first(GROUP, lane, ids)

    async def _waits_elsewhere(self, waiting: Waiting) -> bool:
        """Whether another worker has an older event of this lane in hand, and so may have put it off."""
        if waiting.event.name not in HANDLERS:
            return False
        first = await self.bus.first(GROUP, lane_of(waiting.event), [waiting.stream_id])
        return bool(first) and _position(first) < _position(waiting.stream_id)

    async def _one(self, lanes: Lanes, waiting: Waiting) -> None:
        """Handle an event: it is done, put off, or put aside after some tries. One bad event holds nobody else up,
        and never ends the process, which would only meet it again."""
        if await self._waits_elsewhere(waiting):
            lanes.put_off(waiting, ELSEWHERE_S)
            return
        event, waiting.since = waiting.event, waiting.since or time.monotonic()
        try:
            await route(self.context, event)
        except Poison as error:
            await self._park(lanes, waiting, str(error))
        except Later as error:
            waiting.waits += 1
            pause = max(error.seconds, min(2.0**waiting.waits / 100, LONGEST_UNASKED_S))
            waited = time.monotonic() - waiting.since
            await self._again(lanes, waiting, pause, str(error), waited > self.patience_s)
        except self.unavailable:
            raise
        except Unknown as error:
            waiting.stumbles += 1
            await self._again(lanes, waiting, 2.0**waiting.stumbles / 4, str(error), waiting.stumbles >= TRIES)
        except Exception as error:  # the edge of a handler: what was not foreseen is tried again, then put aside
            log.exception("event_crashed", name=event.name, id=event.id)
            waiting.stumbles += 1
            why = f"unexpected {type(error).__name__}: {error}"
            await self._again(lanes, waiting, 2.0**waiting.stumbles / 10, why, waiting.stumbles >= TRIES)
        else:
            await self.bus.ack(GROUP, [waiting.stream_id])
            lanes.done(waiting)

    async def _again(self, lanes: Lanes, waiting: Waiting, pause: float, why: str, given_up: bool) -> None:
        event = waiting.event
        if given_up:
            tries = waiting.stumbles + waiting.waits
            await self._park(lanes, waiting, f"gave up after {tries} tries: {why}")
            return
        pause = min(pause, LONGEST_PAUSE_S)
        lane = lane_of(event)
        log.info("event_again", name=event.name, id=event.id, lane=lane, why=why[:200], again_in_s=round(pause, 1))
        lanes.put_off(waiting, pause)

    async def _park(self, lanes: Lanes, waiting: Waiting, reason: str) -> None:
        event = waiting.event
        log.error("event_parked", name=event.name, id=event.id, why=reason)
        await self.bus.park(GROUP, waiting.stream_id, event, reason)
        lanes.done(waiting)
