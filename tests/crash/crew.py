"""Starts, freezes and kills worker processes. They are forked from a server that has imported everything already."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.crash.doom import Doom
from tests.crash.worker import Diary, main

PRELOAD = ("infra.github.connect", "infra.jobs.engine", "infra.llm.messages", "infra.llm.prices", "tests.crash.worker")


@dataclass
class Member:
    """One worker process and its diary."""

    process: ForkServerProcess
    diary: Diary

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self.process.pid is not None
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it lives; a frozen one does."""
        return self.process.is_alive()

    @property
    def frozen(self) -> bool:
        """Whether it is stopped (proc(5), field 3 of stat)."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        except OSError:
            return False

    async def gone(self, seconds: float) -> float:
        """Wait for its death by SIGKILL; returns when that was, on the monotonic clock."""
        until = time.monotonic() + seconds
        while self.alive:
            assert time.monotonic() < until, f"it lives on:\n{self.log()}"
            await asyncio.sleep(0.01)
        died = time.monotonic()
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL, f"exit code {self.process.exitcode}:\n{self.log()}"
        return died

    async def stands_still(self, seconds: float) -> float:
        """Wait until it is frozen; returns when that was."""
        until = time.monotonic() + seconds
        while not self.frozen:
            assert self.alive, f"it died:\n{self.log()}"
            assert time.monotonic() < until, f"it goes on:\n{self.log()}"
            await asyncio.sleep(0.01)
        return time.monotonic()

    def send(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it, frozen or not."""
        if self.alive:
            self.process.kill()
        self.process.join()

    def log(self) -> str:
        """The end of what it printed."""
        path = self.diary.path.with_suffix(".log")
        return path.read_text()[-3000:] if path.exists() else ""


@dataclass
class Crew:
    """All workers of a test; `env` are their settings, `folder` holds their data and diaries."""

    env: Mapping[str, str]
    folder: Path
    members: list[Member] = field(default_factory=list)

    def start(self, doom: Doom | None = None, **settings: str) -> Member:
        """Start a worker on a data directory of its own, as on another machine."""
        name = f"worker-{len(self.members)}"
        env = {**self.env, "SECONDER_DATA_DIR": str(self.folder / name), **settings}
        diary = self.folder / f"{name}.diary"
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(PRELOAD))
        process = context.Process(target=main, args=(env, diary, doom), daemon=True)
        process.start()
        self.members.append(Member(process, Diary(diary)))
        return self.members[-1]

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """What fails inside is shown with what the workers printed."""
        try:
            yield
        except AssertionError as error:
            for member in self.members:
                error.add_note(f"{member.diary.path.name} printed:\n{member.log()}")
            raise

    def stop(self) -> None:
        """Kill all that live."""
        for member in self.members:
            member.kill()
