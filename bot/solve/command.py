"""The command `seconder solve`: its options become a wish, its outcome text or JSON and an exit code."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from bot.local.issue import BadIssue
from bot.local.people import StageError
from bot.settings import SettingsError
from bot.solve.asked import Asked
from bot.solve.folder import SolveError, root_of
from bot.solve.report import Report, as_json, as_text
from bot.solve.run import Waiting, Wish, begin, resume, settings_of
from bot.wiring import CannotUse

DONE, NOT_SOLVED, REFUSED, WAITING = 0, 1, 2, 3
USAGE = (
    "seconder solve takes a repository and an issue: seconder solve PATH ISSUE.md; or --resume, with a name or none."
)


async def run_command(console: Console, asked: Asked, env: Mapping[str, str]) -> int:
    """Solve, or go on solving; returns the exit code. The report goes to the console, or as JSON to standard output."""
    try:
        report = await _solved(console, asked, env)
    except (SettingsError, CannotUse, BadIssue, SolveError) as error:
        return _stopped(console, asked, REFUSED, str(error))
    except StageError as error:
        return _stopped(console, asked, NOT_SOLVED, str(error))
    except Waiting as waiting:
        return _stopped(console, asked, WAITING, str(waiting))
    if asked.as_json:
        print(json.dumps(as_json(report), indent=2, ensure_ascii=False))
    else:
        console.print()
        for line in as_text(report):
            console.print(Text(line), soft_wrap=True)
    return DONE if report.outcome == "approved" and report.branch is not None else NOT_SOLVED


async def _solved(console: Console, asked: Asked, env: Mapping[str, str]) -> Report:
    wish = Wish(settings_of(env, _checked(asked)), asked.state or root_of(env), asked.yes, asked.keep)
    if asked.resume and asked.issue is None:
        return await resume(console, wish, None if asked.path is None else str(asked.path))
    if asked.resume or asked.path is None or asked.issue is None:
        raise SolveError(USAGE)
    return await begin(console, wish, asked.path, asked.issue)


def _checked(asked: Asked) -> Mapping[str, str | None]:
    """The settings of the options, with what the settings do not check themselves. Raises `SolveError`."""
    try:
        shlex.split(asked.test_command or "")
    except ValueError as error:
        raise SolveError(f"--test-command cannot be read as words: {error}.") from None
    if asked.env is not None and not (asked.env / "bin").is_dir():
        raise SolveError(f"--env {asked.env} has no bin folder. Name a virtual environment, or a folder like one.")
    return asked.settings


def _stopped(console: Console, asked: Asked, code: int, why: str) -> int:
    """Say why there is no report."""
    if asked.as_json:
        outcome = {WAITING: "waiting", REFUSED: "refused"}.get(code, "failed")
        print(json.dumps({"outcome": outcome, "why": why}, ensure_ascii=False))
    console.print(Text(why), soft_wrap=True)
    return code
