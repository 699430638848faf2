"""Bodies of wrong types: every writing endpoint takes them or refuses them as GitHub would, and never breaks."""

from __future__ import annotations

from typing import Any

from infra.local_github.api import Request
from infra.local_github.auth import Actor
from infra.local_github.errors import ApiError
from infra.local_github.records import State
from infra.local_github.server import ENDPOINTS
from tests.infra.local_github.scene import Scene

WRONG: tuple[Any, ...] = (None, 7, "", "x", [], [None], ["x"], [{"x": 1}], {}, {"x": [None]}, True, 1e300)
REPO = "/repos/acme/shop"
ACTION = {"label": "a", "description": "d", "identifier": "i"}
PERSON = {"name": "n", "email": "e", "date": "2026-01-01T00:00:00Z"}
RULES: dict[str, Any] = {
    "required_status_checks": {"strict": True, "contexts": ["a"], "checks": [{"context": "b", "app_id": 1}]},
    "enforce_admins": True,
    "required_pull_request_reviews": {"required_approving_review_count": 1},
    "restrictions": None,
}


def bodies(ids: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A good body for each writing endpoint, by method and path as in the endpoint table."""
    return {**bodies_of_things(ids), **bodies_of_pulls(ids)}


def bodies_of_things(ids: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Good bodies for everything but pull requests."""
    entry = {"path": "p", "mode": "100644", "type": "blob", "content": "x"}
    output = {"title": "t", "summary": "s", "text": "x", "annotations": []}
    check: dict[str, Any] = {
        "name": "n",
        "status": "completed",
        "conclusion": "success",
        "started_at": None,
        "output": output,
    }
    check |= {"actions": [ACTION], "external_id": "e", "details_url": "u"}
    commit = {"message": "m", "tree": ids["tree"], "parents": [ids["head"]], "author": PERSON, "committer": PERSON}
    return {
        "POST /app/installations/{installation_id}/access_tokens": {
            "repository_ids": [ids["repo_id"]],
            "repositories": ["shop"],
            "permissions": {"issues": "read"},
        },
        "POST /repos/{owner}/{repo}/check-runs": check | {"head_sha": ids["head"]},
        "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": check,
        "POST /repos/{owner}/{repo}/check-runs/{check_run_id}/press": {"identifier": "i"},
        "POST /repos/{owner}/{repo}/statuses/{sha}": {"state": "success", "context": "c", "description": "d"},
        "POST /repos/{owner}/{repo}/git/refs": {"ref": "refs/heads/z", "sha": ids["head"]},
        "PATCH /repos/{owner}/{repo}/git/refs/{ref+}": {"sha": ids["head"], "force": True},
        "POST /repos/{owner}/{repo}/git/blobs": {"content": "x", "encoding": "utf-8"},
        "POST /repos/{owner}/{repo}/git/trees": {"base_tree": ids["tree"], "tree": [entry]},
        "POST /repos/{owner}/{repo}/git/commits": commit,
        "POST /repos/{owner}/{repo}/issues": {"title": "t", "body": "b", "labels": ["l"]},
        "PATCH /repos/{owner}/{repo}/issues/{number}": {
            "title": "t",
            "body": "b",
            "state": "open",
            "labels": ["l"],
            "assignees": ["ada"],
        },
        "POST /repos/{owner}/{repo}/issues/{number}/labels": {"labels": ["l"]},
        "POST /repos/{owner}/{repo}/labels": {"name": "l", "color": "c", "description": "d"},
        "POST /repos/{owner}/{repo}/issues/{number}/comments": {"body": "b"},
        "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": {"body": "b"},
        "POST /repos/{owner}/{repo}/issues/{number}/reactions": {"content": "eyes"},
        "PUT /repos/{owner}/{repo}/contents/{path+}": {
            "message": "m",
            "content": "eA==",
            "branch": "feature",
            "sha": None,
        },
        "PUT /repos/{owner}/{repo}/branches/{branch+}/protection": RULES,
        "POST /graphql": {"query": "{ node(id: $id) { id } }", "variables": {"id": "x"}},
    }


def bodies_of_pulls(ids: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Good bodies for pull requests, their reviews and remarks."""
    remark = {"path": "feature.txt", "line": 1, "start_line": None, "side": "RIGHT", "body": "b"}
    return {
        "POST /repos/{owner}/{repo}/pulls": {
            "title": "t",
            "body": "b",
            "head": "feature",
            "base": "main",
            "draft": True,
        },
        "PATCH /repos/{owner}/{repo}/pulls/{number}": {"title": "t", "body": "b", "state": "open", "base": "main"},
        "PUT /repos/{owner}/{repo}/pulls/{number}/merge": {
            "sha": "1" * 40,
            "merge_method": "merge",
            "commit_title": "t",
            "commit_message": "m",
        },
        "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers": {"reviewers": ["ada"]},
        "DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers": {"reviewers": ["ada"]},
        "POST /repos/{owner}/{repo}/pulls/{number}/reviews": {
            "event": "COMMENT",
            "body": "b",
            "commit_id": ids["head"],
            "comments": [remark],
        },
        "POST /repos/{owner}/{repo}/pulls/{number}/comments": remark | {"in_reply_to": None, "position": 1},
    }


def variants(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The body with each value, also one level down, replaced by each wrong one."""
    found = []
    for key, value in body.items():
        found += [{**body, key: wrong} for wrong in WRONG]
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            for part in inner:
                deep = [{**inner, part: wrong} for wrong in WRONG]
                found += [{**body, key: [d] if isinstance(value, list) else d} for d in deep]
    return found


async def test_wrong_types_are_refused_in_order(scene: Scene) -> None:
    world, act = scene.gh.world, scene.gh.act
    number = await scene.pull(by="ada")
    head = scene.repo.pulls[number].head_sha
    permissions = scene.installation.permissions
    bot = Actor(
        world.state.users[scene.app.bot_id], scene.app, scene.installation, frozenset([scene.repo.id]), permissions
    )
    actors = {"app": Actor(app=scene.app), "any": bot, "token": bot, "account": bot}
    comment = (await act("bob", "POST", f"{REPO}/issues/{number}/comments", {"body": "b"}))["id"]
    tree = (await act("ada", "GET", f"{REPO}/git/commits/{head}"))["tree"]["sha"]
    check = {"name": "n", "head_sha": head, "actions": [ACTION]}
    run = (await scene.gh.api.perform(bot, Request("POST", f"{REPO}/check-runs", check))).body
    assert isinstance(run, dict)
    ids = {"tree": tree, "head": head, "repo_id": scene.repo.id}
    where = {"owner": "acme", "repo": "shop", "installation_id": scene.installation.id, "check_run_id": run["id"]}
    where |= {
        "sha": head,
        "ref": "heads/feature",
        "number": number,
        "comment_id": comment,
        "path": "w",
        "branch": "main",
    }
    answered: list[tuple[int, str, dict[str, Any]]] = []
    for name, body in bodies(ids).items():
        method, path = name.split(" ")
        endpoint = next(e for e in ENDPOINTS if (e.method, e.path) == (method, path))
        for variant in variants(body):
            try:
                await scene.gh.api.perform(
                    actors[endpoint.needs.who], Request(method, path.replace("+}", "}").format(**where), variant)
                )
            except ApiError as refused:
                answered.append((refused.status, name, variant))
    assert [answer for answer in answered if not 400 <= answer[0] < 500] == []
    assert len(answered) > 500
    assert State.model_validate_json(world.state.model_dump_json()) == world.state
