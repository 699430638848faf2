"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
from typing import Any

ASK_AGAIN_S = 0.1


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until all are done; what they raise is theirs.

    A cancellation is asked for again and again: measured with redis-py 5.3.1, a few in a hundred that arrive inside a
    command are lost, and the task goes on as if nothing had been said.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=ASK_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)
