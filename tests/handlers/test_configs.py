"""A repository's settings in force: read from the default branch, the last good ones kept, and what they change."""

from __future__ import annotations

import pytest

from handlers import configs
from handlers.config import PATH
from handlers.events import CommandGiven, ConfigChanged, IssueCreated, IssueLabeled
from handlers.ports import BranchRules, Refused
from handlers.router import Poison
from handlers.steps import quality, survey
from tests.fakes.team import Team
from tests.handlers.steps.scene import ready


def settings(team: Team, text: str) -> None:
    team.world.push(team.repo, "main", {PATH: text})


async def changed(team: Team) -> None:
    await team.send(ConfigChanged(repo=team.repo, sender=team.max, head="0" * 40))


async def test_the_last_good_settings_stay_in_force(team: Team) -> None:
    settings(team, "short_commands: false")
    await changed(team)
    settings(team, "short_commands: perhaps")
    found = await configs.read(team.context, team.repo, "main")
    assert not found.config.short_commands
    assert [(one.line, one.key) for one in found.problems] == [(1, "short_commands")]
    assert not (await configs.of(team.context, team.repo)).short_commands


async def test_without_good_settings_the_defaults_hold(team: Team) -> None:
    settings(team, "zebra: 1")
    assert (await configs.of(team.context, team.repo)).short_commands


async def test_a_removed_file_is_no_settings(team: Team) -> None:
    settings(team, "short_commands: false")
    assert not (await configs.read(team.context, team.repo, "main")).config.short_commands
    del team.world.at(team.repo).commits[team.world.at(team.repo).branches["main"]].files[PATH]  # type: ignore[attr-defined]
    assert (await configs.read(team.context, team.repo, "main")).config.short_commands
    assert (await configs.of(team.context, team.repo)).short_commands


async def test_settings_are_read_once_where_nothing_changed(team: Team) -> None:
    for _ in range(3):
        await configs.of(team.context, team.repo)
    assert team.world.count("rules.file") == 1


async def test_what_is_wrong_is_said_once_where_a_run_starts(team: Team) -> None:
    settings(team, "short_command: false")
    cause = await team.file()
    await team.file(cause=cause)
    [said] = [text for text in team.comments() if "seconder.yml" in text]
    assert "Did you mean `short_commands`?" in said
    assert team.run


async def test_less_money(team: Team) -> None:
    settings(team, "limits: {budget_usd: 1}")
    await team.file()
    assert (await team.facts()).budget == 1_000_000


@pytest.mark.parametrize(
    ("text", "label", "starts"),
    [
        pytest.param("triggers: {issues: false}", None, False, id="filing starts nothing"),
        pytest.param("triggers: {issues: true}", None, True, id="filing starts a run"),
        pytest.param("labels: {start: 'team: go'}", "Team: Go", True, id="its own label"),
        pytest.param("labels: {start: 'team: go'}", "seconder", False, id="not the usual label then"),
    ],
)
async def test_triggers(team: Team, text: str, label: str | None, starts: bool) -> None:
    settings(team, text)
    issue = {"repo": team.repo, "sender": team.rita, "number": team.issue, "author": team.rita}
    await team.send(IssueCreated(**issue) if label is None else IssueLabeled(**issue, label=label))
    assert (await team.store.runs.find(team.repo, issue=team.issue) is not None) == starts


@pytest.mark.parametrize(
    ("body", "answered"),
    [
        pytest.param("/help", False, id="the short form belongs to somebody else"),
        pytest.param("/seconder help", True, id="the long form"),
    ],
)
async def test_short_commands_off(team: Team, body: str, answered: bool) -> None:
    settings(team, "short_commands: false")
    record = CommandGiven(
        repo=team.repo,
        sender=team.rita,
        author=team.rita,
        number=team.issue,
        on_pull_request=False,
        where="issue",
        comment_id=team.world.add_comment(team.repo, team.issue, team.rita, body),
        body=body,
        verb="help",
        arguments="",
    )
    await team.send(record)
    assert bool(team.comments()) == answered


async def test_a_pull_request_is_judged_by_the_settings_of_the_default_branch(team: Team) -> None:
    settings(team, "gates: {quality: {approvals: 2}}")
    await team.begin()
    pull = await ready(team)
    team.world.push(team.repo, "loose", {PATH: "gates: {quality: {approvals: 1}}"})
    team.world.add_review(team.repo, pull.number, team.ann, "approved")
    assert (await quality.run(await team.work("quality"))).outcome == "parked"
    team.world.add_review(team.repo, pull.number, team.max, "approved")
    assert (await quality.run(await team.work("quality", 2))).outcome == "done"


async def test_the_branchs_rules_count_where_they_are_stricter(team: Team) -> None:
    team.world.at(team.repo).rules["main"] = BranchRules(approvals=2)
    await team.begin()
    pull = await ready(team)
    team.world.add_review(team.repo, pull.number, team.ann, "approved")
    assert (await quality.run(await team.work("quality"))).outcome == "parked"


async def test_settings_that_cannot_be_read_block_the_gate(team: Team) -> None:
    await team.begin()
    pull = await ready(team)
    team.world.add_review(team.repo, pull.number, team.ann, "approved")
    team.world.fail("rules.file", Refused("GitHub: 403"))
    commit = await quality.run(await team.work("quality"))
    assert commit.outcome == "parked"
    assert "could not be read" in str(commit.events[0].data["why"])


async def test_an_unreadable_repository_changes_nothing(team: Team) -> None:
    settings(team, "short_commands: false")
    await changed(team)
    team.world.fail("rules.file", Refused("GitHub: 403"))
    with pytest.raises(Poison):
        await changed(team)
    assert not (await configs.of(team.context, team.repo)).short_commands


async def test_hidden_files_are_on_no_map(team: Team) -> None:
    team.world.push(
        team.repo, "main", {"keys/id": "k", PATH: "paths: {never_read: [/keys/, AGENTS.md]}", "AGENTS.md": "x"}
    )
    await team.begin()
    commit = await survey.run(await team.work("survey"))
    found = commit.entries[0].value
    assert "keys/id" not in str(found["listing"])
    assert "calc.py" in str(found["listing"])
    assert "AGENTS.md" not in str(found)
