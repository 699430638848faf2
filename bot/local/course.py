"""A run from its first record to its end: everything is shown, and somebody is asked whenever the run waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from bot.local.keys import Keys
from bot.local.people import People, StageError
from bot.local.screen import Screen
from bot.local.stage import Stage
from handlers.events import ENDINGS
from handlers.ports import LogRecord, RunFacts

SETTLED_S = 0.4
START_S = 30.0
ANSWER_S = 3.0
STUCK, MONEY, QUESTIONS = "stuck", "money", "questions"
"""What a run may wait for besides a gate."""
_GOES_ON = frozenset({"gate_resolved", "gate_voided", "steered", "run_resumed"})


class Decider(Protocol):
    """Somebody who is asked when a run waits: for a gate by its name, or for `STUCK`, `MONEY` or `QUESTIONS`."""

    async def decide(self, course: Course, wanted: str, number: int) -> None:
        """Say a word on the issue or pull request `number`, or leave. Raises `StageError` when there is no way on."""
        ...


class Course:
    """Follows one run until it ends, until `over` says of a record that nothing more is wanted, or until somebody
    leaves (`left`)."""

    def __init__(
        self, stage: Stage, screen: Screen, run: str, over: Callable[[LogRecord], bool] = lambda record: False
    ) -> None:
        self.stage, self.people, self.screen, self.run_id = stage, People(stage), screen, run
        self.records: asyncio.Queue[LogRecord] = asyncio.Queue()
        self.asked: str | None = None
        self.left = False
        self.done = False
        self._over = over
        self._shown = ""

    async def run(self, decider: Decider) -> None:
        """Show everything, and ask `decider` whenever the run waits and nothing has happened for a moment."""
        following = asyncio.create_task(self._follow())
        try:
            while not self.left and not self.done:
                record = await self._next()
                if record is None:
                    await self._decide(decider)
                else:
                    self.screen.record(record)
        finally:
            following.cancel()

    async def facts(self) -> RunFacts:
        """The run's facts as they are now."""
        facts = await self.stage.hub.runs.facts(self.run_id)
        assert facts is not None
        return facts

    def approval(self, gate: str) -> str:
        """The command that says yes at a gate; where it is about a commit, it names the one that was shown."""
        named = f" {self._shown[:7]}" if gate == "security" else ""
        return f"/approve {gate}{named}"

    async def _follow(self) -> None:
        async for record in self.stage.hub.runs.follow(self.run_id, 0):
            await self.records.put(record)

    async def _next(self) -> LogRecord | None:
        """The next record; None when somebody is waited for and nothing has happened for a moment."""
        if self.asked is None:
            return self.note(await self.records.get())
        try:
            return self.note(await asyncio.wait_for(self.records.get(), SETTLED_S))
        except TimeoutError:
            return None

    def note(self, record: LogRecord) -> LogRecord:
        """Remember what the run waits for, and whether this was its end."""
        self.done = self.done or is_end(record) or self._over(record)
        name, data = str(record.data.get("name", "")), record.data.get("data")
        if record.type == "activated" and record.data.get("node") == "ask":
            self.asked = QUESTIONS
        elif record.type == "event" and name == "gate_opened" and isinstance(data, Mapping):
            self.asked = str(data["gate"])
        elif record.type == "event" and name in ("run_stuck", "run_parked"):
            self.asked = STUCK if name == "run_stuck" else MONEY
        elif record.type == "event" and name in _GOES_ON:
            self.asked = None
        return record

    async def _decide(self, decider: Decider) -> None:
        wanted, self.asked = self.asked, None
        facts = await self.facts()
        if wanted in ("security", "quality") and facts.pull is not None:
            page = await self.people.pull(facts.pull)
            if page.head != self._shown:
                self.screen.pull_request(page.title, page.url, page.diff, page.checks)
            self._shown = page.head
            if wanted == "security":
                for body in (await self.people.replies(facts.pull, 0))[-1:]:
                    self.screen.reply(body)
        await decider.decide(self, wanted or "", (facts.pull if wanted != QUESTIONS else None) or facts.issue)


def is_end(record: LogRecord) -> bool:
    """Whether a record is a run's last that matters; a declined run says why behind its ending."""
    if record.type == "event":
        return str(record.data["name"]) in ENDINGS - {"run_declined"}
    value = record.data.get("value")
    return record.data.get("kind") == "summary" and isinstance(value, Mapping) and value["outcome"] == "declined"


