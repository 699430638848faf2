"""The few GraphQL operations that REST lacks: out of draft, into draft, node lookup, a branch's update rule.

Source: GitHub GraphQL, Mutations, `node`, `RefUpdateRule`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs, check_repo
from infra.local_github.errors import ApiError, not_found
from infra.local_github.objects_base import node_id, read_node_id
from infra.local_github.records import Json, Pull, Repo
from infra.local_github.routes_reviews import set_draft

_MUTATIONS = {"markPullRequestReadyForReview": False, "convertPullRequestToDraft": True}
_WRITE = Needs(("pull_requests",), "write", "write")
_READ = Needs(("pull_requests",))
_PUSH = Needs(("contents",), "write", "write")
_FIELD = re.compile(
    r"\b(markPullRequestReadyForReview|convertPullRequestToDraft|node)\s*\(\s*(?:input|id)\s*:\s*([^)]*)\)"
)


async def graphql(call: Call) -> Answer:
    """One operation; what cannot be done answers 200 with `errors`, as GitHub does."""
    query, variables = call.body.get("query"), call.body.get("variables") or {}
    if not isinstance(query, str) or not isinstance(variables, dict):
        return _error("INVALID", "A query attribute must be specified and must be a string.")
    if "refUpdateRule" in query:
        return _update_rule(call, variables)
    found = _FIELD.search(query)
    if found is None:
        known = ", ".join([*_MUTATIONS, "node"])
        return _error("UNSUPPORTED", f"The local GitHub's GraphQL knows only these fields: {known}.")
    field, argument = found.groups()
    wanted = _node(argument, variables)
    pull = _find(call, wanted)
    if pull is None:
        return _error("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'", [field])
    home, made = pull
    try:
        check_repo(call.world, call.actor, home, _READ if field == "node" else _WRITE)
        inner = replace(call, found_repo=home, params={"number": str(made.number)})
        if field != "node":
            await set_draft(inner, _MUTATIONS[field])
    except ApiError as refused:
        kind = "NOT_FOUND" if refused.status == 404 else "FORBIDDEN" if refused.status == 403 else "UNPROCESSABLE"
        return _error(kind, refused.message, [field])
    shown = _shown(call, home, made)
    client = re.search(r"clientMutationId\s*:\s*\"([^\"]*)\"", argument)
    data = shown if field == "node" else {"pullRequest": shown, "clientMutationId": client[1] if client else None}
    return Answer(200, {"data": {field: data}})


def _update_rule(call: Call, variables: Json) -> Answer:
    """`repository(owner:, name:) { ref(qualifiedName:) { refUpdateRule } }`, with the variables owner, name and ref."""
    repo = call.world.repo(f"{variables.get('owner')}/{variables.get('name')}")
    try:
        if repo is None:
            raise not_found()
        check_repo(call.world, call.actor, repo, _PUSH)
    except ApiError:
        return _error("NOT_FOUND", "Could not resolve to a Repository with that name.", ["repository"])
    branch = str(variables.get("ref")).removeprefix("refs/heads/")
    rules = repo.protection.get(branch)
    shown = None
    if rules is not None:
        shown = {
            "requiredApprovingReviewCount": rules.approvals if rules.approvals or rules.reviews_required else None,
            "requiresCodeOwnerReviews": rules.code_owners,
            "requiredStatusCheckContexts": [name for name, _ in rules.checks],
        }
    return Answer(200, {"data": {"repository": {"ref": {"refUpdateRule": shown}}}})


def _node(argument: str, variables: Json) -> str:
    """The node id of an argument: a literal, a variable, or an input object of either."""
    inner = re.search(r"pullRequestId\s*:\s*(\"[^\"]*\"|\$\w+)", argument)
    value = inner[1] if inner else argument.strip()
    if value.startswith("$"):
        given = variables.get(value[1:].split()[0].rstrip(",}"))
        value = given.get("pullRequestId", "") if isinstance(given, dict) else given
    return str(value).strip('"')


def _find(call: Call, node: str) -> tuple[Repo, Pull] | None:
    kind, number = read_node_id(node) or ("", 0)
    for repo in call.world.state.repos.values():
        for pull in repo.pulls.values():
            if kind == "PullRequest" and pull.id == number:
                return repo, pull
    return None


def _shown(call: Call, repo: Repo, pull: Pull) -> Json:
    issue = repo.issues[pull.number]
    state = "MERGED" if pull.merged_at else issue.state.upper()
    site = f"{call.world.base_url}/{call.world.full_name(repo)}/pull/{pull.number}"
    return {
        "__typename": "PullRequest",
        "id": node_id("PullRequest", pull.id),
        "number": pull.number,
        "title": issue.title,
        "isDraft": pull.draft,
        "state": state,
        "headRefOid": pull.head_sha,
        "url": site,
        "mergeCommit": {"oid": pull.merge_sha} if pull.merge_sha else None,
    }


def _error(kind: str, message: str, path: list[str] | None = None) -> Answer:
    error: Json = {"type": kind, "message": message}
    if path:
        error["path"] = path
    return Answer(200, {"data": {path[0]: None} if path else None, "errors": [error]})


ENDPOINTS = (Endpoint("POST", "/graphql", graphql, Needs(who="account")),)
