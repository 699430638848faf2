"""The two verbs of the engine: `wake` asks for something to be run soon, `run` runs what was asked for.

arq would hold a dead worker's job back for the longest job's time-out; here its in-progress mark is a short lease that
is renewed while the job runs. Whether a step may run is decided by the store's own lease and token, never by arq.
Source: arq 0.28 worker.py and connections.py (in-progress keys, `_job_id`, `keep_result`).
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix
from arq.worker import Worker, func

from infra.jobs.connection import QUEUE, pack, unpack

JOB = "advance"
LONGEST_JOB_S = 24 * 3600
TRIES = 1_000_000


class ArqWake:
    """`handlers.ports.Wake`: one job per thing that is due and its version, so that asking twice asks once."""

    def __init__(self, pool: ArqRedis) -> None:
        self._pool = pool

    async def wake(self, due: Sequence[tuple[str, str]]) -> None:
        """Enqueue a wake-up for each."""
        for member, version in due:
            await self._pool.enqueue_job(JOB, member, _job_id=f"{member}@{version}", _queue_name=QUEUE)


class _LeaseWorker(Worker):
    """A worker whose in-progress marks live for `lease_s` and are renewed while their job runs."""

    lease_s: float = 8.0

    async def run_job(self, job_id: str, score: int) -> None:
        """Run one job with its mark renewed."""
        renewing = asyncio.create_task(self._renew(job_id))
        try:
            await super().run_job(job_id, score)
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewing

    async def _renew(self, job_id: str) -> None:
        while True:
            await asyncio.sleep(self.lease_s / 4)
            await self.pool.pexpire(in_progress_key_prefix + job_id, int(self.lease_s * 1000))


async def run(pool: ArqRedis, advance: Callable[[str], Awaitable[None]], jobs: int, lease_s: float) -> None:
    """Run wake-ups, at most `jobs` at once, until cancelled."""

    async def job(ctx: dict[Any, Any], member: str) -> None:
        await advance(member)

    worker = _LeaseWorker(
        functions=[func(job, name=JOB, keep_result=0, max_tries=TRIES)],
        queue_name=QUEUE,
        redis_pool=pool,
        handle_signals=False,
        max_jobs=jobs,
        job_timeout=LONGEST_JOB_S,
        keep_result=0,
        poll_delay=0.02,
        queue_read_limit=max(200, 10 * jobs),
        max_tries=TRIES,
        health_check_interval=30,
        health_check_key=f"{QUEUE}:health",
        job_serializer=pack,
        job_deserializer=unpack,
        log_results=False,
    )
    worker.lease_s = lease_s
    worker.in_progress_timeout_s = lease_s
    try:
        await worker.main()
    finally:
        with warnings.catch_warnings():
            # arq closes its pool by a name that redis-py has renamed since.
            warnings.simplefilter("ignore", DeprecationWarning)
            await worker.close()
