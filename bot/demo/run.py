"""The demo's course: file the issue, show what happens, ask for the decisions or play the maintainer, end cleanly."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bot.demo.keys import Keys, open_keys
from bot.demo.people import DemoError, People
from bot.demo.screen import Screen
from bot.demo.stage import MAINTAINER, Play, Stage, open_stage
from handlers.events import ENDINGS
from handlers.ports import LogRecord, RunFacts

SETTLED_S = 0.4
START_S = 30.0
ANSWER_S = 3.0
PLAIN = "without isolation, the sample's tests run as a plain process"


@dataclass(frozen=True)
class Wish:
    """How the demo is to be run. `patch`: where to write the final diff, if anywhere."""

    play: Play
    env: Mapping[str, str]
    patch: Path | None = None


async def run_demo(console: Console, wish: Wish) -> int:
    """Run the demo to its end; returns the exit code: 0 when the change was merged, or when the person ended it."""
    screen = Screen(console)
    async with open_stage(wish.play, wish.env) as stage:
        screen.say(_headline(stage), "bold")
        if stage.sandbox_problem is not None:
            if not stage.own_sample:
                screen.say(f"The tests of this repository cannot be kept apart here. {stage.sandbox_problem}", "red")
                return 1
            screen.say(stage.sandbox_problem, "yellow")
        people = People(stage)
        number, url = await people.file_issue()
        screen.say(f"\nissue #{number}  {wish.play.title}")
        screen.say(f"          {url}\n", "underline")
        run = await _begun(stage)
        if sys.stdin.isatty() and console.is_terminal:
            async with open_keys() as keys:
                code = await _Course(stage, people, screen, run, keys).run()
        else:
            code = await _Course(stage, people, screen, run, None).run()
        await _last_words(stage, people, screen, run, wish)
        return code


def _headline(stage: Stage) -> str:
    model = "a script plays the model" if stage.play.script is not None else "a live model answers"
    if stage.sandbox_problem is not None and stage.own_sample:
        return f"Seconder demo, {PLAIN}: {model}, GitHub is a local one; store, git and tests are real."
    return f"Seconder demo: {model}, GitHub is a local one; store, git, sandbox and tests are real."


async def _begun(stage: Stage) -> str:
    """The id of the run that the issue started."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if recent := await stage.hub.runs.recent(1):
            return recent[0]
        await asyncio.sleep(0.05)
    raise DemoError("the issue was filed, but no run began: see the log above")


async def _last_words(stage: Stage, people: People, screen: Screen, run: str, wish: Wish) -> None:
    facts = await stage.hub.runs.facts(run)
    screen.console.print()
    screen.bill(scripted=wish.play.script is not None)
    if facts is not None and facts.pull is not None and wish.patch is not None:
        page = await people.pull(facts.pull)
        wish.patch.write_text(page.diff + "\n")
        screen.say(f"the diff is in {wish.patch}")
    summary = screen.state.board.live("summary")
    plain = f" ({PLAIN})" if stage.sandbox_problem is not None else ""
    if summary is not None and summary.value.get("merged_sha"):
        screen.say(f"merged {summary.value['merged_sha']}{plain}", "bold green")
    elif summary is not None:
        screen.say(f"ended: {summary.value['outcome']}: {summary.value['text']}{plain}", "bold")


