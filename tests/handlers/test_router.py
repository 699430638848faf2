"""Which event goes where, and what becomes of those that cannot be handled."""

from __future__ import annotations

import pytest

from handlers.events import FROM_GITHUB, Event, IssueCreated
from handlers.ports import Conflicted, GitHubError, Later, Missing, Refused, Unknown
from handlers.router import HANDLERS, Poison, route
from tests.fakes.team import Team


def filed(team: Team) -> Event:
    record = IssueCreated(repo=team.repo, sender=team.rita, number=team.issue, author=team.rita)
    return Event(id="d1", name=record.NAME, data=record.model_dump(mode="json"))


def test_only_events_of_github_are_handled() -> None:
    assert set(HANDLERS) <= {record.NAME for record in FROM_GITHUB}


@pytest.mark.parametrize("name", ["ci_failed", "run_started", "from_the_future", ""])
async def test_what_nobody_handles_passes_by(team: Team, name: str) -> None:
    await route(team.context, Event(id="d1", name=name, data={"anything": 1}))
    assert team.world.calls == []


@pytest.mark.parametrize("name", sorted(HANDLERS))
@pytest.mark.parametrize("data", [{}, {"repo": None}, {"repo": {"id": "x"}, "sender": 5}], ids=["empty", "null", "odd"])
async def test_a_malformed_event_is_put_aside_by_name(team: Team, name: str, data: dict[str, object]) -> None:
    with pytest.raises(Poison, match=name):
        await route(team.context, Event(id="d1", name=name, data=data))
    assert team.world.calls == []


@pytest.mark.parametrize("error", [Missing("404"), Refused("403"), Conflicted("409"), GitHubError("odd")])
async def test_what_can_never_succeed_is_put_aside(team: Team, error: GitHubError) -> None:
    team.world.fail("people.standing", error)
    with pytest.raises(Poison, match="issue_created"):
        await route(team.context, filed(team))


@pytest.mark.parametrize("error", [Later("limit", 3.0), Unknown("broken line")])
async def test_what_may_heal_is_for_another_try(team: Team, error: GitHubError) -> None:
    team.world.fail("people.standing", error)
    with pytest.raises(type(error)):
        await route(team.context, filed(team))
    await route(team.context, filed(team))
    assert await team.store.runs.find(team.repo, issue=team.issue) is not None
