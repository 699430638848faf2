from __future__ import annotations

import json

import httpx
import pytest

from handlers.ports import Conflicted, GitHubError, Later, Missing, NewPull, Refused, Unknown
from tests.infra.github.conftest import REPO, Hub

HEAD = "a" * 40


def pull(number: int = 1, **fields: object) -> dict[str, object]:
    end = {"ref": "seconder/x", "sha": HEAD, "repo": {"id": 42}}
    base = {"ref": "main", "sha": "b" * 40, "repo": {"id": 42}}
    return {"number": number, "node_id": f"PR_{number}", "state": "open", "head": end, "base": base, **fields}


def asked(hub: Hub) -> list[dict[str, object]]:
    return [json.loads(call.request.content) for call in hub.router.calls if call.request.method == "PUT"]


async def test_a_pull_request_of_nulls(hub: Hub) -> None:
    gone = {"ref": "x", "sha": HEAD, "repo": None}
    body = pull(title=None, body=None, user=None, draft=None, merged=None, head=gone, merge_commit_sha="c" * 40)
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=body)
    found = await hub.ports.pulls.get(REPO, 1)
    assert (found.title, found.body, found.draft, found.merged, found.head_repo_id) == ("", "", False, False, None)
    assert found.merge_sha is None, "before the merge that field is a trial merge"


@pytest.mark.parametrize(
    ("data", "sha"),
    [
        pytest.param({"node": {"mergeCommit": {"oid": "d" * 40}}}, "d" * 40, id="told"),
        pytest.param({"node": {"mergeCommit": None}}, None, id="not told"),
        pytest.param({"node": None}, None, id="no node"),
        pytest.param(None, None, id="no data"),
    ],
)
async def test_the_merge_commit_by_graphql(hub: Hub, data: object, sha: str | None) -> None:
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=pull(merged=True, state="closed"))
    hub.router.post("/graphql").respond(200, json={"data": data})
    assert (await hub.ports.pulls.get(REPO, 1)).merge_sha == sha


async def test_the_merge_commit_by_rest(hub: Hub) -> None:
    body = pull(merged=True, state="closed", merge_commit_sha="d" * 40)
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=body)
    assert (await hub.ports.pulls.get(REPO, 1)).merge_sha == "d" * 40


async def test_a_filter_that_github_ignores_is_applied_again(hub: Hub) -> None:
    fork = {"ref": "seconder/x", "sha": HEAD, "repo": {"id": 43}}
    gone = {"ref": "seconder/x", "sha": HEAD, "repo": None}
    other = {"ref": "seconder/y", "sha": HEAD, "repo": {"id": 42}}
    listed = [pull(1), pull(2, head=fork), pull(3, head=gone), pull(4, head=other), pull(5, state="closed")]
    route = hub.router.get("/repos/octo/app/pulls").respond(200, json=listed)
    assert [p.number for p in await hub.ports.pulls.find(REPO, "seconder/x")] == [5, 1]
    assert dict(route.calls[0].request.url.params)["head"] == "octo:seconder/x"


async def test_a_renamed_owner_does_not_hide_a_pull_request(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/pulls").respond(200, json=[])
    now = {"id": 42, "full_name": "octopus/app", "default_branch": "main"}
    hub.router.get("/repos/octo/app").respond(200, json=now)
    route = hub.router.get("/repos/octopus/app/pulls").respond(200, json=[pull(1)])
    assert [p.number for p in await hub.ports.pulls.find(REPO, "seconder/x")] == [1]
    assert dict(route.calls[0].request.url.params)["head"] == "octopus:seconder/x"


# --- Out of draft


async def test_one_that_is_no_draft_is_left_alone(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=pull(draft=False))
    route = hub.router.post("/graphql").respond(200, json={"data": {}})
    await hub.ports.pulls.mark_ready(REPO, 1)
    assert route.call_count == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param({"errors": [{"type": "NOT_FOUND", "message": "Could not resolve"}]}, Missing, id="not found"),
        pytest.param({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, Refused, id="forbidden"),
        pytest.param({"errors": [{"type": "RATE_LIMITED", "message": "slow"}]}, Later, id="limited"),
        pytest.param({"errors": [{"type": "BRAND_NEW", "message": "?"}]}, Refused, id="a type nobody knows"),
        pytest.param(
            {"errors": [{"message": "x", "extensions": {"code": "undefinedField"}}]}, Refused, id="our mistake"
        ),
        pytest.param({"data": None, "errors": [{"message": "Something went wrong"}]}, Unknown, id="their mistake"),
    ],
)
async def test_what_graphql_refuses(hub: Hub, answer: object, error: type[GitHubError]) -> None:
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=pull(draft=True))
    route = hub.router.post("/graphql").respond(200, json=answer)
    with pytest.raises(error):
        await hub.ports.pulls.mark_ready(REPO, 1)
    assert json.loads(route.calls[0].request.content)["variables"] == {"id": "PR_1"}
    assert route.calls[0].request.headers["x-github-api-version"] == "2026-03-10"


