"""Our webhook route beside a bare receiver, in turns, on the same store with fsync on every write."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.wiring import start_embedded, url_of
from tests.bench.deliveries import Sent, made

CONNECTIONS = 16
REQUESTS = 1_500
ROUNDS = 5


@dataclass(frozen=True)
class Load:
    """One round: answers a second, and the 99th percentile in milliseconds."""

    rps: float
    p99_ms: float


def measure() -> dict[str, float]:
    """`webhook_rps_ratio` and `webhook_p99_ratio` (above 1: ours is better), and what they come from."""
    with tempfile.TemporaryDirectory(prefix="seconder-bench-") as folder:
        store = start_embedded(Path(folder), leashed=True)
        try:
            url = url_of(store.address)
            with _server("ours", url) as ours, _server("bare", url) as bare:
                rounds = {"ours": [], "bare": []}  # type: dict[str, list[Load]]
                for number in range(ROUNDS + 1):
                    for name, address in (("ours", ours), ("bare", bare)):
                        load = asyncio.run(_load(address, made(REQUESTS)))
                        if number:  # the first round warms up
                            rounds[name].append(load)
        finally:
            store.stop()
    return _figures(rounds["ours"], rounds["bare"])


def _figures(ours: list[Load], bare: list[Load]) -> dict[str, float]:
    rps = statistics.median(one.rps / two.rps for one, two in zip(ours, bare, strict=True))
    p99 = statistics.median(two.p99_ms / one.p99_ms for one, two in zip(ours, bare, strict=True))
    return {
        "webhook_rps_ratio": round(rps, 3),
        "webhook_p99_ratio": round(p99, 3),
        "webhook_rps": round(statistics.median(one.rps for one in ours), 1),
        "webhook_p99_ms": round(statistics.median(one.p99_ms for one in ours), 2),
        "bare_rps": round(statistics.median(one.rps for one in bare), 1),
        "bare_p99_ms": round(statistics.median(one.p99_ms for one in bare), 2),
    }


@contextlib.contextmanager
def _server(which: str, url: str) -> Iterator[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.servers", which, url], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
    finally:
        child.kill()
        child.wait()


async def _load(address: str, deliveries: list[Sent]) -> Load:
    """Send all deliveries over a few connections as fast as answers come. Raises RuntimeError on any other than 202."""
    waiting = list(reversed(deliveries))
    times: list[float] = []

    async def connection() -> None:
        place = urlsplit(address)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while waiting:
            sent = waiting.pop()
            began = time.perf_counter()
            writer.write(sent.raw)
            await _answer(reader)
            times.append((time.perf_counter() - began) * 1000)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    took = time.perf_counter() - began
    return Load(len(times) / took, statistics.quantiles(times, n=100)[98])


async def _answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 202 " not in head.split(b"\r\n", 1)[0]:
        raise RuntimeError(f"the server answered {head[:80]!r}")
    length = next(
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    await reader.readexactly(length)
