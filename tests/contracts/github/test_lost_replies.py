"""Replies that never come: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

import pytest

from handlers.ports import NewPull, Unknown
from tests.contracts.github.scenes import BRANCH, base_of, check_of, new_commit
from tests.contracts.github.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_lost_reply_is_unknown_and_the_work_can_be_found(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    stage.drop_reply("issues.comment")
    with pytest.raises(Unknown):
        await stage.ports.issues.comment(stage.repo, number, "Once")
    assert [c.body for c in await stage.ports.issues.comments(stage.repo, number)] == ["Once"]


async def test_a_lost_reply_to_a_branch_and_a_pull_request(stage: Stage) -> None:
    repository, pulls = stage.ports.repository, stage.ports.pulls
    sha = await repository.commit(stage.repo, await new_commit(stage))
    stage.drop_reply("repository.create_branch")
    with pytest.raises(Unknown):
        await repository.create_branch(stage.repo, BRANCH, sha)
    assert await repository.branch(stage.repo, BRANCH) == sha
    stage.drop_reply("pulls.open")
    with pytest.raises(Unknown):
        await pulls.open(stage.repo, NewPull("T", "B", BRANCH, "main", draft=False))
    (pull,) = await pulls.find(stage.repo, BRANCH)
    stage.drop_reply("pulls.merge")
    with pytest.raises(Unknown):
        await pulls.merge(stage.repo, pull.number, sha, "T")
    assert (await pulls.get(stage.repo, pull.number)).merged


async def test_a_lost_reply_to_a_check(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    stage.drop_reply("checks.create")
    with pytest.raises(Unknown):
        await checks.create(stage.repo, state)
    assert [c.external_id for c in await checks.find(stage.repo, state.head_sha, state.name)] == ["q:1"]


async def test_a_list_may_lag(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    made = [await stage.ports.issues.comment(stage.repo, number, text) for text in ("One", "Two")]
    stage.lag("issues.comments")
    assert [c.id for c in await stage.ports.issues.comments(stage.repo, number)] == made[:1]
    assert [c.id for c in await stage.ports.issues.comments(stage.repo, number)] == made
