"""What the local GitHub remembers, as records that go to and come from its state file."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Json = dict[str, Any]
Role = Literal["read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")
LEVELS = ("read", "write", "admin")


class Record(BaseModel):
    """Checked at every assignment, so that what is kept can be written and read again."""

    model_config = ConfigDict(validate_assignment=True)


class User(Record):
    """A person, an organisation or an App's bot account."""

    id: int
    login: str
    name: str | None = None
    type: Literal["User", "Bot", "Organization"] = "User"
    app_id: int | None = None
    created_at: datetime


class Token(Record):
    """A bearer token of a user (`user_id`) or of an installation (`installation_id`, which expires)."""

    user_id: int | None = None
    installation_id: int | None = None
    repository_ids: list[int] | None = None
    permissions: dict[str, str] = Field(default_factory=dict)
    expires_at: datetime | None = None


class App(Record):
    """A registered GitHub App with its key pair and its webhook."""

    id: int
    slug: str
    name: str
    client_id: str
    owner_id: int
    bot_id: int
    private_key_pem: str
    public_key_pem: str
    webhook_url: str | None = None
    webhook_secret: str
    permissions: dict[str, str]
    events: list[str]
    created_at: datetime


class Installation(Record):
    """An App on an account: `repository_ids` are the selected repositories."""

    id: int
    app_id: int
    account_id: int
    repository_ids: list[int]
    permissions: dict[str, str]
    events: list[str]
    created_at: datetime
    suspended_at: datetime | None = None


class Label(Record):
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


class Reaction(Record):
    """`subject` is `issue:<number>`, `comment:<id>` or `review_comment:<id>`."""

    id: int
    user_id: int
    subject: str
    content: str
    created_at: datetime


class Comment(Record):
    id: int
    issue: int
    user_id: int
    app_id: int | None = None
    body: str
    created_at: datetime
    updated_at: datetime


class Issue(Record):
    """An issue, and the issue half of a pull request (same number)."""

    id: int
    number: int
    title: str
    body: str | None = None
    user_id: int
    app_id: int | None = None
    labels: list[str] = Field(default_factory=list)
    assignees: list[int] = Field(default_factory=list)
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_by: int | None = None
    closed_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


class Pull(Record):
    """The pull half of a pull request; title, body, labels and state live in its issue."""

    id: int
    number: int
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    requested: list[int] = Field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: int | None = None
    merge_sha: str | None = None
    merge_base: str


class Review(Record):
    id: int
    pull: int
    user_id: int
    body: str
    state: str
    commit_id: str
    submitted_at: datetime | None = None
    dismissal: str | None = None


class ReviewComment(Record):
    id: int
    pull: int
    review_id: int | None
    user_id: int
    body: str
    path: str
    line: int | None
    start_line: int | None = None
    side: str = "RIGHT"
    commit_id: str
    diff_hunk: str
    position: int = 1
    in_reply_to: int | None = None
    created_at: datetime
    updated_at: datetime


class CheckSuite(Record):
    id: int
    app_id: int
    head_sha: str
    head_branch: str | None
    status: str = "queued"
    conclusion: str | None = None
    created_at: datetime
    updated_at: datetime


class CheckRun(Record):
    id: int
    app_id: int
    suite_id: int
    name: str
    head_sha: str
    external_id: str | None = None
    details_url: str | None = None
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Json] = Field(default_factory=list)
    actions: list[Json] = Field(default_factory=list)


class Status(Record):
    id: int
    sha: str
    state: str
    context: str
    description: str | None = None
    target_url: str | None = None
    user_id: int
    created_at: datetime


class Protection(Record):
    """Branch protection: `checks` are the required checks as (name, app id or None for any source)."""

    checks: list[tuple[str, int | None]] = Field(default_factory=list)
    strict: bool = False
    approvals: int = 0
    reviews_required: bool = False
    code_owners: bool = False
    dismiss_stale: bool = False
    enforce_admins: bool = True


class Repo(Record):
    """One repository; its git objects live beside the state file."""

    id: int
    owner_id: int
    name: str
    description: str | None = None
    private: bool = True
    default_branch: str = "main"
    has_issues: bool = True
    created_at: datetime
    pushed_at: datetime
    collaborators: dict[int, Role] = Field(default_factory=dict)
    labels: dict[str, Label] = Field(default_factory=dict)
    protection: dict[str, Protection] = Field(default_factory=dict)
    last_number: int = 0
    issues: dict[int, Issue] = Field(default_factory=dict)
    pulls: dict[int, Pull] = Field(default_factory=dict)
    comments: dict[int, Comment] = Field(default_factory=dict)
    reviews: dict[int, Review] = Field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = Field(default_factory=dict)
    suites: dict[int, CheckSuite] = Field(default_factory=dict)
    checks: dict[int, CheckRun] = Field(default_factory=dict)
    statuses: list[Status] = Field(default_factory=list)
    reactions: list[Reaction] = Field(default_factory=list)


class Team(Record):
    """A team of an organisation, and its role in repositories."""

    organisation_id: int
    slug: str
    members: list[int] = Field(default_factory=list)
    roles: dict[int, Role] = Field(default_factory=dict)


class Delivery(Record):
    """One attempt to deliver one webhook; several attempts share a `guid`."""

    id: int
    guid: str
    app_id: int
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    payload: str
    redelivery: bool = False
    delivered_at: datetime
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    request_headers: dict[str, str] = Field(default_factory=dict)
    response_headers: dict[str, str] = Field(default_factory=dict)
    response_body: str = ""


class State(Record):
    """Everything but git objects and deliveries."""

    next_id: int = 1001
    users: dict[int, User] = Field(default_factory=dict)
    apps: dict[int, App] = Field(default_factory=dict)
    installations: dict[int, Installation] = Field(default_factory=dict)
    tokens: dict[str, Token] = Field(default_factory=dict)
    repos: dict[int, Repo] = Field(default_factory=dict)
    teams: list[Team] = Field(default_factory=list)
