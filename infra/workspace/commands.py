"""Commands in the sandbox for an agent: the repository's linter, and a shell on a copy that is taken over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.ports import CommandReport, ToolError
from infra.workspace import takeover
from infra.workspace.files import Files
from infra.workspace.needs import Place
from infra.workspace.testing import Ground, cleaned


@dataclass(frozen=True)
class Workplace:
    """Where commands run: the sandbox, what tests there are given, and the work tree with its file tools.

    `copy` is where a shell's own copy goes; there is nothing yet.
    """

    sandbox: Place
    ground: Ground
    tree: Path
    files: Files
    copy: Path


async def lint(at: Workplace, words: tuple[str, ...]) -> CommandReport:
    """Run a linter on a copy of the tree. Raises `ToolError` where nothing can be run."""
    await _need(at.sandbox)
    async with _prepared(at) as (folders, _):
        result = await at.sandbox.run_tree(at.tree, words, {}, folders)
    return CommandReport(words, result.exit_code, result.reason, cleaned(result.output), result.seconds)


async def shell(at: Workplace, command: str, seconds: float) -> CommandReport:
    """Run a command on a copy of the tree, then take over what it changed.

    Raises `ToolError` where nothing can be run, and for more than a change can be: then nothing is taken over.
    """
    await _need(at.sandbox)
    at.copy.mkdir(mode=0o755)
    try:
        async with _prepared(at) as (folders, roots):
            more = "".join(f'export PYTHONPATH="$PYTHONPATH:$PWD"/{shlex.quote(root)}\n' for root in roots)
            result = await at.sandbox.run_shell(at.tree, more + command, at.copy, seconds, folders)
        if not (at.copy / "ready").is_file():
            said = " ".join(cleaned(result.output).split())[-300:]
            raise ToolError(f"the command could not be started ({result.reason}): {said}")
        found = await asyncio.to_thread(takeover.plan, at.copy / "tree", at.tree, at.files)
        await asyncio.to_thread(takeover.apply, found, at.files)
    except OSError as error:
        raise ToolError(f"the command was stopped ({error}); nothing that it wrote was taken over") from error
    finally:
        await asyncio.to_thread(_remove, at.copy)
    return CommandReport(
        ("/bin/sh", "-c", command),
        result.exit_code,
        result.reason,
        cleaned(result.output),
        result.seconds,
        tuple(found.written),
        tuple(found.deleted),
        tuple(found.left),
    )


async def _need(sandbox: Place) -> None:
    problem = await sandbox.unavailable()
    if problem is not None:
        raise ToolError(f"commands cannot be run here: {problem}")


@contextlib.asynccontextmanager
async def _prepared(at: Workplace) -> AsyncIterator[tuple[Mapping[str, Path] | None, tuple[str, ...]]]:
    """The environment of the tests, where there is one, and the folders that Python finds the code in."""
    if at.ground.prepared is None:
        yield None, ()
        return
    async with at.ground.prepared(at.tree) as given:
        yield (None, ()) if given.problem else (given.folders, tuple(given.roots))


def _remove(copy: Path) -> None:
    """Remove a directory in which anything may stand, directories that nobody may enter included."""
    for directory, names, _ in os.walk(copy):
        for name in names:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(copy, ignore_errors=True)
