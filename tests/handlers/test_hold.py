"""The label `seconder:hold` stops the team at its next step; removing it lets the team go on."""

from __future__ import annotations

from handlers.events import IssueLabeled
from tests.fakes.team import Team
from tests.handlers.test_pulls import hold


async def test_the_hold_label_stops_the_team_at_its_next_step(team: Team) -> None:
    await team.file()
    await hold(team, team.issue, True)
    await team.idle()
    assert (await team.state()).held
    before = len((await team.state()).steps)
    await team.idle()
    assert len((await team.state()).steps) == before
    assert "pr_ready" not in await team.said()
    assert any("On hold" in text for text in team.comments())
    await hold(team, team.issue, False)
    await team.idle()
    assert "pr_ready" in await team.said()


async def test_an_issue_that_is_on_hold_starts_held(team: Team) -> None:
    team.world.issue(team.repo, team.issue).labels.append("Seconder:Hold")
    await team.file()
    await team.idle()
    assert "requirements_ready" not in await team.said()


async def test_another_label_changes_nothing(team: Team) -> None:
    await team.file()
    labeled = {"number": team.issue, "label": "bug", "repo": team.repo, "sender": team.max, "author": team.rita}
    await team.send(IssueLabeled.model_validate(labeled))
    assert {"hold_set", "hold_lifted"}.isdisjoint(await team.said())


async def test_a_hold_that_was_lifted_before_its_event_came_holds_nothing(team: Team) -> None:
    await team.file()
    labeled = {"number": team.issue, "label": "seconder:hold", "repo": team.repo, "sender": team.max}
    await team.send(IssueLabeled.model_validate({**labeled, "author": team.rita}))
    assert not (await team.state()).held
