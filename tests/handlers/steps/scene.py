"""A run that has come as far as a step needs it, laid out by hand."""

from __future__ import annotations

from collections.abc import Mapping

from agents.board import Code, Entry, PullRequest, Review, TestResults, Tests
from agents.ports import ModelRequest
from handlers.ports import Commit, Snapshot
from handlers.state import RunState
from handlers.steps import mark_ready, publish
from handlers.work import Work
from tests.fakes.team import Team

CHANGED = {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef total(n):\n    return sum(n)\n"}
TESTED = {"tests/test_total.py": "def test_total():\n    pass\n"}


async def snapshot(team: Team, changes: Mapping[str, str | None]) -> tuple[Snapshot, str, str]:
    """The base commit's tree with these files changed: what is fixed, its pack's digest, and the base."""
    base = (await team.facts()).base_sha
    async with team.workspaces.open(team.repo, base, None, ()) as workspace:
        for path, text in changes.items():
            await (workspace.delete(path) if text is None else workspace.write(path, text))
        fixed = await workspace.snapshot()
    return fixed, await team.store.blobs.put(fixed.pack), base


async def code(team: Team, changes: Mapping[str, str | None] = CHANGED, includes: tuple[str, ...] = ()) -> Entry:
    """What a developer wrote."""
    fixed, pack, base = await snapshot(team, changes)
    value = Code(
        summary="Add total.",
        base_sha=base,
        tree=fixed.tree,
        pack=pack,
        files=fixed.files,
        diff=fixed.diff,
        includes=includes,
    )
    return team.entry("code", value)


async def suite(team: Team, changes: Mapping[str, str | None] = TESTED) -> Entry:
    """What a tester wrote."""
    fixed, pack, base = await snapshot(team, changes)
    value = Tests(summary="Test total.", base_sha=base, tree=fixed.tree, pack=pack, files=fixed.files)
    return team.entry("tests", value, "tester")


async def results(team: Team, changes: Mapping[str, str | None] = CHANGED, parents: tuple[str, ...] = ()) -> Entry:
    """A test run that passed on a tree."""
    fixed, pack, base = await snapshot(team, changes)
    value = TestResults(
        outcome="passed", base_sha=base, tree=fixed.tree, pack=pack, files=fixed.files, diff=fixed.diff, passed=1
    )
    return team.entry("test_results", value, "run_tests", parents=parents)


async def proven(team: Team, changes: Mapping[str, str | None] = CHANGED) -> str:
    """Code and a passed test run of it are on the board; returns the tree."""
    written = await code(team, changes)
    passed = await results(team, changes, (written.id,))
    await team.put(written, passed)
    return str(passed.value["tree"])


async def end(team: Team, work: Work, commit: Commit) -> Commit:
    """Commit a step."""
    assert await team.store.tasks.commit(work.lease, commit)
    return commit


async def published(team: Team, changes: Mapping[str, str | None] = CHANGED, visit: int = 1) -> PullRequest:
    """The draft pull request is there."""
    await proven(team, changes)
    work = await team.work("publish", visit)
    await end(team, work, await publish.run(work))
    return await pull_of(team)


async def ready(team: Team) -> PullRequest:
    """The pull request is out of draft and its gate can open."""
    pull = await published(team)
    await team.put(team.entry("review", Review(approved=True, summary="Good.", tree=pull.tree), "reviewer"))
    work = await team.work("mark_ready")
    await end(team, work, await mark_ready.run(work))
    return await pull_of(team)


async def pull_of(team: Team) -> PullRequest:
    """The pull request as the board has it."""
    found = (await team.state()).board.value("pull_request", PullRequest)
    assert found is not None
    return found


def asked(team: Team, role: str) -> int:
    """How often a role's model was called."""
    return sum(name == role for name, _ in team.actors.asked)


def requests(team: Team, role: str) -> list[ModelRequest]:
    """The calls of a role's model, oldest first."""
    return [one for one, (name, _) in zip(team.model.requests, team.actors.asked, strict=True) if name == role]


def code_of(state: RunState) -> Code:
    """The code as the board has it."""
    found = state.board.value("code", Code)
    assert found is not None
    return found
