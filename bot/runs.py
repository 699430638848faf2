"""`seconder runs`: what the store knows of runs, and what an operator may do to one."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from bot.reports import Report
    from bot.wiring import Hub

runs_app = typer.Typer(help="Look at runs; check, stop and erase them.", no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="ID", help="The run's id, as `seconder runs list` shows it.")]
Json = Annotated[bool, typer.Option("--json", help="For scripts: JSON on standard output.")]


@runs_app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20, as_json: Json = False
) -> None:
    """List the newest runs."""
    from bot.reports import listed

    found = _in_store(lambda hub: listed(hub, limit))
    if as_json:
        _json(found)
        return
    if not found:
        _say("There are no runs yet.")
    rows = [
        {
            "id": one["id"],
            "status": one["status"],
            "issue": f"{one['repository']}#{one['issue']}" if "issue" in one else one.get("why", ""),
            "started": one.get("started", ""),
            "spent": _dollars(one.get("spent_usd")),
        }
        for one in found
    ]
    _table("", rows)


@runs_app.command()
def show(run: Id, as_json: Json = False) -> None:
    """Show a run: where it stands, its steps, entries, cost and votes."""
    from bot.reports import shown

    report = _in_store(lambda hub: shown(hub, run))
    if as_json:
        _json(report)
        return
    _say(f"{report['id']}: {report['status']}, {report['repository']}#{report['issue']}, since {report['started']}")
    _say(f"spent {_dollars(report['spent_usd'])} of {_dollars(report['budget_usd'])}, {report['records']} records")
    for name in ("waits", "pull", "branch"):
        if report[name]:
            _say(f"{name}: {report[name]}")
    if report["erased"]:
        _say("its content was erased")
    for name in ("steps", "entries", "cost", "votes"):
        _table(name, report[name])


@runs_app.command()
def rebuild(run: Id, as_json: Json = False) -> None:
    """Fold a run's log anew, compare, and store the fold as its checkpoint. Exit code 1: the log cannot be read."""
    from bot.reports import rebuilt

    report = _in_store(lambda hub: rebuilt(hub, run))
    if as_json:
        _json(report)
        return
    for line in report["differs"]:
        _say(f"differs: {line}")
    before = "" if report["checkpoint"] else "; there was no checkpoint"
    _say(f"{run}: rebuilt from {report['records']} records, {len(report['differs'])} differences{before}")


@runs_app.command()
def cancel(
    run: Id,
    reason: Annotated[str, typer.Option(help="Said in the status comment.")] = "",
    as_json: Json = False,
) -> None:
    """Stop a run, as /stop does: what it has made stays."""

    async def work(hub: Hub) -> Report:
        from bot.reports import facts_of

        words = "the operator stopped it" + (f": {reason[:500]}" if reason else "")
        done = await hub.runs.cancel(run, f"operator:{secrets.token_hex(8)}", words)
        return {"id": run, "cancelled": done, "status": (await facts_of(hub, run)).status}

    report = _in_store(work)
    if not report["cancelled"]:
        _fail(f"Run {run} is not open ({report['status']}): there is nothing to stop.")
    if as_json:
        _json(report)
    else:
        _say(f"{run}: stopped. A worker settles what was begun and ends it.")


@runs_app.command()
def purge(
    run: Id,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Erase a finished run's content: texts, code, turns. Who did what when, votes and receipts stay."""
    if not yes and not typer.confirm(f"Erase the content of {run}? It cannot be brought back."):
        raise typer.Exit(1)

    async def work(hub: Hub) -> Report:
        done = await hub.purge.purge(run)
        return {"id": run, "records": done.records, "blobs": done.blobs, "shared": done.shared}

    report = _in_store(work)
    if as_json:
        _json(report)
        return
    kept = f"; {report['shared']} stay, since other runs use them" if report["shared"] else ""
    _say(f"{run}: the content of {report['records']} records and {report['blobs']} blobs is erased{kept}")


@runs_app.command()
def verify(
    run: Id,
    head: Annotated[str, typer.Option(help="The end of the chain as it was noted elsewhere.")] = "",
    as_json: Json = False,
) -> None:
    """Check that a run's log is what was written. Exit code 1: it is not."""

    async def work(hub: Hub) -> Report:
        from bot.reports import facts_of

        await facts_of(hub, run)
        found = await hub.trail.verify(run)
        findings = [{"position": one.position, "what": one.what} for one in found.findings]
        if head and head != found.head:
            findings.append({"position": found.records, "what": f"the chain ends in {found.head}, not in {head}"})
        return {
            "id": run,
            "records": found.records,
            "erased": found.erased,
            "head": found.head,
            "findings": findings,
        }

    report = _in_store(work)
    if as_json:
        _json(report)
    else:
        for one in report["findings"]:
            _say(f"record {one['position']}: {one['what']}")
        word = "something is wrong" if report["findings"] else "nothing was changed"
        erased = f", {report['erased']} of them erased" if report["erased"] else ""
        _say(f"{run}: {report['records']} records{erased}, {word}; the chain ends in {report['head']}")
    if report["findings"]:
        raise typer.Exit(1)


def _in_store(work: Callable[[Hub], Awaitable[Any]]) -> Any:
    """What `work` finds in the store, or one line on standard error and exit code 1 (2: the settings are wrong)."""
    from bot import wiring
    from bot.reports import NoRun
    from bot.settings import SettingsError, load
    from bot.store import NoStore, open_store
    from handlers.ports import LogUnreadable

    async def inside() -> Any:
        async with open_store(load(os.environ, "doctor")) as hub:
            return await work(hub)

    try:
        return asyncio.run(inside())
    except SettingsError as error:
        _fail(str(error), 2)
    except (NoRun, LogUnreadable, NoStore, wiring.CannotPurge) as error:
        _fail(str(error).strip("'"))
    except wiring.STORE_ERRORS as error:
        _fail(f"The store cannot be reached: {error}")


def _dollars(usd: object) -> str:
    return f"${usd:.2f}" if isinstance(usd, int | float) else ""


def _json(data: object) -> None:
    print(json.dumps(data, indent=2))


def _say(text: object) -> None:
    Console(highlight=False).print(_plain(text), markup=False, soft_wrap=True)


def _table(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows as a table; nothing at all where there are none."""
    if not rows:
        return
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for name in rows[0]:
        table.add_column(name)
    for row in rows:
        table.add_row(*(_plain(value) for value in row.values()))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=200)
    console.print(table)


def _plain(value: object) -> str:
    """A value in a cell: people's texts cannot steer the terminal."""
    from handlers.messages.hidden import strip_hidden

    match value:
        case None | False:
            return ""
        case list():
            return ", ".join(str(one) for one in value)
        case float():
            return f"{value:.2f}"
        case _:
            return " ".join(strip_hidden(str(value)).split())


def _fail(text: str, code: int = 1) -> NoReturn:
    Console(stderr=True, highlight=False).print(text, markup=False, soft_wrap=True)
    raise typer.Exit(code)
