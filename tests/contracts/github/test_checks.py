"""Checks: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.ports import Missing, Refused
from tests.contracts.github.scenes import base_of, check_of
from tests.contracts.github.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_check_is_made_found_and_updated(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    assert not await checks.find(stage.repo, state.head_sha, state.name)
    made = await checks.create(stage.repo, state)
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.id, found.name, found.head_sha, found.external_id) == (made, state.name, state.head_sha, "q:1")
    assert (found.status, found.conclusion, found.title) == ("completed", "action_required", "Waits")
    await checks.update(stage.repo, made, replace(state, external_id="q:2", conclusion="success", title="Passed"))
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.external_id, found.conclusion, found.title) == ("q:2", "success", "Passed")
    await checks.update(stage.repo, made, replace(state, conclusion=None, buttons=()))
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.status, found.conclusion) == ("in_progress", None)


async def test_checks_of_one_name_come_newest_first(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    made = [await checks.create(stage.repo, state) for _ in range(2)]
    await checks.create(stage.repo, replace(state, name="seconder/cost"))
    assert [c.id for c in await checks.find(stage.repo, state.head_sha, state.name)] == made[::-1]


async def test_a_check_on_an_unknown_commit_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused):
        await stage.ports.checks.create(stage.repo, check_of("1" * 40))


async def test_an_unknown_check_is_missing(stage: Stage) -> None:
    with pytest.raises(Missing):
        await stage.ports.checks.update(stage.repo, 999_999, check_of(await base_of(stage)))
