"""The course of a solve: look, copy, file the issue, follow the team, bring the branch over, say what it came to."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from agents.board import Review, TestResults
from bot import wiring
from bot.local.course import Asker, Course, StandIn, begun
from bot.local.issue import read_issue
from bot.local.keys import open_keys
from bot.local.people import People, StageError
from bot.local.screen import Screen
from bot.local.stage import Play, Stage, full_name_of, open_stage_in
from bot.settings import load
from bot.solve.folder import Folder, Order, SolveError, new_folder, pick
from bot.solve.report import Report, outcome_of, spent_of
from handlers.ports import LogRecord
from handlers.state import RunState

PEOPLE = ("requester", "maintainer")
YES = "--yes: every vote is yes, in the maintainer's name. Read the change before you merge it."
NOBODY = (
    "A solve asks you to decide when the pull request is ready, and there is no terminal to ask at. Run it in one, or "
    "add --yes: then every vote is yes and is marked as such. Nothing was started."
)
HEARD_S = 20.0
PREFIXES = ("SECONDER_", "ANTHROPIC_")


@dataclass(frozen=True)
class Wish:
    """How a solve is to be run. `env` holds the settings, options included; `root` is where it is kept until it has
    ended; with `yes` nobody is asked; `keep` leaves the folder also at the end."""

    env: Mapping[str, str]
    root: Path
    yes: bool = False
    keep: bool = False


class Waiting(Exception):
    """The solve stopped before its end and can go on; the text says why and how."""

    def __init__(self, folder: Folder, why: str) -> None:
        super().__init__(f"{why}\nGo on with: seconder solve --resume {folder.name}   (kept in {folder.path})")


def settings_of(env: Mapping[str, str], options: Mapping[str, str | None]) -> dict[str, str]:
    """The environment's settings with the command's options over them. An endpoint of one's own needs no key.

    Raises `SettingsError` with everything that is wrong, before anything is started.
    """
    found = {name: value for name, value in env.items() if name.startswith(PREFIXES)}
    found |= {name: value for name, value in options.items() if value is not None}
    if found.get("ANTHROPIC_BASE_URL") and not found.get("ANTHROPIC_API_KEY"):
        found["ANTHROPIC_API_KEY"] = "none"
    load(found, "solve")
    return found


def can_decide(console: Console, yes: bool) -> None:
    """Raises `SolveError` when votes will be needed and nobody can be asked."""
    if not yes and not (sys.stdin.isatty() and console.is_terminal):
        raise SolveError(NOBODY)


async def begin(console: Console, wish: Wish, path: Path, issue: Path) -> Report:
    """Solve an issue from its beginning. Raises `CannotUse`, `BadIssue`, `SolveError`, `StageError` or `Waiting`."""
    text = read_issue(issue)
    wish.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    checkouts = wiring.Checkouts(wish.root / ".git-home")
    checkout = await checkouts.look(path)
    can_decide(console, wish.yes)
    changes = await checkouts.changes(checkout)
    place = checkout.top or checkout.git_dir
    options = {name: value for name, value in wish.env.items() if name.startswith("SECONDER_")}
    order = Order(
        repository=place, title=text.title, body=text.body, base=checkout.base, head=checkout.head, settings=options
    )
    folder = new_folder(wish.root, checkout.name)
    folder.write(order)
    _introduce(Screen(console), folder, order, changes)
    return await _Solve(console, wish, folder, checkouts).run()


async def resume(console: Console, wish: Wish, name: str | None) -> Report:
    """Go on with an unfinished solve. Raises what `begin` raises."""
    folder = pick(wish.root, name)
    order = folder.read()
    checkouts = wiring.Checkouts(wish.root / ".git-home")
    await checkouts.look(order.repository)
    can_decide(console, wish.yes)
    Screen(console).say(f"{folder.name} goes on: {order.title}  ({order.repository})", "bold")
    return await _Solve(console, replace(wish, env={**order.settings, **wish.env}), folder, checkouts).run()


def _introduce(screen: Screen, folder: Folder, order: Order, changes: wiring.Changes | None) -> None:
    screen.say(f"Seconder solves: {order.title}", "bold")
    screen.say(f"{order.repository} at {order.base} ({order.head[:12]}); the team works on a copy of that commit")
    if changes is None:
        screen.say("Whether there are uncommitted changes could not be told: if so, they are left alone.", "yellow")
    elif changes.changed or changes.untracked:
        found = f"{changes.changed} changed and {changes.untracked} untracked files"
        screen.say(f"Uncommitted changes ({found}) are left alone, and the team does not see them.", "yellow")
    screen.say(f"kept until it ends in {folder.path}", "dim")


class _Solve:
    """One solve, from wherever it stands to its report."""

    def __init__(self, console: Console, wish: Wish, folder: Folder, checkouts: wiring.Checkouts) -> None:
        self._wish, self._folder, self._checkouts = wish, folder, checkouts
        self._screen = Screen(console)
        self._keep = wish.keep

    async def run(self) -> Report:
        """The report; the folder is gone then, unless the branch could not be brought over or it was to be kept."""
        with self._folder.held():
            order = self._folder.read()
            if not order.run:
                await asyncio.to_thread(shutil.rmtree, self._folder.data, ignore_errors=True)
            self._folder.data.mkdir(exist_ok=True, mode=0o700)
            name = full_name_of(order.repository.name)
            play = Play(order.repository, True, name, order.title, order.body, None, PEOPLE, linked=False)
            try:
                async with open_stage_in(self._folder.data, play, self._wish.env) as stage:
                    report = await self._followed(stage, order)
            except asyncio.CancelledError:
                self._screen.say(str(Waiting(self._folder, "\nInterrupted; what was done is kept.")), "yellow")
                raise
            if not self._keep:
                await asyncio.to_thread(self._folder.remove)
            return report

    async def _followed(self, stage: Stage, order: Order) -> Report:
        if stage.sandbox_problem is not None:
            await asyncio.to_thread(self._folder.remove)
            raise SolveError(f"Tests cannot be kept apart on this machine. {stage.sandbox_problem}")
        people = People(stage)
        number, url = await people.issue() or await people.file_issue()
        self._screen.say(f"\nissue #{number}  {order.title}")
        self._screen.say(f"          {url}\n", "underline")
        run = order.run or await begun(stage)
        self._folder.write(order.model_copy(update={"run": run}))
        course = Course(stage, self._screen, run, over=_approved)
        try:
            if order.run:
                await _nudge(course, number, load(self._wish.env, "solve").budget)
            await self._decided(course)
        except StageError as error:
            raise Waiting(self._folder, f"Stopped: {error}.") from None
        if course.left:
            raise Waiting(self._folder, "Stopped at your word; what was done is kept.")
        return await self._report(course, order)

    async def _decided(self, course: Course) -> None:
        if self._wish.yes:
            await course.run(StandIn(YES))
        else:
            async with open_keys() as keys:
                await course.run(Asker(keys))

    async def _report(self, course: Course, order: Order) -> Report:
        """What it came to, with the branch in the person's repository where there is one."""
        facts, board, stage = await course.facts(), self._screen.state.board, course.stage
        outcome, why = outcome_of(self._screen.state)
        report = Report(
            outcome=outcome,
            why=why,
            name=self._folder.name,
            repository=str(order.repository),
            base=facts.base_sha,
            review=board.value("review", Review),
            tests=board.value("test_results", TestResults),
            decided_by="--yes" if self._wish.yes else "a person",
            seconds=round(time.time() - facts.started_at / 1000, 1),
            roles=spent_of(self._screen.state.bills),
        )
        if facts.pull is None or facts.branch is None:
            return report
        page = await course.people.pull(facts.pull)
        repo = stage.github.world.repo(stage.play.full_name)
        assert repo is not None
        source = stage.github.world.git.path(repo.id)
        try:
            checkout = await self._checkouts.look(order.repository)
            new = wiring.NewBranch(source, facts.branch, page.head, facts.base_sha)
            branch = await self._checkouts.take(checkout, new)
        except wiring.CannotUse as error:
            self._keep = True
            why = f"{error}\nIt can be fetched: git fetch {source} {facts.branch}:{facts.branch}"
            return replace(report, why=why, pull=page, head=page.head)
        return replace(report, pull=page, head=page.head, branch=branch)


