"""Upkeep that one of all workers does now and then: at the start, and again every few minutes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from handlers.ports import Chores, GitHubError

log = structlog.get_logger("seconder.upkeep")

LOOKS = 10
"""How often a worker looks within a period whether it is its turn: so late, at most, one follows another's death."""


@dataclass(frozen=True)
class Chore:
    """Something to do every `every_s` seconds."""

    name: str
    every_s: float
    do: Callable[[], Awaitable[object]]


async def keep_up(chores: Chores, chore: Chore) -> None:
    """Do a chore whenever it is this worker's turn, for ever. What GitHub refuses is logged, and tried again then."""
    while True:
        if await chores.turn(chore.name, int(chore.every_s * 1000)):
            try:
                await chore.do()
            except GitHubError as error:
                log.warning("chore_failed", chore=chore.name, why=str(error)[:300])
        await asyncio.sleep(chore.every_s / LOOKS)
