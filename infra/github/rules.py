"""What GitHub asks of a pull request: rules of its base branch, its files, and who owns them.

Source: GitHub REST, "Get rules for a branch", "List pull requests files", "Get repository content", "List team
members", "Check team permissions for a repository"; GitHub GraphQL, `RefUpdateRule` (classic protection, as those who
may write see it; REST shows that to administrators only).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from pydantic import ValidationError

from handlers.events import Actor, RepoRef
from handlers.ports import BranchRules, ChangedFile, Refused
from infra.github.client import GitHubClient
from infra.github.models import (
    Account,
    Blob,
    BranchRule,
    Content,
    PullFile,
    RefUpdateRule,
    TeamRepo,
    parse,
    unreadable,
)
from infra.github.wire import Call, path

METADATA = {"metadata": "read"}
CONTENTS = {"contents": "read", "metadata": "read"}
WRITER = {"contents": "write", "metadata": "read"}
PULLS = {"pull_requests": "read", "metadata": "read"}
MEMBERS = {"members": "read", "metadata": "read"}

WITH_PERMISSIONS = "application/vnd.github.v3.repository+json"
"""Without it GitHub answers only that the team may do something, not what."""

_CLASSIC = """query($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) {
      refUpdateRule { requiredApprovingReviewCount requiresCodeOwnerReviews requiredStatusCheckContexts }
    }
  }
}"""


class GitHubRules:
    """`handlers.ports.Rules` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def of_branch(self, repo: RepoRef, branch: str) -> BranchRules:
        """Rulesets and classic protection together. Raises `GitHubError`."""
        rulesets, classic = await self._rulesets(repo, branch), await self._classic(repo, branch)
        return BranchRules(
            approvals=max(rulesets.approvals, classic.approvals),
            code_owners=rulesets.code_owners or classic.code_owners,
            checks=rulesets.checks | classic.checks,
        )

    async def changed(self, repo: RepoRef, number: int) -> Sequence[ChangedFile]:
        """The files of a pull request. Raises `GitHubError`."""
        call = Call("GET", path("repos", repo.full_name, "pulls", number, "files"))
        found = await self._client.pages(repo, PULLS, call, PullFile)
        return [ChangedFile(made.filename, made.previous_filename) for made in found]

    async def file(self, repo: RepoRef, ref: str, path_in_repo: str) -> bytes | None:
        """A file's content at a commit or branch. Raises `GitHubError`."""
        call = Call("GET", path("repos", repo.full_name, "contents", path_in_repo), {"ref": ref})
        reply = await self._client.send(repo, CONTENTS, call, allow={404})
        if reply.status == 404 or reply.content.lstrip().startswith(b"["):  # a folder is a list
            return None
        found = parse(call, reply, Content)
        if found.type != "file":
            return None
        text = found.content or ""
        if found.encoding != "base64":
            call = Call("GET", path("repos", repo.full_name, "git", "blobs", found.sha))
            text = (await self._client.read(repo, CONTENTS, call, Blob)).content
        try:
            return base64.b64decode(text)
        except binascii.Error as error:
            raise unreadable(call, error) from error

    async def team(self, repo: RepoRef, organisation: str, slug: str) -> Sequence[Actor] | None:
        """A team's members, or None unless it has write on the repository. Raises `GitHubError`."""
        team = ("orgs", organisation, "teams", slug)
        call = Call("GET", path(*team, "repos", repo.full_name), accept=WITH_PERMISSIONS)
        reply = await self._client.send(repo, MEMBERS, call, allow={404})
        if reply.status == 404 or not (parse(call, reply, TeamRepo).permissions or {}).get("push"):
            return None
        found = await self._client.pages(repo, MEMBERS, Call("GET", path(*team, "members")), Account)
        return [made.actor() for made in found]

    async def _rulesets(self, repo: RepoRef, branch: str) -> BranchRules:
        call = Call("GET", path("repos", repo.full_name, "rules", "branches", branch))
        try:
            rules = await self._client.pages(repo, METADATA, call, BranchRule)
        except Refused as error:
            if "upgrade to github" in str(error).casefold():  # a private repository on a plan without rules
                return BranchRules()
            raise
        held = [rule.parameters for rule in rules if rule.parameters is not None]
        return BranchRules(
            approvals=max((one.required_approving_review_count or 0 for one in held), default=0),
            code_owners=any(one.require_code_owner_review for one in held),
            checks=frozenset(check.context for one in held for check in one.required_status_checks),
        )

    async def _classic(self, repo: RepoRef, branch: str) -> BranchRules:
        owner, _, name = repo.full_name.partition("/")
        asked = {"owner": owner, "name": name, "ref": f"refs/heads/{branch}"}
        data = await self._client.graphql(repo, WRITER, _CLASSIC, asked)
        found = data.get("repository")
        for key in ("ref", "refUpdateRule"):
            found = found.get(key) if isinstance(found, dict) else None
        if found is None:
            return BranchRules()
        call = Call("POST", "/graphql", harmless=True)
        try:
            rule = RefUpdateRule.model_validate_json(json.dumps(found))
        except ValidationError as error:
            raise unreadable(call, error) from error
        return BranchRules(
            approvals=rule.required_approving_review_count or 0,
            code_owners=bool(rule.requires_code_owner_reviews),
            checks=frozenset(context for context in rule.required_status_check_contexts or () if context),
        )
