"""What GitHub asks of a pull request, where its answers are odd."""

from __future__ import annotations

import base64
import json

import pytest

from handlers.ports import BranchRules, GitHubError, Refused
from tests.infra.github.conftest import REPO, Hub

RULES = "/repos/octo/app/rules/branches/main"


def classic(hub: Hub, rule: object) -> None:
    hub.router.post("/graphql").respond(200, json={"data": {"repository": {"ref": {"refUpdateRule": rule}}}})


def ruleset(approvals: int, owners: bool) -> dict[str, object]:
    parameters = {"required_approving_review_count": approvals, "require_code_owner_review": owners}
    return {"type": "pull_request", "parameters": parameters}


CHECKS = {
    "type": "required_status_checks",
    "parameters": {"required_status_checks": [{"context": "ci", "integration_id": 7}]},
}
CLASSIC = {
    "requiredApprovingReviewCount": 3,
    "requiresCodeOwnerReviews": False,
    "requiredStatusCheckContexts": ["lint", None],
}


@pytest.mark.parametrize(
    ("rules", "rule", "expected"),
    [
        pytest.param([], None, BranchRules(), id="nothing"),
        pytest.param([ruleset(1, False), ruleset(2, True)], None, BranchRules(2, True), id="the strictest ruleset"),
        pytest.param(
            [ruleset(1, True), CHECKS], CLASSIC, BranchRules(3, True, frozenset({"ci", "lint"})), id="both together"
        ),
        pytest.param([{"type": "deletion"}, {"type": "new", "parameters": {"x": 1}}], None, BranchRules(), id="others"),
        pytest.param([], dict.fromkeys(CLASSIC), BranchRules(), id="a classic rule that asks for nothing of this"),
    ],
)
async def test_the_stricter_of_each_counts(hub: Hub, rules: object, rule: object, expected: BranchRules) -> None:
    hub.router.get(RULES).respond(200, json=rules)
    classic(hub, rule)
    assert await hub.ports.rules.of_branch(REPO, "main") == expected


async def test_a_branch_that_is_not_there_has_no_rules(hub: Hub) -> None:
    hub.router.get(RULES).respond(200, json=[])
    hub.router.post("/graphql").respond(200, json={"data": {"repository": {"ref": None}}})
    assert await hub.ports.rules.of_branch(REPO, "main") == BranchRules()


async def test_a_plan_without_rulesets_has_none(hub: Hub) -> None:
    said = "Upgrade to GitHub Pro or make this repository public to enable this feature."
    hub.router.get(RULES).respond(403, json={"message": said})
    classic(hub, CLASSIC)
    assert (await hub.ports.rules.of_branch(REPO, "main")).approvals == 3


@pytest.mark.parametrize("status", [401, 403, 422])
async def test_rules_that_may_not_be_read_are_not_no_rules(hub: Hub, status: int) -> None:
    hub.router.get(RULES).respond(status, json={"message": "Resource not accessible by integration"})
    classic(hub, None)
    with pytest.raises(Refused):
        await hub.ports.rules.of_branch(REPO, "main")


async def test_nor_is_an_odd_classic_rule(hub: Hub) -> None:
    hub.router.get(RULES).respond(200, json=[])
    classic(hub, {"requiredApprovingReviewCount": "many"})
    with pytest.raises(GitHubError):
        await hub.ports.rules.of_branch(REPO, "main")


async def test_a_large_file_comes_as_a_blob(hub: Hub) -> None:
    entry = {"type": "file", "sha": "b" * 40, "encoding": "none", "content": ""}
    hub.router.get("/repos/octo/app/contents/CODEOWNERS").respond(200, json=entry)
    blob = {"content": base64.b64encode(b"* @ada").decode(), "encoding": "base64"}
    hub.router.get(f"/repos/octo/app/git/blobs/{'b' * 40}").respond(200, json=blob)
    assert await hub.ports.rules.file(REPO, "main", "CODEOWNERS") == b"* @ada"


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param([{"type": "file", "name": "x"}], id="a folder"),
        pytest.param({"type": "submodule", "sha": "b" * 40}, id="a submodule"),
    ],
)
async def test_what_is_no_file_is_none(hub: Hub, entry: object) -> None:
    hub.router.get("/repos/octo/app/contents/docs").respond(200, content=json.dumps(entry).encode())
    assert await hub.ports.rules.file(REPO, "main", "docs") is None


async def test_a_team_that_only_reads_owns_nothing(hub: Hub) -> None:
    team = hub.router.get("/orgs/octo/teams/web/repos/octo/app")
    team.respond(200, json={"permissions": {"pull": True, "push": False}})
    assert await hub.ports.rules.team(REPO, "octo", "web") is None
    assert "repository+json" in team.calls[0].request.headers["accept"]
