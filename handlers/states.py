"""Runs' states as this process knows them: folds kept in memory, begun from a stored checkpoint where there is one."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import structlog

from handlers.checkpoints import BadCheckpoint, freeze, thaw
from handlers.ports import Checkpoints, LogUnreadable, RunLog
from handlers.state import RunState

log = structlog.get_logger("seconder.states")

EVERY = 100


@dataclass
class _Known:
    """A fold, and the position up to which it was last saved, or would not fit."""

    state: RunState
    saved: int


class States:
    """Folds of the runs that this process has read, so that a look at a run reads only what is new in its log.

    Whoever has folded `every` records more than the stored checkpoint holds, and a tenth more, replaces it: storing a
    fold costs as much as it is long, and so comes to the same for each record however long the run.
    """

    def __init__(self, checkpoints: Checkpoints, keep: int = 200, every: int = EVERY) -> None:
        self._checkpoints = checkpoints
        self._keep = keep
        self._every = every
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def of(self, run: str, runs: RunLog) -> RunState:
        """The run's state, up to date. Raises `LogUnreadable`; then nothing of the run is kept."""
        known = self._known.get(run)
        if known is None:
            state = await self._begin(run, runs)
            known = self._known.setdefault(run, _Known(state, state.position))
        self._known.move_to_end(run)
        while len(self._known) > self._keep:
            self._known.popitem(last=False)
        try:
            known.state.feed(await runs.read(run, known.state.position), run)
        except LogUnreadable:
            self._known.pop(run, None)
            raise
        if known.state.position - known.saved >= max(self._every, known.saved // 10):
            known.saved = known.state.position
            await self.save(run, known.state)
        return known.state

    async def save(self, run: str, state: RunState) -> None:
        """Store the fold as the run's checkpoint; one that is too large is said and left out. A fold with something in
        it that this version does not know is not stored: another version has to fold the log by itself."""
        if state.strange:
            return
        checkpoint = freeze(state)
        if not await self._checkpoints.save(run, checkpoint):
            log.warning("checkpoint_too_large", run=run, position=state.position, bytes=len(checkpoint.content))

    async def _begin(self, run: str, runs: RunLog) -> RunState:
        """The stored fold, if it is one of this log; else one from the log alone, which is said where it had to be."""
        stored = await self._checkpoints.load(run)
        if stored is None:
            state = RunState().feed(await runs.read(run, 0), run)
            if state.position >= self._every:
                log.warning("checkpoint_rebuilt", run=run, why="there is none")
                await self.save(run, state)
            return state
        try:
            state = thaw(stored)
            there = await runs.read(run, max(0, state.position - 1))
            if not there:
                raise BadCheckpoint(f"it is of record {state.position}, and the log does not reach so far")
            if there[0].chain != state.chain:
                raise BadCheckpoint(f"it was made from another record {state.position}")
            return state.feed(there, run)
        except BadCheckpoint as error:
            log.warning("checkpoint_rebuilt", run=run, why=str(error))
            state = RunState().feed(await runs.read(run, 0), run)
            await self.save(run, state)
            return state
