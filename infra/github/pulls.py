"""Pull requests.

Source: GitHub REST, "Pull requests"; GitHub GraphQL, `markPullRequestReadyForReview`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handlers.events import RepoRef
from handlers.ports import Later, NewPull, PullFacts, Refused
from infra.github.client import GitHubClient
from infra.github.issues import fitting
from infra.github.models import Merged, Pull, Repo, actor_of, parse
from infra.github.wire import Call, Reply, path

READ = {"pull_requests": "read", "metadata": "read"}
WRITE = {"pull_requests": "write", "contents": "read", "metadata": "read"}
MERGE = {"pull_requests": "write", "contents": "write", "metadata": "read"}
"""Merging moves a branch; taking a pull request out of draft is known to ask for the same."""

TITLE_LIMIT = 256
NO_DRAFTS = "draft pull requests are not supported"
MERGE_METHODS = ("merge", "squash", "rebase")
BASE_MOVED_S = 5.0

_READY = """mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}"""
_MERGE_COMMIT = """query($id: ID!) { node(id: $id) { ... on PullRequest { mergeCommit { oid } } } }"""


class GitHubPulls:
    """`handlers.ports.Pulls` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def get(self, repo: RepoRef, number: int) -> PullFacts:
        """Raises `GitHubError`."""
        return await self._with_merge_sha(repo, await self._read(repo, number))

    async def find(self, repo: RepoRef, head: str) -> Sequence[PullFacts]:
        """All pull requests of this branch, newest first. Raises `GitHubError`."""
        found = await self._of_branch(repo, repo.full_name, head)
        if not found:
            # The filter needs the owner's name of today: under an old one GitHub finds nothing and says so politely.
            call = Call("GET", path("repos", repo.full_name))
            now = await self._client.read(repo, READ, call, Repo)
            if now.full_name.casefold() != repo.full_name.casefold():
                found = await self._of_branch(repo, now.full_name, head)
        return [await self._with_merge_sha(repo, _facts(made)) for made in found]

    async def open(self, repo: RepoRef, new: NewPull) -> PullFacts:
        """Open it, plainly where the repository has no drafts.

        Raises `Conflicted` when the branch has an open pull request, `Refused` when there is nothing to merge.
        """
        body = {
            "title": fitting("the pull request's title", new.title, TITLE_LIMIT),
            "body": fitting("the pull request's text", new.body),
            "head": new.head,
            "base": new.base,
            "draft": new.draft,
        }
        where = path("repos", repo.full_name, "pulls")
        try:
            return _facts(await self._client.read(repo, WRITE, Call("POST", where, json=body), Pull))
        except Refused as error:
            # Private repositories of some plans have none (GitHub Docs: About pull requests, "Draft pull requests").
            if not new.draft or NO_DRAFTS not in str(error).casefold():
                raise
        plain = Call("POST", where, json={**body, "draft": False})
        return _facts(await self._client.read(repo, WRITE, plain, Pull))

    async def edit(self, repo: RepoRef, number: int, title: str, body: str) -> None:
        """Raises `GitHubError`."""
        text = fitting("the pull request's text", body)
        changed = {"title": fitting("the pull request's title", title, TITLE_LIMIT), "body": text}
        await self._client.send(repo, WRITE, Call("PATCH", self._path(repo, number), json=changed))

    async def mark_ready(self, repo: RepoRef, number: int) -> None:
        """Take it out of draft, which only GraphQL can. Raises `GitHubError`."""
        pull = await self._read(repo, number)
        if pull.draft:
            await self._client.graphql(repo, MERGE, _READY, {"id": pull.node_id})

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        """Merge by the first method that the repository allows; returns the SHA that the base branch is at.

        Raises `Conflicted` when the head is another one or does not merge, `Refused` when rules forbid it,
        `Unknown` when it may have happened: read before repeating.
        """
        for method in MERGE_METHODS:
            body = {"sha": head_sha, "commit_title": title, "merge_method": method}
            call = Call("PUT", f"{self._path(repo, number)}/merge", json=body)
            reply = await self._client.send(repo, MERGE, call, allow={405})
            if reply.status != 405:
                return parse(call, reply, Merged).sha
            said = f"GitHub: {call}: 405 {reply.text}"
            if "base branch was modified" in reply.text.casefold():
                raise Later(said, BASE_MOVED_S)
            if not _method_forbidden(reply):
                raise Refused(said)
        raise Refused(f"{said}: the repository allows none of {', '.join(MERGE_METHODS)}")

    async def close(self, repo: RepoRef, number: int) -> None:
        """Raises `GitHubError`."""
        await self._client.send(repo, WRITE, Call("PATCH", self._path(repo, number), json={"state": "closed"}))

    def _path(self, repo: RepoRef, number: int) -> str:
        return path("repos", repo.full_name, "pulls", number)

    async def _read(self, repo: RepoRef, number: int) -> PullFacts:
        return _facts(await self._client.read(repo, READ, Call("GET", self._path(repo, number)), Pull))

    async def _of_branch(self, repo: RepoRef, full_name: str, head: str) -> list[Pull]:
        owner = full_name.partition("/")[0]
        query = {"head": f"{owner}:{head}", "state": "all", "sort": "created", "direction": "desc"}
        call = Call("GET", path("repos", full_name, "pulls"), query)
        found = await self._client.pages(repo, READ, call, Pull)
        # GitHub ignores a filter that it does not understand and lists everything.
        ours = [made for made in found if made.head.ref == head and made.head.repo and made.head.repo.id == repo.id]
        return sorted(ours, key=lambda made: made.number, reverse=True)

    async def _with_merge_sha(self, repo: RepoRef, pull: PullFacts) -> PullFacts:
        """API version 2026-03-10 leaves `merge_commit_sha` out of REST; GraphQL still tells."""
        if not pull.merged or pull.merge_sha:
            return pull
        data = await self._client.graphql(repo, READ, _MERGE_COMMIT, {"id": pull.node_id})
        node = data.get("node")
        commit = node.get("mergeCommit") if isinstance(node, dict) else None
        sha = commit.get("oid") if isinstance(commit, dict) else None
        return replace(pull, merge_sha=sha if isinstance(sha, str) else None)


def _method_forbidden(reply: Reply) -> bool:
    text = reply.text.casefold()
    return "not allowed on this repository" in text and ("merge" in text or "commits" in text)


def _facts(made: Pull) -> PullFacts:
    merged = bool(made.merged or made.merged_at)
    return PullFacts(
        number=made.number,
        url=made.html_url,
        title=made.title or "",
        body=made.body or "",
        state=made.state.lower(),
        draft=bool(made.draft),
        merged=merged,
        # Before the merge the field holds a trial merge's commit, which is on no branch.
        merge_sha=made.merge_commit_sha if merged else None,
        head_sha=made.head.sha,
        head_ref=made.head.ref,
        head_repo_id=made.head.repo.id if made.head.repo else None,
        base_ref=made.base.ref,
        author=actor_of(made.user),
        node_id=made.node_id,
    )