class _Course:
    """From the first record to the end of the run. Without `keys` the demo plays the maintainer, and says so."""

    def __init__(self, stage: Stage, people: People, screen: Screen, run: str, keys: Keys | None) -> None:
        self.stage, self.people, self.screen, self.run_id, self.keys = stage, people, screen, run, keys
        self.records: asyncio.Queue[LogRecord] = asyncio.Queue()
        self.asked: str | None = None
        self.left = False
        self.said_role = False
        self.shown = ""

    async def run(self) -> int:
        following = asyncio.create_task(self._follow())
        try:
            while not self.left:
                record = await self._next()
                if record is None:
                    await self._decide()
                    continue
                self.screen.record(record)
                if self._ended(record):
                    break
        finally:
            following.cancel()
        last = self.screen.state.last(*ENDINGS)
        return 0 if self.left or (last is not None and last.name in ("run_completed", "run_cancelled")) else 1

    async def _follow(self) -> None:
        async for record in self.stage.hub.runs.follow(self.run_id, 0):
            await self.records.put(record)

    async def _next(self) -> LogRecord | None:
        """The next record; None when a gate waits and nothing has happened for a moment."""
        if self.asked is None:
            return await self._note(await self.records.get())
        try:
            return await self._note(await asyncio.wait_for(self.records.get(), SETTLED_S))
        except TimeoutError:
            return None

    async def _note(self, record: LogRecord) -> LogRecord:
        """Remember which gate waits for the person."""
        if record.type == "event":
            name, data = record.data["name"], record.data.get("data")
            if name == "gate_opened" and isinstance(data, Mapping):
                self.asked = str(data["gate"])
            elif name in ("gate_resolved", "steered", "gate_voided", "run_stuck"):
                self.asked = "stuck" if name == "run_stuck" else None
        return record

    def _ended(self, record: LogRecord) -> bool:
        return (record.type == "event" and str(record.data["name"]) in ENDINGS - {"run_declined"}) or (
            record.type == "entry"
            and record.data.get("kind") == "summary"
            and record.data["value"]["outcome"] == "declined"  # type: ignore[index]
        )

    async def _facts(self) -> RunFacts:
        facts = await self.stage.hub.runs.facts(self.run_id)
        assert facts is not None
        return facts

    async def _decide(self) -> None:
        gate, self.asked = self.asked, None
        facts = await self._facts()
        number = facts.pull or facts.issue
        if gate == "quality" and facts.pull is not None:
            page = await self.people.pull(facts.pull)
            if page.head != self.shown:
                self.screen.pull_request(page.title, page.url, page.diff, page.checks)
            self.shown = page.head
        if self.keys is None:
            await self._play(gate, number)
        else:
            await self._ask(self.keys, gate, number)

    async def _play(self, gate: str | None, number: int) -> None:
        """No terminal: the demo plays the maintainer."""
        if gate == "stuck":
            self.left = True
            raise DemoError("the run is stuck, and nobody is here to help it")
        self.screen.console.print()
        if not self.said_role:
            self.said_role = True
            self.screen.say(f"There is no terminal to ask at, so the demo plays the maintainer ({MAINTAINER}).", "bold")
        if gate == "quality":
            self.screen.say(f"{MAINTAINER}: approves the pull request", "bold")
            await self.people.approve(number)
        else:
            self.screen.say(f"{MAINTAINER}: comments /merge", "bold")
            await self.people.comment(number, "/merge")

    async def _ask(self, keys: Keys, gate: str | None, number: int) -> None:
        choices = {"quality": "[a]pprove, [r]equest changes, ", "merge": "[m]erge, "}.get(gate or "", "")
        self.screen.console.print()
        self.screen.console.print(f"You are {MAINTAINER}: {choices}[c]omment a command, [q]uit? ", end="", markup=False)
        answer = await self._line(keys)
        match (answer or "q")[:1].lower(), gate:
            case "a", "quality":
                await self.people.approve(number)
            case "r", "quality":
                self.screen.console.print("What should change? ", end="")
                await self.people.request_changes(number, await self._line(keys) or "Please look at this again.")
            case "m", "merge":
                await self.people.comment(number, "/merge")
            case "c", _:
                await self._command(keys, number)
                self.asked = self.asked or gate
            case "q", _:
                self.left = True
            case "?", _:
                return
            case _:
                self.screen.say("That is none of the choices.", "yellow")
                self.asked = gate

    async def _command(self, keys: Keys, number: int) -> None:
        self.screen.console.print("Your comment (for instance /help, /steer …, /stop): ", end="")
        words = await self._line(keys)
        if not words:
            return
        comment = await self.people.comment(number, words)
        await asyncio.sleep(ANSWER_S / 2)
        for body in await self.people.replies(number, comment):
            self.screen.reply(body)

    async def _line(self, keys: Keys) -> str | None:
        """A line from the person; `?` when the run went on without them, since somebody used the pages."""
        typing = asyncio.create_task(keys.line())
        news = asyncio.create_task(self.records.get())
        try:
            while True:
                await asyncio.wait({typing, news}, return_when=asyncio.FIRST_COMPLETED)
                if typing.done():
                    return typing.result()
                record = news.result()
                await self._note(record)
                self.screen.console.print()
                self.screen.record(record)
                if record.type in ("event", "ended"):
                    return "?"
                news = asyncio.create_task(self.records.get())
        finally:
            typing.cancel()
            if news.done() and not news.cancelled():
                self.records.put_nowait(news.result())
            news.cancel()
