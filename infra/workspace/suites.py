"""A test run as a verdict: what failed, what of it passes when it is run again, what fails on the base commit as well.

A change is blamed for the rest only. The base commit is run with the files of the failing tests, not with everything,
and what came of it is kept by commit: a suite may take long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from agents.ports import TestReport, ToolError
from infra.workspace.detect import TestCommand
from infra.workspace.failures import files_of
from infra.workspace.shelf import Shelf
from infra.workspace.testing import Ground, narrowed, run, unaimed

MAX_AGAIN = 10
SLOW_S = 60.0
_VERSION = 1

BaseTree = Callable[[], AbstractAsyncContextManager[Path]]
"""Opens the base commit's own work tree."""


@dataclass(frozen=True)
class Base:
    """The base commit of a work tree: its tree's id, how to list its files, and how to open it; the repository's id."""

    repo: int
    tree: str
    paths: Callable[[], Awaitable[frozenset[str]]]
    open: BaseTree


class Suite:
    """The tests of one work tree. What a run may take is the place's own bound, an agent's whole run also `quick_s`."""

    def __init__(self, command: TestCommand, ground: Ground, base: Base, shelf: Shelf) -> None:
        self._command = command
        self._ground = ground
        self._base = base
        self._shelf = shelf

    async def once(self, tree: Path, selection: tuple[str, ...]) -> TestReport:
        """One plain run. Raises `ToolError` for a selection that this command cannot take."""
        return await run(tree, narrowed(self._command, selection), self._ground)

    async def for_agent(self, tree: Path, is_base: bool, selection: tuple[str, ...], quick_s: float) -> TestReport:
        """A run while somebody works: the whole suite only where it is quick. Raises `ToolError`."""
        if selection:
            return await self._judged(tree, is_base, await self.once(tree, selection))
        known = self._usual_seconds()
        if known is not None and known >= quick_s:
            raise ToolError(
                f"the whole suite takes {known:,.0f} seconds or more here: select tests. All of them are run once "
                "when the work is handed in"
            )
        report = await self._whole(tree, is_base, quick_s)
        if report.reason == "timeout":
            return replace(
                report, reason=f"timeout after {report.seconds:.0f} seconds: something hangs, or select tests"
            )
        return await self._judged(tree, is_base, report)

    async def verdict(self, tree: Path, is_base: bool, first: tuple[str, ...]) -> TestReport:
        """The whole suite, once. Where it is known to be slow, `first` before it, and no more when that fails."""
        known = self._usual_seconds()
        if first and known is not None and known >= SLOW_S:
            report = await self._first(tree, is_base, first)
            if report is not None and report.outcome == "failed":
                return replace(report, reason="the new and changed tests fail, so the slow rest was not run")
        report = await self._whole(tree, is_base, None)
        if report.reason != "timeout" or is_base or not first:
            return await self._judged(tree, is_base, report)
        if (await self._on_base(())).reason != "timeout":
            return report
        part = await self._first(tree, is_base, first)
        why = f"the whole suite takes more than {report.seconds:,.0f} seconds, on the base commit as well"
        return report if part is None else replace(part, reason=f"{why}; only the new and changed tests were run")

    async def _first(self, tree: Path, is_base: bool, first: tuple[str, ...]) -> TestReport | None:
        """The selection's verdict; None where this command takes none."""
        try:
            return await self._judged(tree, is_base, await self.once(tree, first))
        except ToolError:
            return None

    async def _whole(self, tree: Path, is_base: bool, seconds: float | None) -> TestReport:
        """All tests. How long they take is noted; a run that is ended says it only where no change can have hung."""
        report = await run(tree, self._command.words, self._ground, seconds)
        if (report.reason == "exit" and report.passed) or (is_base and report.reason == "timeout"):
            self._shelf.put(report.seconds, *self._seconds_key())
        return report

    def _usual_seconds(self) -> float | None:
        found = self._shelf.get(*self._seconds_key())
        return float(found) if isinstance(found, int | float) else None

    def _seconds_key(self) -> tuple[object, ...]:
        return ("seconds", _VERSION, self._base.repo, self._command.words)

    async def _judged(self, tree: Path, is_base: bool, report: TestReport) -> TestReport:
        """A failed run, with its flaky and known failures named; see `judged`."""
        if report.outcome != "failed" or report.reason != "exit":
            return report
        if is_base:
            return replace(report, known=report.failures)
        flaky, base = await asyncio.gather(self._flaky(tree, report), self._base_report(report))
        return judged(replace(report, flaky=flaky), base)

    async def _flaky(self, tree: Path, report: TestReport) -> tuple[str, ...]:
        """The failures that pass by themselves. None where the second run does not account for each of them."""
        names = report.failures
        words = _again(self._command, names)
        if words is None or not 0 < len(names) <= MAX_AGAIN:
            return ()
        again = await run(tree, words, self._ground)
        passed = tuple(name for name in names if name not in again.failures)
        is_whole = again.reason == "exit" and again.passed == len(passed)
        return passed if is_whole and set(again.failures) <= set(names) else ()

    async def _base_report(self, report: TestReport) -> TestReport | None:
        """The same files' tests on the base commit; None where none of them is there."""
        if not report.failures or not _selects_files(self._command):
            return await self._on_base(())
        files = files_of(report.failures, await self._base.paths())
        return None if files == () else await self._on_base(files or ())

    async def _on_base(self, selection: tuple[str, ...]) -> TestReport:
        key = ("base", _VERSION, self._base.tree, self._command.words, selection, self._place())
        found = _report_of(self._shelf.get(*key))
        if found is not None:
            return found
        async with self._base.open() as tree:
            report = await (self.once(tree, selection) if selection else self._whole(tree, True, None))
        if report.outcome != "not_run":
            self._shelf.put(asdict(report), *key)
        return report

    def _place(self) -> str:
        return self._ground.sandbox.isolation


def judged(report: TestReport, base: TestReport | None) -> TestReport:
    """A failed run beside one of the base commit: failures of both are known, and with nothing else it has passed.

    A run in which nothing passed, or whose failures have no names, tells nothing where the base commit fails as well.
    """
    if base is None or base.outcome != "failed" or base.reason != "exit":
        base = TestReport("passed")
    known = tuple(name for name in report.failures if name in base.failures and name not in report.flaky)
    report = replace(report, known=known)
    if report.blamed:
        return report
    if report.failures and (report.passed or report.flaky):
        return replace(report, outcome="passed")
    if base.outcome == "failed":
        last = next((line.strip() for line in reversed(report.output.splitlines()) if line.strip()), "no output")
        return replace(report, outcome="not_run", reason=f"on the base commit they fail in the same way: {last[:200]}")
    return report


def _again(command: TestCommand, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words that run just these tests again, by the names that the runner gave them; None where there are none."""
    if any(name.startswith("-") or not name.isprintable() for name in names):
        return None
    if command.runner == "pytest" and all("::" in name for name in names):
        return (*unaimed(command), *names)
    if command.runner == "unittest" and "discover" in command.words:
        return (*command.words, *(word for name in names for word in ("-k", name)))
    return None


def _selects_files(command: TestCommand) -> bool:
    """Whether a file as a selection gives its tests the names that they have in a whole run."""
    return command.runner == "pytest" or (command.runner == "unittest" and "-t" in command.words)


def _report_of(record: object) -> TestReport | None:
    if not isinstance(record, dict):
        return None
    lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
    try:
        return TestReport(**{**record, **lists})
    except TypeError:
        return None
