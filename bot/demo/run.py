"""The demo's course: file the issue, show what happens, ask for the decisions or play the maintainer, end cleanly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bot.local.course import Asker, Course, StandIn, begun
from bot.local.keys import open_keys
from bot.local.people import People
from bot.local.screen import Screen
from bot.local.stage import MAINTAINER, Play, Stage, open_stage
from handlers.events import ENDINGS

PLAIN = "without isolation, the sample's tests run as a plain process"
NOBODY = f"There is no terminal to ask at, so the demo plays the maintainer ({MAINTAINER})."


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
        course = Course(stage, screen, await begun(stage))
        if sys.stdin.isatty() and console.is_terminal:
            async with open_keys() as keys:
                await course.run(Asker(keys))
        else:
            await course.run(StandIn(NOBODY))
        await _last_words(course, wish)
        last = screen.state.last(*ENDINGS)
        return 0 if course.left or (last is not None and last.name in ("run_completed", "run_cancelled")) else 1


def _headline(stage: Stage) -> str:
    model = "a script plays the model" if stage.play.script is not None else "a live model answers"
    if stage.sandbox_problem is not None and stage.own_sample:
        return f"Seconder demo, {PLAIN}: {model}, GitHub is a local one; store, git and tests are real."
    return f"Seconder demo: {model}, GitHub is a local one; store, git, sandbox and tests are real."


async def _last_words(course: Course, wish: Wish) -> None:
    screen, stage, facts = course.screen, course.stage, await course.facts()
    screen.console.print()
    screen.bill(scripted=wish.play.script is not None)
    if facts.pull is not None and wish.patch is not None:
        page = await course.people.pull(facts.pull)
        wish.patch.write_text(page.diff + "\n")
        screen.say(f"the diff is in {wish.patch}")
    summary = screen.state.board.live("summary")
    plain = f" ({PLAIN})" if stage.sandbox_problem is not None else ""
    if summary is not None and summary.value.get("merged_sha"):
        screen.say(f"merged {summary.value['merged_sha']}{plain}", "bold green")
    elif summary is not None:
        screen.say(f"ended: {summary.value['outcome']}: {summary.value['text']}{plain}", "bold")
