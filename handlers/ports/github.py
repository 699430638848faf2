"""GitHub as the core needs it: facts of the moment, the verbs, and errors that tell what may be repeated.

A verb raises one of the errors below, so that the caller can tell "never" from "later" and from "unknown: look before
you repeat". Times are milliseconds UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from handlers.events import Actor, RepoRef


class GitHubError(Exception):
    """Base: GitHub did not do what was asked. The text names the request and what GitHub said."""


class Missing(GitHubError):
    """404 or 410: it is not there, or the App may not see it."""


class Refused(GitHubError):
    """401, 403 (no rate limit), 409, 422, 451: repeating the same request cannot help."""


class Conflicted(Refused):
    """409 or 422 because the world has moved: the head is another one, the ref exists, the pull request exists."""


class Later(GitHubError):
    """A rate limit or an overload that certainly did nothing; try again after `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unknown(GitHubError):
    """A write whose outcome is not known (5xx, time-out, broken connection): look before repeating it."""


@dataclass(frozen=True)
class IssueFacts:
    """An issue as it is now. `state` is open or closed."""

    number: int
    title: str
    body: str
    state: str
    author: Actor
    labels: tuple[str, ...]
    url: str
    is_pull_request: bool


@dataclass(frozen=True)
class CommentFacts:
    """A comment of an issue or pull request thread. `by_us` is true when our own App wrote it."""

    id: int
    body: str
    author: Actor
    url: str
    by_us: bool
    created_at: int
    updated_at: int


class Issues(Protocol):
    """Issues and their comments."""

    async def get(self, repo: RepoRef, number: int) -> IssueFacts: ...

    async def comments(self, repo: RepoRef, number: int) -> Sequence[CommentFacts]:
        """All comments, every page, oldest first."""
        ...

    async def comment(self, repo: RepoRef, number: int, body: str) -> int:
        """Post a comment; returns its id."""
        ...

    async def edit_comment(self, repo: RepoRef, comment_id: int, body: str) -> None: ...

    async def delete_comment(self, repo: RepoRef, comment_id: int) -> None: ...

    async def react(self, repo: RepoRef, subject: Literal["issue", "comment"], number: int, content: str) -> None:
        """Add a reaction (`eyes`, `+1`, …) to an issue or an issue comment; adding it again changes nothing."""
        ...


@dataclass(frozen=True)
class PullFacts:
    """A pull request as it is now. `head_repo_id` is None when the fork is gone."""

    number: int
    url: str
    title: str
    body: str
    state: str
    draft: bool
    merged: bool
    merge_sha: str | None
    head_sha: str
    head_ref: str
    head_repo_id: int | None
    base_ref: str
    author: Actor
    node_id: str


@dataclass(frozen=True)
class NewPull:
    """A pull request to open. `head` and `base` are branch names of the same repository."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = True


class Pulls(Protocol):
    """Pull requests."""

    async def get(self, repo: RepoRef, number: int) -> PullFacts: ...

    async def find(self, repo: RepoRef, head: str) -> Sequence[PullFacts]:
        """All pull requests, open and closed, whose head is this branch of this repository, newest first."""
        ...

    async def open(self, repo: RepoRef, new: NewPull) -> PullFacts: ...

    async def edit(self, repo: RepoRef, number: int, title: str, body: str) -> None: ...

    async def mark_ready(self, repo: RepoRef, number: int) -> None:
        """Take a pull request out of draft; on one that is no draft this changes nothing."""
        ...

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        """Merge if the head is still `head_sha`; returns the merge commit's SHA. Raises `Conflicted` otherwise."""
        ...

    async def close(self, repo: RepoRef, number: int) -> None: ...


@dataclass(frozen=True)
class ReviewFacts:
    """One review. `commit` may be missing; `author` is None for a deleted account. State in lower case."""

    id: int
    state: str
    body: str
    commit: str | None
    author: Actor | None
    url: str
    submitted_at: int


@dataclass(frozen=True)
class LineComment:
    """A comment on one line of a diff. `line` is None when the line is no longer part of it."""

    id: int
    review_id: int | None
    path: str
    line: int | None
    body: str
    author: Actor | None


class Reviews(Protocol):
    """Reviews of pull requests."""

    async def list(self, repo: RepoRef, number: int) -> Sequence[ReviewFacts]:
        """All reviews, every page, oldest first."""
        ...

    async def line_comments(self, repo: RepoRef, number: int) -> Sequence[LineComment]:
        """All line comments, every page, oldest first."""
        ...

    async def post(self, repo: RepoRef, number: int, head_sha: str, body: str, comments: Sequence[LineComment]) -> int:
        """One COMMENT review; returns its id. Lines outside the diff must not be among `comments`."""
        ...

    async def request(self, repo: RepoRef, number: int, logins: Sequence[str]) -> None:
        """Ask people for a review; those who cannot be asked are left out by GitHub."""
        ...

    async def requested(self, repo: RepoRef, number: int) -> Sequence[str]:
        """The logins of people who were asked and have not reviewed since."""
        ...


@dataclass(frozen=True)
class Button:
    """A button on a check run: label ≤ 20, description ≤ 40, identifier ≤ 20 characters."""

    label: str
    description: str
    identifier: str


@dataclass(frozen=True)
class Annotation:
    """A remark of a check run at a line (from 1) of a file, with a title and one message."""

    path: str
    line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclass(frozen=True)
class CheckState:
    """What a check run should say. `conclusion` None means in progress. `external_id` is the idempotency key.

    `annotations` (50 at most) are given when the check run is made: GitHub adds those of an update to the ones before.
    """

    name: str
    head_sha: str
    external_id: str
    conclusion: Literal["success", "failure", "action_required", "cancelled", "timed_out"] | None
    title: str
    summary: str
    text: str = ""
    buttons: tuple[Button, ...] = ()
    details_url: str | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True)
class CheckFacts:
    """A check run of our own App as it is now."""

    id: int
    name: str
    head_sha: str
    external_id: str | None
    status: str
    conclusion: str | None
    title: str | None


class Checks(Protocol):
    """Check runs of our own App; other Apps' runs of the same name are never returned."""

    async def find(self, repo: RepoRef, head_sha: str, name: str) -> Sequence[CheckFacts]:
        """Our check runs of this name on this commit, newest first."""
        ...

    async def create(self, repo: RepoRef, state: CheckState) -> int: ...

    async def update(self, repo: RepoRef, check_id: int, state: CheckState) -> None: ...


@dataclass(frozen=True)
class RepoFacts:
    """A repository as it is now. `head` is the default branch's commit, None when the repository is empty."""

    ref: RepoRef
    default_branch: str
    head: str | None
    archived: bool
    private: bool


@dataclass(frozen=True)
class TreeEdit:
    """One path of a commit: its new content, or None to delete it. `mode` is git's octal string."""

    path: str
    content: bytes | None
    mode: str = "100644"


@dataclass(frozen=True)
class NewCommit:
    """A commit to write through the Git Data API. `date` (seconds UTC) is fixed so that a repeat gives the same SHA.

    `tree` is what the result must be: the adapter refuses to make a commit of any other tree.
    """

    parent: str
    tree: str
    edits: tuple[TreeEdit, ...]
    message: str
    author_name: str
    author_email: str
    date: int


class Repository(Protocol):
    """A repository's git side, through the API."""

    async def facts(self, repo: RepoRef) -> RepoFacts: ...

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """The branch's commit SHA, or None when there is no such branch."""
        ...

    async def commit(self, repo: RepoRef, new: NewCommit) -> str:
        """Write blobs, tree and commit (no ref moves); returns the commit's SHA. Raises `Refused` on another tree."""
        ...

    async def create_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Raises `Conflicted` when the ref exists, or when another branch's name is in the way."""
        ...

    async def move_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Fast-forward only. Raises `Conflicted` when it is none."""
        ...

    async def delete_branch(self, repo: RepoRef, name: str) -> None: ...


PERMISSIONS = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(frozen=True)
class Standing:
    """What a person may do in a repository: the live answer of the permission endpoint, by user id."""

    user: Actor
    permission: Literal["none", "read", "triage", "write", "maintain", "admin"]

    def at_least(self, permission: str) -> bool:
        """Whether the standing reaches `permission`; only people (type User) ever do."""
        return self.user.type == "User" and PERMISSIONS.index(self.permission) >= PERMISSIONS.index(permission)


class People(Protocol):
    """Who somebody is and what they may do. Every doubt is `none`."""

    async def standing(self, repo: RepoRef, who: Actor) -> Standing:
        """The live permission, checked against the numeric id (a login can be re-registered). Raises `GitHubError`."""
        ...

    async def with_write(self, repo: RepoRef) -> Sequence[Standing]:
        """Everyone who has write or better."""
        ...

    async def bot(self) -> Actor:
        """The App's own bot user: login `<slug>[bot]`."""
        ...
