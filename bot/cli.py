"""The command `seconder`. Nothing heavy is imported before it is needed, so that a first line comes at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from bot.config import config_app
from bot.options import from_fields
from bot.runs import runs_app
from bot.solve.asked import Asked

app = typer.Typer(
    name="seconder",
    help="A team of agents turns a filed issue into a pull request, and people keep the last word.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
workflow_app = typer.Typer(help="Look at workflows.", no_args_is_help=True)
app.add_typer(workflow_app, name="workflow")
commands_app = typer.Typer(help="Look at the commands that people give in comments.", no_args_is_help=True)
app.add_typer(runs_app, name="runs")
app.add_typer(commands_app, name="commands")
app.add_typer(config_app, name="config")


def main() -> None:
    """Run the command line."""
    app()


@app.command()
def demo(
    repo: Annotated[Path | None, typer.Option(help="A git repository to work on, instead of the sample.")] = None,
    issue: Annotated[Path | None, typer.Option(help="A text file (the first line is the title), or a sample.")] = None,
    patch: Annotated[Path | None, typer.Option(help="Write the final diff to this file.")] = None,
    sample: Annotated[str, typer.Option(help="Which of the shipped samples to play.")] = "durations",
) -> None:
    """From a filed issue to a merge on this machine: no account, no key, no server.

    With --repo and --issue a live model works on a clone of your repository (ANTHROPIC_API_KEY, or any server that
    speaks the Messages API at ANTHROPIC_BASE_URL). Your checkout is not touched.
    """
    console = _console()
    console.print("Starting a store, a local GitHub, a model, a web process and a worker …", style="dim")
    from bot.demo.plays import PlayError, play_for
    from bot.demo.run import Wish, run_demo
    from bot.local.people import StageError
    from bot.settings import SettingsError
    from bot.wiring import CannotUse

    _quiet_logs()
    try:
        play = play_for(repo, issue, sample)
        code = _run(run_demo(console, Wish(play, dict(os.environ), patch)))
    except (PlayError, SettingsError, StageError, CannotUse) as error:
        _fail(str(error))
    raise typer.Exit(code)


@app.command()
@from_fields(Asked)
def solve(asked: Asked) -> None:
    """The team on your own repository: at the end it has one new branch, and is otherwise untouched.

    A live model works on a copy of the commit that is checked out (ANTHROPIC_API_KEY, or any server that speaks the
    Messages API at ANTHROPIC_BASE_URL). Exit code 0: approved, and the branch is there; 1: not; 2: nothing was
    started; 3: stopped in between, go on with --resume.
    """
    from bot.solve.command import run_command

    _quiet_logs()
    console = Console(stderr=True, highlight=False) if asked.as_json else _console()
    raise typer.Exit(_run(run_command(console, asked, os.environ)))


@app.command()
def up() -> None:
    """Run everything on this machine: store (unless REDIS_URL is set), web process and worker."""
    from bot.settings import load
    from bot.up import run_up

    settings = _settings(lambda: load(os.environ, "up"))
    raise typer.Exit(run_up(settings, os.environ))


@app.command()
def web() -> None:
    """Run the web process: webhook, health, pages."""
    from bot.logs import configure
    from bot.processes import run_web
    from bot.settings import load

    settings = _settings(lambda: load(os.environ, "web"))
    configure()
    _run(run_web(settings))


@app.command()
def worker() -> None:
    """Run a worker; as many as you like may share one store."""
    from bot.logs import configure
    from bot.processes import run_worker
    from bot.settings import load
    from bot.slots import NameTaken

    settings = _settings(lambda: load(os.environ, "worker"))
    configure()
    try:
        _run(run_worker(settings))
    except NameTaken as error:
        _fail(str(error), 2)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: JSON on standard output.")] = False,
) -> None:
    """Look at this machine, the store, GitHub and the model, and say what to do. Changes nothing, costs nothing."""
    from bot.doctor import as_json as in_json
    from bot.doctor import report, sound, unusable
    from bot.processes import run_doctor
    from bot.settings import SettingsError, load

    _quiet_logs()
    try:
        findings = _run(run_doctor(load(os.environ, "doctor")))
    except SettingsError as error:
        findings = unusable(error)
    typer.echo(in_json(findings) if as_json else report(findings))
    raise typer.Exit(0 if sound(findings) else 1)


@app.command("local-github")
def local_github(
    data: Annotated[Path, typer.Option(help="Where its state is kept.")] = Path(".seconder/github"),
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 3300,
    repo: Annotated[Path | None, typer.Option(help="A git repository to serve a copy of.")] = None,
    webhook: Annotated[str, typer.Option(help="Where deliveries go.")] = "http://127.0.0.1:8080/webhook",
) -> None:
    """Run the local GitHub on its own: people, an App, a repository. Prints the settings for `seconder up`."""
    from bot.processes import LocalSite, run_local_github

    console = Console(highlight=False)
    _run(run_local_github(console, LocalSite(data, port, repo, webhook)))


@app.command()
def owners(
    codeowners: Annotated[Path, typer.Option(help="The CODEOWNERS file.")],
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Paths from the repository's root.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON also on a terminal; elsewhere it always is.")] = False,
) -> None:
    """Say who owns paths by a CODEOWNERS file, as GitHub and the quality gate read it."""
    import json

    from bot.owners import in_words, owners_of

    try:
        report = owners_of(codeowners, paths)
    except OSError as error:
        _fail(f"{codeowners} cannot be read: {error.strerror}", 2)
    plain = Console().is_terminal and not as_json
    typer.echo(in_words(report) if plain else json.dumps(report, indent=2))


@commands_app.command("parse")
def commands_parse(
    short: Annotated[
        bool, typer.Option("--short/--no-short", help="Whether /verb counts beside /seconder verb.")
    ] = True,
) -> None:
    """Read a comment on standard input and print, as JSON, what it would do."""
    import json
    import sys

    from bot.comments import parsed

    typer.echo(json.dumps(parsed(sys.stdin.buffer.read(), short)))


@commands_app.callback()
def commands() -> None:
    """Keep the group, also while it has one command."""


@workflow_app.command("check")
def workflow_check(name: Annotated[str, typer.Argument(help="A shipped workflow, or a file.")]) -> None:
    """Analyse a workflow as it is done before a run; names every violation."""
    from bot.wiring import check_workflow
    from handlers.workflow import WorkflowError

    try:
        workflow = check_workflow(name)
    except (WorkflowError, OSError) as error:
        _fail(str(error))
    Console(highlight=False).print(f"{workflow.name}: {len(workflow.nodes)} nodes, nothing wrong")


def _settings(read: Any) -> Any:
    """The settings, or all that is wrong with them on standard error and exit code 2."""
    from bot.settings import SettingsError

    try:
        return read()
    except SettingsError as error:
        _fail(str(error), 2)


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine; Ctrl-C and SIGTERM end it cleanly with the customary exit code."""
    # A shell starts what it puts in the background with SIGINT ignored, and both signals would do nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _fail(text: str, code: int = 1) -> NoReturn:
    Console(stderr=True, highlight=False).print(text, markup=False, soft_wrap=True)
    raise typer.Exit(code)


def _console() -> Console:
    """A terminal as wide as it is; into a file or a pipe, lines of 150 characters."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=150)


def _quiet_logs() -> None:
    """The demo tells what happens itself; of its processes' logs only errors are shown."""
    import logging

    from bot.logs import configure

    configure(level=logging.ERROR)
