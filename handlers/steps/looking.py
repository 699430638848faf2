"""Looks a change through before it is pushed: the rules over its files, and the scanner over its Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agents.board import Findings, FoundItem, PathBlob, TestResults
from agents.tools.paths import is_test_path
from gates.rules import ChangedFile, Finding, code, examine, in_order
from handlers.ports import Scanned, Sides, Source
from handlers.work import Work


def findings_of(work: Work, tree: str) -> Findings | None:
    """What was found in a tree, None when it was never looked through."""
    for entry in reversed(work.state.entries("findings")):
        if entry.value.get("tree") == tree:
            return Findings.model_validate(entry.value)
    return None


def as_findings(found: Findings) -> tuple[Finding, ...]:
    """The board's record as the gate knows it."""
    return tuple(Finding(**item.model_dump()) for item in found.items)


async def look_through(work: Work, results: TestResults, sides: Sequence[Sides]) -> Findings:
    """Everything that is found in the change from the base commit to the tested tree."""
    changes = [_changed(one) for one in sides]
    found = await asyncio.to_thread(examine, changes)
    python = [one for one in changes if code.is_python(one) and one.added_lines]
    scanned = await work.context.scanner.scan([Source(one.path, one.new or b"") for one in python])
    every = in_order((*found, *(item for one in python for item in _scanned(one, scanned))))
    return Findings(
        base_sha=results.base_sha,
        tree=results.tree,
        items=tuple(FoundItem(**item.model_dump()) for item in every),
        blobs=tuple(PathBlob(path=one.path, blob=one.new_blob) for one in changes if not one.removed),
    )


def _changed(sides: Sides) -> ChangedFile:
    return ChangedFile(
        path=sides.path,
        old_mode=sides.old_mode,
        new_mode=sides.new_mode,
        old_blob=sides.old_oid,
        new_blob=sides.new_oid,
        old=sides.old,
        new=sides.new,
        is_test=is_test_path(sides.path),
    )


def _scanned(change: ChangedFile, scanned: Sequence[Scanned]) -> Sequence[Finding]:
    """What the scanner says of one file; a file that it does not speak of was not looked at."""
    answer = next((one for one in scanned if one.path == change.path), None)
    if answer is None:
        return [code.not_scanned(change, "the scanner said nothing about it", readable=True)]
    if answer.problem:
        return [code.not_scanned(change, answer.problem, answer.readable)]
    dangers = [code.Danger(one.line, one.last, one.test, one.severity, one.text) for one in answer.found]
    return list(code.examine(change, dangers))