def _approved(record: LogRecord) -> bool:
    """Whether a person has approved the pull request: merging it is for the person, in the repository itself."""
    data = record.data.get("data")
    resolved = record.type == "event" and record.data.get("name") == "gate_resolved"
    return resolved and isinstance(data, Mapping) and data.get("gate") == "quality"


async def _nudge(course: Course, number: int, budget: int) -> None:
    """Resuming is a wish to go on: a raised budget is told to the run, and a stuck step is tried again."""
    more = budget - (await course.facts()).budget
    if more > 0:
        await _heard(course, number, f"/budget +{more / 1_000_000:.6f}")
    state = RunState().feed(await course.stage.hub.runs.read(course.run_id, 0))
    if any(node.failed for node in state.nodes.values()):
        await _heard(course, number, "/retry")


async def _heard(course: Course, number: int, words: str) -> None:
    """Comment as the maintainer and wait until the run has taken it up. Raises `StageError` when it does not."""
    before = (await course.facts()).length
    comment = await course.people.comment(number, words)
    until = time.monotonic() + HEARD_S
    while time.monotonic() < until:
        records = await course.stage.hub.runs.read(course.run_id, before)
        if any(record.data.get("name") == "run_resumed" for record in records):
            return
        if replies := await course.people.replies(number, comment):
            raise StageError(f"{words} was answered: {replies[0]}")
        await asyncio.sleep(0.1)
    raise StageError(f"{words} was not taken up within {HEARD_S:g} s")
