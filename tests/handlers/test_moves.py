"""The App is installed, removed, suspended; a repository moves: the open runs learn of it, told or not of the truth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from handlers.events import InstallationChanged, RepositoryMoved
from handlers.ports import Later
from tests.fakes.installations import move, suspend
from tests.fakes.team import Team


def changed(team: Team, action: str, named: bool = False) -> InstallationChanged:
    repositories = (team.repo,) if named else ()
    return InstallationChanged(
        installation=500, action=action, account="octo", sender=team.max, repositories=repositories
    )


def remove(team: Team) -> None:
    del team.world.installed[500]


def take_away(team: Team) -> None:
    team.world.repos[team.repo.id].ref = team.repo.model_copy(update={"installation": 999})


@pytest.mark.parametrize(
    ("action", "change", "why"),
    [
        pytest.param("deleted", remove, "the App was removed", id="removed"),
        pytest.param("suspend", lambda team: suspend(team.world), "the App was suspended", id="suspended"),
        pytest.param("removed", take_away, "the App may not see it any more", id="a repository taken out"),
    ],
)
async def test_an_installation_that_is_gone_ends_its_runs(
    team: Team, action: str, change: Callable[[Team], None], why: str
) -> None:
    await team.begin()
    change(team)
    await team.send(changed(team, action, named=action == "removed"))
    assert why in ((await team.state()).cancelled or "")
    assert team.world.installations.forgotten == [500]
    for _ in range(200):  # closing waits for what may be under way
        await team.idle()
        if (await team.facts()).status == "run_cancelled":
            return
        await asyncio.sleep(0.02)
    raise AssertionError((await team.facts()).status)


@pytest.mark.parametrize(
    "action", ["deleted", "suspend", "removed", "created", "unsuspend", "new_permissions_accepted"]
)
async def test_an_event_that_is_not_true_any_more_ends_nothing(team: Team, action: str) -> None:
    """It came late: the App is there again."""
    await team.begin()
    await team.send(changed(team, action, named=True))
    assert (await team.facts()).status == "open"
    assert team.world.installations.forgotten == [500]


async def test_other_installations_runs_are_left_alone(team: Team) -> None:
    await team.begin()
    team.world.calls.clear()
    record = changed(team, "deleted").model_copy(update={"installation": 77})
    await team.send(record)
    assert team.world.calls == []
    assert team.world.installations.forgotten == [77]


@pytest.mark.parametrize("action", ["renamed", "transferred"])
async def test_a_moved_repositorys_runs_go_on_under_its_new_name(team: Team, action: str) -> None:
    await team.begin()
    moved = move(team.world, team.repo, "new/name", 501 if action == "transferred" else 500)
    await team.send(RepositoryMoved(repo=moved, sender=team.max, action=action))
    assert (await team.facts()).repo == moved
    team.repo = moved
    await team.idle()
    assert "gate_opened" in await team.said()


@pytest.mark.parametrize(
    ("action", "why"),
    [pytest.param("deleted", "is gone", id="deleted"), pytest.param("archived", "was archived", id="archived")],
)
async def test_a_repository_that_is_gone_ends_its_runs(team: Team, action: str, why: str) -> None:
    await team.begin()
    if action == "deleted":
        del team.world.repos[team.repo.id]
    else:
        team.world.at(team.repo).archived = True
    await team.send(RepositoryMoved(repo=team.repo, sender=team.max, action=action))
    assert why in ((await team.state()).cancelled or "")


async def test_a_look_that_has_to_wait_is_for_another_try(team: Team) -> None:
    await team.begin()
    remove(team)
    team.world.fail("installations.all", Later("limit", 5.0))
    with pytest.raises(Later):
        await team.send(changed(team, "deleted"), "d9")
    await team.send(changed(team, "deleted"), "d9")
    assert "removed" in ((await team.state()).cancelled or "")
