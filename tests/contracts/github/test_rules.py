"""Rules: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

import pytest

from handlers.ports import BranchRules, ChangedFile
from tests.contracts.github.scenes import BRANCH, base_of, pull_of
from tests.contracts.github.stage import Stage
from tests.fakes.github_world import Level

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(BranchRules(approvals=2), id="approvals"),
        pytest.param(BranchRules(code_owners=True), id="code owners, no number"),
        pytest.param(BranchRules(1, True, frozenset({"ci", "seconder/quality"})), id="all"),
        pytest.param(BranchRules(checks=frozenset({"ci"})), id="checks only"),
    ],
)
async def test_rules_of_a_branch(stage: Stage, rules: BranchRules) -> None:
    await stage.protect(rules)
    assert await stage.ports.rules.of_branch(stage.repo, "main") == rules


@pytest.mark.parametrize("branch", ["main", "nowhere", "feature/of one"])
async def test_without_rules(stage: Stage, branch: str) -> None:
    assert await stage.ports.rules.of_branch(stage.repo, branch) == BranchRules()


async def test_changed_files_of_a_pull_request(stage: Stage) -> None:
    pull = await pull_of(stage)
    await stage.push(BRANCH, {"new/deep.txt": "x\n", "docs/guide.md": "# Other\n"})
    await stage.push("main", {"beside.txt": "not ours\n"})
    found = await stage.ports.rules.changed(stage.repo, pull.number)
    assert sorted(file.path for file in found) == ["app.py", "docs/guide.md", "new/deep.txt"]
    assert ChangedFile("new/deep.txt") in found


async def test_files(stage: Stage) -> None:
    rules = stage.ports.rules
    before = await base_of(stage)
    await stage.push("main", {"docs/guide.md": "# Grün\n", "big.txt": "x" * 1_200_000})
    assert await rules.file(stage.repo, "main", "docs/guide.md") == "# Grün\n".encode()
    assert await rules.file(stage.repo, before, "docs/guide.md") == b"# Guide\n"
    assert await rules.file(stage.repo, "main", "big.txt") == b"x" * 1_200_000
    for nothing in ("docs", "docs/none", "CODEOWNERS"):
        assert await rules.file(stage.repo, "main", nothing) is None
    assert await rules.file(stage.empty, "main", "a") is None
    assert await rules.file(stage.repo, "nowhere", "docs/guide.md") is None


@pytest.mark.parametrize(
    ("level", "known"),
    [
        pytest.param("admin", True, id="admin"),
        pytest.param("write", True, id="write"),
        pytest.param("triage", False, id="triage"),
        pytest.param("read", False, id="read"),
        pytest.param("none", False, id="nothing in this repository"),
    ],
)
async def test_teams(stage: Stage, level: Level, known: bool) -> None:
    bob = await stage.person("bob", "read")
    await stage.team("web", level, [stage.ada, bob])
    found = await stage.ports.rules.team(stage.repo, "OCTO", "Web")
    assert (None if found is None else {one.id for one in found}) == ({stage.ada.id, bob.id} if known else None)


async def test_a_team_that_is_not_there(stage: Stage) -> None:
    assert await stage.ports.rules.team(stage.repo, "octo", "nobody") is None
    assert await stage.ports.rules.team(stage.repo, "elsewhere", "nobody") is None
