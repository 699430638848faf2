"""The step that joins the developer's tree with the tester's tests and runs them, on a tree that is fixed before."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Literal

from agents.board import Code, Conflict, Entry, TestResults, Tests, value_of
from agents.ports import TestReport, ToolError
from agents.tools.paths import is_test_file, is_test_path
from handlers.ports import Commit, Snapshot, TreeEdit, Workspace
from handlers.steps.agent import keep
from handlers.work import Work

Standing = Literal["", "fail", "pass", "unknown"]
SHOWN = 4_000
DISPUTED = TestReport("not_run", reason="developer and tester wrote the same file differently")


async def run(work: Work) -> Commit:
    """Write `test_results` for the joined tree: passed, failed, not run, or in conflict where both wrote one file.

    In a conflict the developer's version of that file stands, and everything else of the tester's is taken over.
    Beside it the new tests run on the base commit, where they have to fail if they show anything.
    """
    code_entry = work.need("code")
    code = value_of(code_entry, Code)
    tests_entry = work.input("tests")
    parents = tuple(entry.id for entry in (code_entry, tests_entry) if entry is not None)
    edits: tuple[TreeEdit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    if tests_entry is not None and tests_entry.id not in code.includes:
        edits = await _test_files(work, tests_entry)
        conflicts = await _conflicts(work, code, edits)
    disputed = {conflict.path for conflict in conflicts}
    pack = await work.context.store.blobs.get(code.pack)
    async with work.context.workspaces.open(work.run.repo, code.base_sha, code.tree, [pack]) as workspace:
        await workspace.put([edit for edit in edits if edit.path not in disputed])
        snapshot = await workspace.snapshot()
        stored = await keep(work, snapshot.pack)
        report, on_base = DISPUTED, None
        if not conflicts:
            report, on_base = await _both(workspace, snapshot, _on_base(work, code.base_sha, snapshot))
    standing, proven = proof(report, on_base)
    result = TestResults(
        outcome="conflict" if conflicts else report.outcome,
        base_sha=code.base_sha,
        tree=snapshot.tree,
        pack=stored,
        files=snapshot.files,
        diff=snapshot.diff,
        command=report.command,
        exit_code=report.exit_code,
        reason=report.reason,
        output=report.output,
        seconds=report.seconds,
        passed=report.passed,
        failed=report.failed,
        skipped=report.skipped,
        isolation=report.isolation,
        refused=report.refused,
        blocked=report.blocked,
        conflicts=conflicts,
        includes=_included(code, tests_entry),
        failures=report.failures,
        flaky=report.flaky,
        known=report.known,
        on_base=standing,
        proven=proven,
    )
    return work.done(work.entry("test_results", result, parents))


def _included(code: Code, tests_entry: Entry | None) -> tuple[str, ...]:
    extra = () if tests_entry is None or tests_entry.id in code.includes else (tests_entry.id,)
    return (*code.includes, *extra)


async def _test_files(work: Work, entry: Entry) -> tuple[TreeEdit, ...]:
    """What the tester wrote on test paths; everything else of the tester's tree is left behind."""
    tests = value_of(entry, Tests)
    pack = await work.context.store.blobs.get(tests.pack)
    edits = await work.context.workspaces.contents(work.run.repo, tests.base_sha, tests.tree, [pack])
    return tuple(edit for edit in edits if edit.content is not None and is_test_path(edit.path))


async def _conflicts(work: Work, code: Code, edits: tuple[TreeEdit, ...]) -> tuple[Conflict, ...]:
    pack = await work.context.store.blobs.get(code.pack)
    theirs = {
        edit.path: edit
        for edit in await work.context.workspaces.contents(work.run.repo, code.base_sha, code.tree, [pack])
    }
    return tuple(
        Conflict(path=edit.path, developer=_shown(theirs[edit.path]), tester=_shown(edit))
        for edit in edits
        if edit.path in theirs and theirs[edit.path].content != edit.content
    )


def _new_tests(snapshot: Snapshot) -> tuple[str, ...]:
    """The test files that the change adds or changes."""
    return tuple(change.path for change in snapshot.files if change.status != "D" and is_test_file(change.path))


async def _both(
    workspace: Workspace, snapshot: Snapshot, looking: Coroutine[None, None, TestReport | None]
) -> tuple[TestReport, TestReport | None]:
    """The verdict on the joined tree, and beside it the look at the base commit, which ends with it in any case."""
    beside = asyncio.ensure_future(looking)
    try:
        return await workspace.run_suite(_new_tests(snapshot)), await beside
    finally:
        beside.cancel()
        await asyncio.wait({beside})


async def _on_base(work: Work, base_sha: str, snapshot: Snapshot) -> TestReport | None:
    """The new and changed tests on the base commit, with all that the change has on test paths; None without any."""
    selection = _new_tests(snapshot)
    if not selection:
        return None
    workspaces, repo = work.context.workspaces, work.run.repo
    edits = await workspaces.contents(repo, base_sha, snapshot.tree, [snapshot.pack])
    async with workspaces.open(repo, base_sha, None, ()) as workspace:
        await workspace.put([edit for edit in edits if is_test_path(edit.path)])
        try:
            return await workspace.run_once(selection)
        except ToolError as error:
            return TestReport("not_run", reason=str(error))


def proof(report: TestReport, on_base: TestReport | None) -> tuple[Standing, tuple[str, ...]]:
    """What the new tests do on the base commit, and which of them fail there and pass with the change."""
    if on_base is None or report.outcome != "passed":
        return "", ()
    if on_base.outcome == "not_run" or on_base.reason != "exit":
        return "unknown", ()
    proven = tuple(name for name in on_base.failures if name not in report.failures)
    if proven:
        return "fail", proven
    return ("pass" if on_base.outcome == "passed" else "unknown"), ()


def _shown(edit: TreeEdit) -> str:
    if edit.content is None:
        return "(deleted)"
    return edit.content.decode("utf-8", errors="replace")[:SHOWN]