async def begun(stage: Stage) -> str:
    """The id of the run that the stage's issue started. Raises `StageError` when none begins."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if recent := await stage.hub.runs.recent(1):
            return recent[0]
        await asyncio.sleep(0.05)
    raise StageError("the issue was filed, but no run began: see the log above")


class StandIn:
    """Votes yes in the maintainer's name, and says so: `said` once, then each word."""

    def __init__(self, said: str) -> None:
        self._said = said

    async def decide(self, course: Course, wanted: str, number: int) -> None:
        """Approve a gate, or merge. Raises `StageError` for what a yes does not answer."""
        if wanted == STUCK:
            raise StageError("the run is stuck, and nobody is here to help it")
        if wanted == MONEY:
            raise StageError("the budget is used up, and nobody is here to raise it")
        course.screen.console.print()
        if self._said:
            course.screen.say(self._said, "bold")
            self._said = ""
        who = course.stage.play.maintainer
        words = {"merge": "/merge", QUESTIONS: ASSUME}.get(wanted, course.approval(wanted))
        if wanted == "quality":
            course.screen.say(f"{who}: approves the pull request", "bold")
            await course.people.approve(number)
        else:
            course.screen.say(f"{who}: comments {words}", "bold")
            await course.people.comment(number, words)


ASSUME = "Nobody is here to answer. Take what is most likely meant, and write down what you assumed."
_CHOICES: Mapping[str, str] = {
    "quality": "[a]pprove, [r]equest changes, ",
    "merge": "[m]erge, ",
    STUCK: "[t]ry again, ",
    MONEY: "[b]udget +5, ",
    QUESTIONS: "[w]rite the answer, ",
}
_COMMENTS: Mapping[tuple[str, str], str] = {
    ("m", "merge"): "/merge",
    ("t", STUCK): "/retry",
    ("b", MONEY): "/budget +5",
}


class Asker:
    """Asks the person at the terminal what the maintainer does."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def decide(self, course: Course, wanted: str, number: int) -> None:
        """One question, and what follows from its answer; anything else is asked again."""
        choices = _CHOICES.get(wanted, "[a]pprove, ")
        console = course.screen.console
        console.print()
        console.print(
            f"You are {course.stage.play.maintainer}: {choices}[c]omment a command, [q]uit? ", end="", markup=False
        )
        answer = (await self._line(course) or "q")[:1].lower()
        if words := _COMMENTS.get((answer, wanted)):
            await course.people.comment(number, words)
            return
        match answer, wanted:
            case "a", "quality":
                await course.people.approve(number)
            case "r", "quality":
                console.print("What should change? ", end="")
                await course.people.request_changes(number, await self._line(course) or "Please look at this again.")
            case "a", _ if wanted not in _CHOICES:
                await course.people.comment(number, course.approval(wanted))
            case "c" | "w", _:
                await self._comment(course, number)
                course.asked = course.asked or wanted
            case "q", _:
                course.left = True
            case "?", _:
                return
            case _:
                course.screen.say("That is none of the choices.", "yellow")
                course.asked = wanted

    async def _comment(self, course: Course, number: int) -> None:
        course.screen.console.print("Your comment (for instance /help, /steer …, /stop): ", end="")
        words = await self._line(course)
        if not words:
            return
        comment = await course.people.comment(number, words)
        await asyncio.sleep(ANSWER_S / 2)
        for body in await course.people.replies(number, comment):
            course.screen.reply(body)

    async def _line(self, course: Course) -> str | None:
        """A line from the person; `?` when the run went on without them, since somebody used the pages."""
        typing = asyncio.create_task(self._keys.line())
        news = asyncio.create_task(course.records.get())
        try:
            while True:
                await asyncio.wait({typing, news}, return_when=asyncio.FIRST_COMPLETED)
                if typing.done():
                    return typing.result()
                record = course.note(news.result())
                course.screen.console.print()
                course.screen.record(record)
                if record.type in ("event", "ended"):
                    return "?"
                news = asyncio.create_task(course.records.get())
        finally:
            typing.cancel()
            if news.done() and not news.cancelled():
                course.records.put_nowait(news.result())
            news.cancel()