async def test_graphql_that_is_no_json(hub: Hub) -> None:
    hub.router.get("/repos/octo/app/pulls/1").respond(200, json=pull(draft=True))
    hub.router.post("/graphql").respond(200, text="<html>")
    with pytest.raises(Unknown):
        await hub.ports.pulls.mark_ready(REPO, 1)


# --- Merge


def refusal(message: str, status: int = 405) -> httpx.Response:
    return httpx.Response(status, json={"message": message})


DONE = httpx.Response(200, json={"sha": "d" * 40, "merged": True})


@pytest.mark.parametrize(
    ("answers", "methods"),
    [
        pytest.param([DONE], ["merge"], id="merge commits"),
        pytest.param(
            [refusal("Merge commits are not allowed on this repository."), DONE], ["merge", "squash"], id="squash only"
        ),
        pytest.param(
            [
                refusal("Merge commits are not allowed on this repository."),
                refusal("Squash merges are not allowed on this repository."),
                DONE,
            ],
            ["merge", "squash", "rebase"],
            id="rebase only",
        ),
    ],
)
async def test_the_first_method_that_is_allowed(hub: Hub, answers: list[httpx.Response], methods: list[str]) -> None:
    hub.router.put("/repos/octo/app/pulls/1/merge").mock(side_effect=answers)
    assert await hub.ports.pulls.merge(REPO, 1, HEAD, "T") == "d" * 40
    assert [body["merge_method"] for body in asked(hub)] == methods
    assert {str(body["sha"]) for body in asked(hub)} == {HEAD}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(refusal("Pull Request is not mergeable"), Refused, id="conflict"),
        pytest.param(refusal("At least 1 approving review is required"), Refused, id="rules"),
        pytest.param(refusal("Base branch was modified. Review and try the merge again."), Later, id="base moved"),
        pytest.param(refusal("Head branch was modified.", 409), Conflicted, id="head moved"),
        pytest.param(refusal("", 405), Refused, id="no reason"),
    ],
)
async def test_merges_that_are_refused(hub: Hub, answer: httpx.Response, error: type[GitHubError]) -> None:
    route = hub.router.put("/repos/octo/app/pulls/1/merge").mock(side_effect=[answer])
    with pytest.raises(GitHubError) as raised:
        await hub.ports.pulls.merge(REPO, 1, HEAD, "T")
    assert type(raised.value) is error
    assert route.call_count == 1


async def test_a_repository_that_allows_no_method(hub: Hub) -> None:
    answer = refusal("Merge commits are not allowed on this repository.")
    route = hub.router.put("/repos/octo/app/pulls/1/merge").mock(side_effect=[answer] * 3)
    with pytest.raises(Refused, match="allows none of merge, squash, rebase"):
        await hub.ports.pulls.merge(REPO, 1, HEAD, "T")
    assert route.call_count == 3


@pytest.mark.parametrize(
    ("said", "drafts"),
    [
        pytest.param("Draft pull requests are not supported in this repository.", [True, False], id="no drafts there"),
        pytest.param("No commits between main and seconder/x", [True], id="refused for another reason"),
    ],
)
async def test_where_there_are_no_drafts_it_is_a_plain_one(hub: Hub, said: str, drafts: list[bool]) -> None:
    route = hub.router.post("/repos/octo/app/pulls")
    refusal = {"message": "Validation Failed", "errors": [{"message": said}]}
    route.side_effect = [httpx.Response(422, json=refusal), httpx.Response(201, json=pull(draft=False))]
    opening = hub.ports.pulls.open(REPO, NewPull("A title", "", "seconder/x", "main"))
    if len(drafts) > 1:
        assert not (await opening).draft
    else:
        with pytest.raises(Refused, match="No commits"):
            await opening
    assert [json.loads(call.request.content)["draft"] for call in route.calls] == drafts
