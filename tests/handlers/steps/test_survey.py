"""The look at the repository from which every role starts."""

from __future__ import annotations

import pytest

from agents.board import RepoMap
from handlers.ports import Missing
from handlers.steps import survey
from tests.fakes.store import RealStore
from tests.fakes.team import Team


async def mapped(team: Team) -> RepoMap:
    await team.begin()
    commit = await survey.run(await team.work("survey"))
    [entry] = commit.entries
    assert commit.events == ()
    return RepoMap.model_validate(entry.value)


async def test_the_map(calm_store: RealStore) -> None:
    team = Team(calm_store, {"AGENTS.md": "Be kind.\n", "src/a.py": "a = 1\n"})
    found = await mapped(team)
    assert found.listing == "AGENTS.md\nsrc/a.py"
    assert (found.files, found.default_branch) == (2, "main")
    assert found.base_sha == (await team.facts()).base_sha
    assert [(one.path, one.text) for one in found.guidance] == [("AGENTS.md", "Be kind.\n")]
    assert found.test_command == ("python", "-m", "pytest", "-q")


async def test_without_a_test_command_it_says_none(team: Team) -> None:
    team.workspaces.test_command = None
    assert (await mapped(team)).test_command is None


async def test_it_looks_at_the_runs_commit_and_not_at_a_newer_one(team: Team) -> None:
    await team.begin()
    team.world.push(team.repo, "main", {"newer.py": "x = 1\n"})
    commit = await survey.run(await team.work("survey"))
    assert "newer.py" not in str(commit.entries[0].value["listing"])


async def test_a_commit_that_is_gone_is_named(team: Team) -> None:
    await team.begin()
    sha = (await team.facts()).base_sha
    team.world.at(team.repo).commits.clear()
    with pytest.raises(Missing, match=sha):
        await survey.run(await team.work("survey"))


async def test_what_models_may_not_read_is_no_part_of_the_map(calm_store: RealStore) -> None:
    team = Team(calm_store, {"a.py": "a = 1\n", ".github/seconder.yml": "paths:\n  never_read: [/keys/]\n"})
    team.workspaces.outline = (("a.py", "a.py:\n  def a()"), ("keys/b.py", "keys/b.py:\n  def key()"), ("", "[2 more]"))
    assert (await mapped(team)).outline == "a.py:\n  def a()\n[2 more]"
