"""The step that joins the developer's tree with the tester's tests and runs them, on a tree that is fixed before."""

from __future__ import annotations

from agents.board import Code, Conflict, Entry, TestResults, Tests, value_of
from agents.ports import TestReport
from agents.tools.paths import is_test_path
from handlers.ports import Commit, TreeEdit
from handlers.steps.agent import keep
from handlers.work import Work

SHOWN = 4_000
DISPUTED = TestReport("not_run", reason="developer and tester wrote the same file differently")


async def run(work: Work) -> Commit:
    """Write `test_results` for the joined tree: passed, failed, not run, or in conflict where both wrote one file.

    In a conflict the developer's version of that file stands, and everything else of the tester's is taken over.
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
        for edit in edits:
            if edit.path not in disputed:
                await workspace.write(edit.path, _decoded(edit))
        snapshot = await workspace.snapshot()
        report = await workspace.run_tests(()) if not conflicts else DISPUTED
    result = TestResults(
        outcome="conflict" if conflicts else report.outcome,
        base_sha=code.base_sha,
        tree=snapshot.tree,
        pack=await keep(work, snapshot.pack),
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
        conflicts=conflicts,
        includes=_included(code, tests_entry),
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


def _decoded(edit: TreeEdit) -> str:
    return (edit.content or b"").decode("utf-8", errors="surrogateescape")


def _shown(edit: TreeEdit) -> str:
    if edit.content is None:
        return "(deleted)"
    return edit.content.decode("utf-8", errors="replace")[:SHOWN]
