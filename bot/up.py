"""`seconder up`: store, web process and worker on one machine, each a process of its own, stopped together."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from types import FrameType

from bot import wiring
from bot.settings import Settings

STOP_S = 15.0


def run_up(settings: Settings, env: Mapping[str, str]) -> int:
    """Run until Ctrl-C or SIGTERM, or until one of the processes ends by itself; returns the exit code."""
    store = None
    shared = dict(env)
    if settings.redis_url is None:
        store = wiring.start_embedded(settings.data_dir.resolve())
        shared["REDIS_URL"] = wiring.url_of(store.address)
        print(f"store: embedded, in {settings.data_dir.resolve() / 'store'}", flush=True)
    told = _Told()
    children = [subprocess.Popen([sys.executable, "-m", "bot", name], env=shared) for name in ("web", "worker")]
    try:
        while not told.stop and all(child.poll() is None for child in children):
            time.sleep(0.2)
        ended = [child.returncode for child in children if child.poll() is not None]
        if ended and not told.stop:
            print("up: a process ended by itself; stopping the other", file=sys.stderr, flush=True)
        return 0 if told.stop else max(1, *(abs(code) for code in ended))
    finally:
        _stop(children)
        if store is not None:
            store.stop()


class _Told:
    """Whether a signal asked to stop."""

    def __init__(self) -> None:
        self.stop = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heard)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.stop = True


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.terminate()
    until = time.monotonic() + STOP_S
    for child in children:
        try:
            child.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
