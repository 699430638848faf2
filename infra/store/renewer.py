"""Leases are renewed from a thread, so that a busy event loop does not lose a step that is well."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field

from redis.exceptions import RedisError

from handlers.ports import Loss
from infra.store.connection import PREFIX, Address, connect_blocking, script_source


@dataclass
class _Held:
    token: int
    until: float
    loop: asyncio.AbstractEventLoop
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    gone: Loss | None = None


class Renewer:
    """Keeps leases of `lease_s` seconds alive by renewing each every quarter of it.

    A lease counts as lost when the store says so (fenced, cancelled), or when it ran out on the monotonic clock
    because the store did not answer.
    """

    def __init__(self, address: Address, lease_s: float, prefix: str = PREFIX) -> None:
        self.lease_s = lease_s
        self._prefix = prefix
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._client = connect_blocking(address, min(2.0, max(0.3, lease_s / 4)))
        self._renew = self._client.register_script(script_source("renew"))
        self._thread = threading.Thread(target=self._work, name="lease-renewer", daemon=True)
        self._thread.start()

    def hold(self, task: str, token: int, since: float) -> None:
        """Start renewing; `since` is the monotonic second at which the claim was asked for."""
        with self._lock:
            self._held[task] = _Held(token, since + self.lease_s, asyncio.get_running_loop())

    def release(self, task: str, token: int) -> None:
        """Stop renewing."""
        with self._lock:
            held = self._held.get(task)
            if held is not None and held.token == token:
                del self._held[task]

    def alive(self, task: str, token: int) -> bool:
        """Whether this lease still holds on the monotonic clock."""
        with self._lock:
            held = self._held.get(task)
        return held is not None and held.token == token and held.gone is None and time.monotonic() < held.until

    async def lost(self, task: str, token: int) -> Loss:
        """Returns when the lease is lost or was released, and why it was lost."""
        with self._lock:
            held = self._held.get(task)
        if held is None or held.token != token:
            return "fenced"
        await held.lost.wait()
        return held.gone or "fenced"

    def close(self) -> None:
        """Stop the thread and close the connection."""
        self._stop.set()
        self._thread.join(timeout=5)
        self._client.close()

    def _work(self) -> None:
        pause = self.lease_s / 4
        while not self._stop.wait(pause):
            with self._lock:
                held = list(self._held.items())
            # When one is not answered the others are not asked: each would wait, while all run out at the same time.
            answered = all(self._once(task, lease) for task, lease in held)
            pause = self.lease_s / (4 if answered else 16)
            now = time.monotonic()
            for task, lease in held:
                if now >= lease.until:
                    self._end(task, lease, "unreachable")

    def _once(self, task: str, held: _Held) -> bool:
        """Renew one lease; False when the store did not answer."""
        asked = time.monotonic()
        try:
            answer = self._renew(keys=[self._prefix], args=[task, held.token, int(self.lease_s * 1000)])
        except (RedisError, OSError):
            return False
        if int(answer) == 0:
            self._end(task, held, "fenced")
        else:
            held.until = asked + self.lease_s
        return True

    def _end(self, task: str, held: _Held, why: Loss) -> None:
        if held.gone is not None:
            return
        held.gone = why
        # Never renewed again: its owner stops now, and a renewal that gets through later would keep others away.
        self.release(task, held.token)
        if not held.loop.is_closed():
            held.loop.call_soon_threadsafe(held.lost.set)
