"""Pulls: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.ports import Conflicted, NewPull, Refused
from tests.contracts.github.scenes import BRANCH, base_of, pull_of
from tests.contracts.github.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_pull_request_is_opened_found_and_edited(stage: Stage) -> None:
    pulls = stage.ports.pulls
    assert not await pulls.find(stage.repo, BRANCH)
    made = await pull_of(stage)
    assert (made.title, made.body, made.state, made.draft, made.merged) == ("Fix add", "Text", "open", True, False)
    assert (made.head_ref, made.base_ref, made.head_repo_id) == (BRANCH, "main", stage.repo.id)
    assert made.head_sha == await stage.ports.repository.branch(stage.repo, BRANCH)
    assert made.merge_sha is None
    assert made.author == await stage.ports.people.bot()
    assert await pulls.find(stage.repo, BRANCH) == [made]
    await pulls.edit(stage.repo, made.number, "Add", "More")
    assert await pulls.get(stage.repo, made.number) == replace(made, title="Add", body="More")


async def test_a_second_pull_request_of_a_branch_conflicts(stage: Stage) -> None:
    await pull_of(stage)
    with pytest.raises(Conflicted):
        await stage.ports.pulls.open(stage.repo, NewPull("Again", "", BRANCH, "main"))


@pytest.mark.parametrize("head", ["seconder/nothing-new", "seconder/nowhere"])
async def test_a_pull_request_of_nothing_is_refused(stage: Stage, head: str) -> None:
    await stage.ports.repository.create_branch(stage.repo, "seconder/nothing-new", await base_of(stage))
    with pytest.raises(Refused) as refused:
        await stage.ports.pulls.open(stage.repo, NewPull("T", "", head, "main"))
    assert not isinstance(refused.value, Conflicted)


async def test_closed_ones_are_found_too_newest_first(stage: Stage) -> None:
    pulls = stage.ports.pulls
    first = await pull_of(stage)
    await pulls.close(stage.repo, first.number)
    second = await pulls.open(stage.repo, NewPull("Again", "", BRANCH, "main"))
    found = await pulls.find(stage.repo, BRANCH)
    assert [(p.number, p.state) for p in found] == [(second.number, "open"), (first.number, "closed")]


async def test_the_head_follows_the_branch(stage: Stage) -> None:
    pull = await pull_of(stage)
    sha = await stage.push(BRANCH, {"app.py": "x = 3\n"})
    assert (await stage.ports.pulls.get(stage.repo, pull.number)).head_sha == sha


async def test_ready_then_merged(stage: Stage) -> None:
    pulls, pull = stage.ports.pulls, await pull_of(stage)
    for _ in range(2):
        await pulls.mark_ready(stage.repo, pull.number)
        assert not (await pulls.get(stage.repo, pull.number)).draft
    sha = await pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add (#2)")
    assert await base_of(stage) == sha
    now = await pulls.get(stage.repo, pull.number)
    assert (now.merged, now.state, now.head_sha) == (True, "closed", pull.head_sha)
    with pytest.raises(Refused):
        await pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add (#2)")


async def test_the_merge_commit_is_known_afterwards(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    sha = await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")
    assert (await stage.ports.pulls.get(stage.repo, pull.number)).merge_sha == sha


async def test_another_head_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    await stage.push(BRANCH, {"app.py": "x = 3\n"})
    with pytest.raises(Conflicted):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")
    assert not (await stage.ports.pulls.get(stage.repo, pull.number)).merged


async def test_a_draft_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage)
    with pytest.raises(Refused):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")


async def test_what_conflicts_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    await stage.push("main", {"app.py": "def add(a, b):\n    return 5\n"})
    with pytest.raises(Refused):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")
