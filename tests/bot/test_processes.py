"""`seconder local-github` and `seconder up` as a person starts them: separate processes and one issue, merged."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import yaml

from bot.demo.plays import SAMPLES
from infra.llm.scripted import ScriptedModel

WEB_LIMIT_MB = 80


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def seconder(*words: str, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours; told to stop at the end, and it must do so by itself."""
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "bot", *words], env=env, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            finally:
                process.kill()
                process.wait()


async def until(ask: Callable[[], Awaitable[Any]], what: str, log: Path, seconds: float = 60) -> Any:
    """Ask until there is an answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = await ask()
        except (httpx.TransportError, KeyError, IndexError):
            found = None
        if found:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"{what} did not come. The log ends:\n{log.read_text()[-3000:]}")


def said(log: Path, start: str) -> str | None:
    """The rest of the log's line that starts with these words."""
    return next((line[len(start) :] for line in log.read_text().splitlines() if line.startswith(start)), None)


def resident_mb(parent: int, word: str) -> float:
    """Resident memory of the child whose command line ends with a word."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if int(stat[1]) == parent and word.encode() in words:
                return int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    raise AssertionError(f"no child {word} of {parent}")


def sample_repository(folder: Path) -> Path:
    """Our sample as a git repository."""
    target = folder / "durations"
    shutil.copytree(SAMPLES / "durations", target)
    git = ["git", "-C", str(target), "-c", "user.name=s", "-c", "user.email=s@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Start"]):
        subprocess.run([*git, *words], check=True)
    return target


async def test_an_issue_is_merged_by_separate_processes(tmp_path: Path) -> None:
    script = yaml.safe_load((SAMPLES / "durations.script.yml").read_text())
    script["latency_s"] = 0
    (tmp_path / "script.yml").write_text(yaml.safe_dump(script))
    port, web_port = free_port(), free_port()
    plain = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    site, log = tmp_path / "site.log", tmp_path / "up.log"
    words = (
        "local-github",
        "--data",
        str(tmp_path / "gh"),
        "--port",
        str(port),
        "--repo",
        str(sample_repository(tmp_path)),
    )
    webhook = f"http://127.0.0.1:{web_port}/webhook"
    async with ScriptedModel.serve(tmp_path / "script.yml") as model:
        with seconder(*words, "--webhook", webhook, env=plain, log=site):
            await until(lambda: _soon(said(site, "maintainer: ")), "the people's tokens", site)
            settings = dict(
                line.removeprefix("export ").split("=", 1)
                for line in site.read_text().splitlines()
                if line.startswith("export ")
            )
            env = {
                **plain,
                **settings,
                "ANTHROPIC_API_KEY": "scripted",
                "ANTHROPIC_BASE_URL": model.url,
                "SECONDER_PORT": str(web_port),
                "SECONDER_DATA_DIR": str(tmp_path / "data"),
            }
            with seconder("up", env=env, log=log) as up:
                await until(lambda: _soon(said(log, "worker: ")), "the worker", log)
                base = f"{settings['GITHUB_API_URL']}/repos/local-copy/durations"
                people = [person(base, said(site, f"{login}: ")) for login in ("requester", "maintainer")]
                async with people[0] as requester, people[1] as maintainer:
                    await merge_one(requester, maintainer, log)
                resident = resident_mb(up.pid, "web")
                print(f"the web process holds {resident:.1f} MB")
                assert resident <= WEB_LIMIT_MB
    assert "Traceback" not in log.read_text()


async def _soon(value: str | None) -> str | None:
    return value


def person(base: str, token: str | None) -> httpx.AsyncClient:
    """The API as one person."""
    return httpx.AsyncClient(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=30)


async def merge_one(requester: httpx.AsyncClient, maintainer: httpx.AsyncClient, log: Path) -> None:
    """File the sample's issue, approve its pull request, ask for the merge."""
    title, _, body = (SAMPLES / "durations.issue.md").read_text().partition("\n")
    assert (await requester.post("/issues", json={"title": title, "body": body})).status_code == 201

    async def ready() -> Any:
        pulls = (await maintainer.get("/pulls")).json()
        return next((pull for pull in pulls if not pull["draft"]), None)

    pull = await until(ready, "the pull request", log)

    async def gate(conclusion: str) -> bool:
        checks = (await maintainer.get(f"/commits/{pull['head']['sha']}/check-runs")).json()["check_runs"]
        return any(one["name"] == "seconder/quality" and one["conclusion"] == conclusion for one in checks)

    await until(lambda: gate("action_required"), "the gate", log)
    assert (await maintainer.post(f"/pulls/{pull['number']}/reviews", json={"event": "APPROVE"})).status_code == 200
    await until(lambda: gate("success"), "the approval", log)
    assert (await maintainer.post(f"/issues/{pull['number']}/comments", json={"body": "/merge"})).status_code == 201

    async def merged() -> bool:
        return bool((await maintainer.get(f"/pulls/{pull['number']}")).json()["merged"])

    await until(merged, "the merge", log)
