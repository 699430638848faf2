"""Reviews of pull requests.

Source: GitHub REST, "Pull request reviews", "Pull request review comments", "Review requests".
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from handlers.events import RepoRef
from handlers.ports import LineComment, Refused, ReviewFacts
from infra.github.client import GitHubClient
from infra.github.issues import fitting
from infra.github.models import Created, Requested, Review, ReviewLine, millis
from infra.github.wire import Call, log, path

READ = {"pull_requests": "read", "metadata": "read"}
WRITE = {"pull_requests": "write", "metadata": "read"}


class GitHubReviews:
    """`handlers.ports.Reviews` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def list(self, repo: RepoRef, number: int) -> Sequence[ReviewFacts]:
        """All reviews, every page, oldest first. Raises `GitHubError`."""
        found = await self._client.pages(repo, READ, Call("GET", _path(repo, number, "reviews")), Review)
        return [_review(made) for made in sorted(found, key=lambda made: (millis(made.submitted_at), made.id))]

    async def line_comments(self, repo: RepoRef, number: int) -> Sequence[LineComment]:
        """All line comments, every page, oldest first. Raises `GitHubError`."""
        found = await self._client.pages(repo, READ, Call("GET", _path(repo, number, "comments")), ReviewLine)
        return [_line(made) for made in sorted(found, key=lambda made: made.id)]

    async def post(self, repo: RepoRef, number: int, head_sha: str, body: str, comments: Sequence[LineComment]) -> int:
        """One COMMENT review of `head_sha`; returns its id. Raises `Refused` for a line outside the diff."""
        lines = [_new_line(comment) for comment in comments]
        review = {"commit_id": head_sha, "event": "COMMENT", "body": fitting("the review", body), "comments": lines}
        call = Call("POST", _path(repo, number, "reviews"), json=review)
        return (await self._client.read(repo, WRITE, call, Created)).id

    async def request(self, repo: RepoRef, number: int, logins: Sequence[str]) -> None:
        """Ask people for a review. Those who cannot be asked are left out, and logged. Raises `GitHubError`.

        GitHub refuses the whole list for one such person, so it is then asked for each alone.
        """
        groups = [tuple(logins)] if logins else []
        while groups:
            group = groups.pop()
            call = Call("POST", _path(repo, number, "requested_reviewers"), json={"reviewers": builtins.list(group)})
            reply = await self._client.send(repo, WRITE, call, allow={422})
            if reply.status == 422 and len(group) > 1:
                groups.extend((login,) for login in reversed(group))
            elif reply.status == 422:
                log.warning("review_not_requested", pull=number, login=group[0], said=reply.text)

    async def requested(self, repo: RepoRef, number: int) -> Sequence[str]:
        """The logins of people who were asked and have not reviewed since. Raises `GitHubError`."""
        call = Call("GET", _path(repo, number, "requested_reviewers"))
        return [user.login for user in (await self._client.read(repo, READ, call, Requested)).users]


def _path(repo: RepoRef, number: int, what: str) -> str:
    return path("repos", repo.full_name, "pulls", number, what)


def _new_line(comment: LineComment) -> dict[str, object]:
    if comment.line is None:
        raise Refused(f"a review comment on {comment.path} names no line: put it into the review's text")
    body = fitting(f"the comment on {comment.path}:{comment.line}", comment.body)
    return {"path": comment.path, "line": comment.line, "side": "RIGHT", "body": body}


def _review(made: Review) -> ReviewFacts:
    return ReviewFacts(
        id=made.id,
        state=made.state.lower(),
        body=made.body or "",
        commit=made.commit_id or None,
        author=made.user.actor() if made.user else None,
        url=made.html_url,
        submitted_at=millis(made.submitted_at),
    )


def _line(made: ReviewLine) -> LineComment:
    return LineComment(
        id=made.id,
        review_id=made.pull_request_review_id,
        path=made.path,
        line=made.line,
        body=made.body or "",
        author=made.user.actor() if made.user else None,
    )
