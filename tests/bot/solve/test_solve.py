"""A solve as a person runs it: to its end with --yes, and stopped and killed in between."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from bot import wiring
from bot.demo.plays import SAMPLES

BRANCH = "seconder/issue-1-parse-1h-30m-forgets-the-minutes"
SOLVE = (sys.executable, "-m", "bot", "solve")
RESUME = ("--resume", "--yes", "--json")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass
class Site:
    """A person's repository with uncommitted work, and a model that plays the sample's script without waiting."""

    root: Path
    env: dict[str, str]

    @property
    def shop(self) -> Path:
        return self.root / "shop"

    @property
    def begin(self) -> tuple[str, ...]:
        """Words that begin the solve, from a subfolder."""
        return (str(self.shop / "durations"), str(SAMPLES / "durations.issue.md"), "--yes", "--json")

    def everything(self) -> dict[str, str]:
        """All files of the repository but its objects, with digest and time."""
        found = {}
        for path in sorted(self.shop.rglob("*")):
            name = path.relative_to(self.shop).as_posix()
            if path.is_file() and not name.startswith(".git/objects/"):
                found[name] = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        return found

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *SOLVE, *words, "--state", str(self.root / "state"), stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe, stderr=pipe, env=self.env,
        )  # fmt: skip

    async def finished(self, *words: str) -> tuple[int | None, dict[str, object], str]:
        """Exit code, the JSON, and the progress that was shown."""
        process = await self.start(*words)
        out, err = await process.communicate()
        return process.returncode, json.loads(out), err.decode()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    shop = tmp_path / "shop"
    script = yaml.safe_load((SAMPLES / "durations.script.yml").read_text())
    quick = tmp_path / "script.yml"
    quick.write_text(yaml.safe_dump({**script, "latency_s": 0.02}))
    for path in (SAMPLES / "durations").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            target = shop / path.relative_to(SAMPLES / "durations")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    git(shop, "init", "-q", "-b", "trunk")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "First")
    (shop / "README.md").write_text("Mine\n")
    git(shop, "stash", "-q")
    (shop / "README.md").write_text("Not committed\n")
    (shop / ".git" / "hooks").mkdir(exist_ok=True)
    hook = shop / ".git" / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    async with wiring.scripted_model(quick) as model:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "SECONDER_"))}
        yield Site(tmp_path, {**kept, "ANTHROPIC_BASE_URL": model.url, "SECONDER_LEASE_S": "2"})


async def test_the_repository_gets_one_branch_and_nothing_else(site: Site) -> None:
    before, head = site.everything(), git(site.shop, "rev-parse", "HEAD")
    code, report, shown = await site.finished(*site.begin)
    assert (code, report["outcome"], report.get("branch")) == (0, "approved", BRANCH), shown
    ref = f".git/refs/heads/{BRANCH}"
    after = site.everything()
    assert after.pop(ref)
    assert after == before
    assert not (site.root / "hook-ran").exists()
    assert git(site.shop, "rev-parse", f"{BRANCH}~2") == head
    assert git(site.shop, "diff", "--name-only", f"HEAD...{BRANCH}").split() == [
        "durations/parse.py",
        "tests/test_empty.py",
        "tests/test_spaces.py",
    ]
    assert "Uncommitted changes (1 changed and 0 untracked files) are left alone" in shown
    assert "--yes: every vote is yes" in shown
    assert report["decided_by"] == "--yes"
    assert report["tests"]["outcome"] == "passed"  # type: ignore[index]
    assert report["spent"]["calls"] == 17  # type: ignore[index]
    assert not list((site.root / "state").glob("*/order.json"))


async def test_stopped_and_killed_it_goes_on_and_pays_for_nothing_twice(site: Site) -> None:
    """Ctrl-C, then kill -9, each at another place; the last part finishes."""
    process = await site.start(*site.begin)
    seen = await _until(process, b"architect")
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert process.returncode == 130, seen + err
    assert b"seconder solve --resume shop-1" in err

    process = await site.start(*RESUME)
    await _until(process, b"uses run_tests")
    process.kill()
    await process.communicate()

    code, report, shown = await site.finished(*RESUME)
    assert (code, report["outcome"], report.get("branch")) == (0, "approved", BRANCH), shown
    assert 17 <= int(report["spent"]["calls"]) <= 19, "at most the calls in flight are paid again"  # type: ignore[index]
    assert out == b""


async def _until(process: asyncio.subprocess.Process, words: bytes) -> bytes:
    """Read the progress until these words come."""
    assert process.stderr is not None
    seen = b""
    async for line in process.stderr:
        seen += line
        if words in line:
            return seen
    raise AssertionError(f"{words!r} was not shown:\n{seen.decode()}")
