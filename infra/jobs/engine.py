"""The two verbs of the engine: `wake` asks for something to be run soon, `run` runs what was asked for.

arq would hold a dead worker's job back for the longest job's time-out; here its in-progress mark is a short lease that
is renewed while the job runs. Whether a step may run is decided by the store's own lease and token, never by arq.
Source: arq 0.28 worker.py and connections.py (in-progress keys, `_job_id`, `keep_result`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

import structlog
from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix
from arq.worker import Worker, func
from redis.exceptions import RedisError

from infra.jobs.connection import QUEUE, pack, unpack

log = structlog.get_logger("seconder.engine")

JOB = "advance"
LONGEST_JOB_S = 24 * 3600
TRIES = 1_000_000
ASK_AGAIN_S = 0.1


class ArqWake:
    """`handlers.ports.Wake`: one job per thing that is due and its version, so that asking twice asks once."""

    def __init__(self, pool: ArqRedis) -> None:
        self._pool = pool

    async def wake(self, due: Sequence[tuple[str, str]]) -> None:
        """Enqueue a wake-up for each. Only a hint, so that a store that is away stops nobody who gives it."""
        try:
            for member, version in due:
                await self._pool.enqueue_job(JOB, member, _job_id=f"{member}@{version}", _queue_name=QUEUE)
        except (RedisError, OSError) as error:
            log.warning("wake_lost", why=f"{type(error).__name__}: {error}"[:200])


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
            with contextlib.suppress(asyncio.CancelledError, RedisError, OSError):
                await renewing

    async def _renew(self, job_id: str) -> None:
        while True:
            await asyncio.sleep(self.lease_s / 4)
            await self.pool.pexpire(in_progress_key_prefix + job_id, int(self.lease_s * 1000))


class ArqEngine:
    """Runs wake-ups, at most `jobs` at once. What runs is not arq's to cancel: when arq gives up, because the store
    does not answer, the work under way goes on for as long as its own lease holds."""

    def __init__(self, pool: ArqRedis, advance: Callable[[str], Awaitable[None]], jobs: int, lease_s: float) -> None:
        self._pool = pool
        self._advance = advance
        self._jobs = jobs
        self._lease_s = lease_s
        self._running: set[asyncio.Future[None]] = set()

    async def run(self) -> None:
        """Run until cancelled, and end what runs then. Raises redis's errors and OSError when the store is away: call
        it again."""
        worker = self._worker()
        try:
            await worker.main()
        except asyncio.CancelledError:
            await _end(self._running)
            raise
        finally:
            await _end(worker.tasks.values())
            with contextlib.suppress(RedisError, OSError):
                await self._pool.delete(worker.health_check_key)

    async def _job(self, ctx: dict[Any, Any], member: str) -> None:
        task = asyncio.ensure_future(self._advance(member))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await asyncio.shield(task)

    def _worker(self) -> _LeaseWorker:
        worker = _LeaseWorker(
            functions=[func(self._job, name=JOB, keep_result=0, max_tries=TRIES)],
            queue_name=QUEUE,
            redis_pool=self._pool,
            handle_signals=False,
            max_jobs=self._jobs,
            job_timeout=LONGEST_JOB_S,
            keep_result=0,
            poll_delay=0.02,
            queue_read_limit=max(200, 10 * self._jobs),
            max_tries=TRIES,
            health_check_interval=30,
            health_check_key=f"{QUEUE}:health",
            job_serializer=pack,
            job_deserializer=unpack,
            log_results=False,
        )
        worker.lease_s = self._lease_s
        worker.in_progress_timeout_s = self._lease_s
        return worker


async def _end(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks until they are done; what they raise is theirs.

    Asked for again and again: redis-py loses a few in a hundred cancellations that arrive inside a command.
    """
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=ASK_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)
