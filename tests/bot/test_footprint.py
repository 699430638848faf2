"""The web process stays small: it loads no client library, and 50 deliveries and a live view fit into 80 MB."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.bot.web_process import SECRET

ROOT = Path(__file__).parents[2]
HEAVY = ("githubkit", "anthropic", "arq", "redis", "cryptography", "httpx", "infra")
LIMIT_MB = 80


def test_importing_the_web_process_loads_no_client_library() -> None:
    code = (
        "import sys, bot.app, bot.webhook, bot.settings, handlers.github\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@contextmanager
def web_process() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A running web process and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bot.web_process", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                httpx.get(f"{address}/healthz")
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        yield process, address
    finally:
        process.terminate()
        process.wait(10)


def resident_mb(pid: int) -> float:
    """Resident memory as the kernel counts it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


def delivery(number: int) -> tuple[bytes, dict[str, str]]:
    """A comment with a command, as large as GitHub's are."""
    person = {"id": 5, "login": "ada", "type": "User"}
    payload = {
        "action": "created",
        "repository": {"id": 1, "full_name": "o/r", "padding": "x" * 20_000},
        "installation": {"id": 3},
        "sender": person,
        "issue": {"number": number},
        "comment": {"id": number, "body": f"/steer look at number {number}", "user": person},
    }
    body = json.dumps(payload).encode()
    return body, {
        "content-type": "application/json",
        "x-github-event": "issue_comment",
        "x-github-delivery": f"d-{number}",
        "x-hub-signature-256": "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest(),
    }


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
def test_a_real_process_stays_small_and_lets_go_of_readers_that_leave() -> None:
    with web_process() as (process, address), httpx.Client(base_url=address) as client:
        statuses = [
            client.post("/webhook", content=body, headers=head).status_code for body, head in map(delivery, range(50))
        ]
        assert statuses == [202] * 50
        for _ in range(60):
            with client.stream("GET", "/runs/r1/events") as live:
                assert live.status_code == 200
                assert next(live.iter_lines()) == "retry: 1000"
            time.sleep(0.02)
        assert client.get("/runs/r1").status_code == 200
        used = resident_mb(process.pid)
        print(f"{used:.1f} MB resident")
        assert used < LIMIT_MB, f"{used:.1f} MB"
