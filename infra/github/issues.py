"""Issues and their comments.

Source: GitHub REST, "Issues", "Issue comments" and "Reactions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from handlers.events import RepoRef
from handlers.ports import CommentFacts, IssueFacts, Refused
from infra.github.client import GitHubClient
from infra.github.models import Comment, Created, Issue, Label, actor_of, millis
from infra.github.wire import Call, path

READ = {"issues": "read", "pull_requests": "read", "metadata": "read"}
WRITE = {"issues": "write", "pull_requests": "write", "metadata": "read"}
"""A pull request's thread is an issue's, but GitHub looks at the permission for pull requests."""

BODY_LIMIT = 65_536


def fitting(what: str, body: str, limit: int = BODY_LIMIT) -> str:
    """The text itself. Raises `Refused` when GitHub would not take it; nothing is cut here, since the cutter must know
    where a hidden marker or a code fence stands."""
    if len(body) > limit:
        raise Refused(f"{what} has {len(body)} characters; GitHub takes {limit}: shorten it")
    return body


class GitHubIssues:
    """`handlers.ports.Issues` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def get(self, repo: RepoRef, number: int) -> IssueFacts:
        """Raises `Missing` (also for a deleted or transferred issue) and other `GitHubError`s."""
        call = Call("GET", path("repos", repo.full_name, "issues", number))
        return _issue(await self._client.read(repo, READ, call, Issue))

    async def comments(self, repo: RepoRef, number: int) -> Sequence[CommentFacts]:
        """All comments, every page, oldest first. Raises `GitHubError`."""
        call = Call("GET", path("repos", repo.full_name, "issues", number, "comments"))
        found = await self._client.pages(repo, READ, call, Comment)
        return [await self._comment(made) for made in sorted(found, key=lambda made: made.id)]

    async def comment(self, repo: RepoRef, number: int, body: str) -> int:
        """Post a comment; returns its id. Raises `GitHubError`, `Unknown` when it may have been posted."""
        text = fitting("the comment", body)
        call = Call("POST", path("repos", repo.full_name, "issues", number, "comments"), json={"body": text})
        return (await self._client.read(repo, WRITE, call, Created)).id

    async def edit_comment(self, repo: RepoRef, comment_id: int, body: str) -> None:
        """Raises `Missing` when the comment is gone."""
        text = fitting("the comment", body)
        call = Call("PATCH", path("repos", repo.full_name, "issues", "comments", comment_id), json={"body": text})
        await self._client.send(repo, WRITE, call)

    async def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
        """Raises `Missing` when the comment is gone."""
        call = Call("DELETE", path("repos", repo.full_name, "issues", "comments", comment_id))
        await self._client.send(repo, WRITE, call)

    async def react(self, repo: RepoRef, subject: Literal["issue", "comment"], number: int, content: str) -> None:
        """Add a reaction; GitHub answers the existing one when it is there already."""
        where = ("issues", "comments", number) if subject == "comment" else ("issues", number)
        call = Call("POST", path("repos", repo.full_name, *where, "reactions"), json={"content": content})
        await self._client.send(repo, WRITE, call)

    async def _comment(self, made: Comment) -> CommentFacts:
        return CommentFacts(
            id=made.id,
            body=made.body or "",
            author=actor_of(made.user),
            url=made.html_url,
            by_us=await self._by_us(made),
            created_at=millis(made.created_at),
            updated_at=millis(made.updated_at),
        )

    async def _by_us(self, made: Comment) -> bool:
        via = made.performed_via_github_app
        if via is not None and via.id is not None:
            return via.id == self._client.app_id
        if made.user is None or made.user.type != "Bot":
            return False
        return made.user.id == (await self._client.bot()).id


def _issue(made: Issue) -> IssueFacts:
    names = (label.name if isinstance(label, Label) else label for label in made.labels)
    return IssueFacts(
        number=made.number,
        title=made.title or "",
        body=made.body or "",
        state=made.state.lower(),
        author=actor_of(made.user),
        labels=tuple(name for name in names if name),
        url=made.html_url,
        is_pull_request=made.pull_request is not None,
    )
