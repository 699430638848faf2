"""Events: immutable facts, named in the past tense, that travel on the bus and stand in a run's log.

An event from GitHub is translated (in `handlers/github/`) to one of the records below from the fields that we read and
no more. An event of the team carries plain data. Unknown names and fields are no error to a reader.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class Record(BaseModel):
    """Base of all records: frozen, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RepoRef(Record):
    """A repository. Keyed by the numeric id, since names change; `installation` is the App's installation id."""

    id: int
    full_name: str
    installation: int


class Actor(Record):
    """Who did something. `type` is GitHub's own: User, Bot, Organization."""

    id: int
    login: str
    type: str = "User"


class Event(Record):
    """What travels: a name, the run it belongs to (None before there is one), what caused it, and its data.

    `id` is unique; for a delivery it is the delivery's id, so that the same delivery is the same event.
    `at` is milliseconds UTC.
    """

    id: str
    name: str
    data: dict[str, object] = {}
    run: str | None = None
    cause: str | None = None
    at: int = 0
    v: int = SCHEMA_VERSION


class GitHubEvent(Record):
    """Base of what arrives from GitHub; `NAME` is the event's name on the bus."""

    NAME: ClassVar[str]
    repo: RepoRef
    sender: Actor


class IssueEvent(GitHubEvent):
    """An issue, with no text: its text is read when the run is authorised."""

    number: int
    author: Actor
    is_pull_request: bool = False


class IssueCreated(IssueEvent):
    NAME = "issue_created"


class IssueEdited(IssueEvent):
    NAME = "issue_edited"


class IssueClosed(IssueEvent):
    NAME = "issue_closed"


class IssueReopened(IssueEvent):
    NAME = "issue_reopened"


class IssueLabeled(IssueEvent):
    """A label was set; `text` is the digest of the issue's title and body as they stood at that moment."""

    NAME = "issue_labeled"
    label: str
    text: str | None = None


class IssueUnlabeled(IssueEvent):
    NAME = "issue_unlabeled"
    label: str


class CommentAdded(GitHubEvent):
    """A new comment. `where`: on an issue or pull request's thread, in a review body, or on a line of a diff."""

    NAME = "comment_added"
    number: int
    on_pull_request: bool
    where: Literal["issue", "review", "line"]
    comment_id: int
    author: Actor
    body: str
    url: str = ""
    cut: bool = False


class CommandGiven(CommentAdded):
    """A comment whose first line is a command of ours, given by a person who is the comment's author.

    `text` is the digest of the issue's title and body as they stood at that moment, for a comment on an issue.
    """

    NAME = "command_given"
    verb: str
    arguments: str
    words: str = ""
    text: str | None = None


class ReviewSubmitted(GitHubEvent):
    """A native review. `head` is the commit that it judged (may be missing), `current_head` the pull request's."""

    NAME = "review_submitted"
    number: int
    review_id: int
    state: Literal["approved", "changes_requested", "commented", "dismissed"]
    body: str
    head: str | None
    current_head: str
    author: Actor
    url: str = ""


class ReviewDismissed(ReviewSubmitted):
    NAME = "review_dismissed"


class PullEvent(GitHubEvent):
    """A pull request. `head_repo_id` is None when the fork is gone: treat as a fork."""

    number: int
    head: str
    head_ref: str
    head_repo_id: int | None
    base_ref: str
    author: Actor


class PrSynchronized(PullEvent):
    NAME = "pr_synchronized"
    before: str | None = None


class PrEdited(PullEvent):
    NAME = "pr_edited"
    base_changed: bool = False


class PrClosed(PullEvent):
    NAME = "pr_closed"


class PrMerged(PullEvent):
    NAME = "pr_merged"
    merge_sha: str | None = None


class CiEvent(GitHubEvent):
    """A finished check run or suite of somebody else's App on `head`."""

    head: str
    name: str
    app_id: int | None = None


class CiPassed(CiEvent):
    NAME = "ci_passed"


class CiFailed(CiEvent):
    NAME = "ci_failed"


class ChecksRerequested(GitHubEvent):
    """Somebody asked for our checks on `head` again. Repeats byte for byte, so it is never de-duplicated by body."""

    NAME = "checks_rerequested"
    head: str
    name: str | None = None


class GateButtonPressed(GitHubEvent):
    """A button on one of our checks. Repeats byte for byte, so it is never de-duplicated by body."""

    NAME = "gate_button_pressed"
    head: str
    check_name: str
    check_run_id: int
    external_id: str | None
    button: str


class MergeGroupRequested(GitHubEvent):
    NAME = "merge_group_requested"
    head: str
    base_ref: str


class ConfigChanged(GitHubEvent):
    """A push to the default branch that touched our configuration file."""

    NAME = "config_changed"
    head: str


class InstallationChanged(Record):
    """The App was installed, removed, suspended, or given other repositories or permissions."""

    NAME: ClassVar[str] = "installation_changed"
    installation: int
    action: str
    account: str
    sender: Actor
    repositories: tuple[RepoRef, ...] = ()


class RepositoryMoved(GitHubEvent):
    """A repository was renamed, transferred, archived or deleted; `repo` is how it is now."""

    NAME = "repository_moved"
    action: str


FROM_GITHUB: tuple[type[GitHubEvent] | type[InstallationChanged], ...] = (
    IssueCreated,
    IssueEdited,
    IssueClosed,
    IssueReopened,
    IssueLabeled,
    IssueUnlabeled,
    CommentAdded,
    CommandGiven,
    ReviewSubmitted,
    ReviewDismissed,
    PrSynchronized,
    PrEdited,
    PrClosed,
    PrMerged,
    CiPassed,
    CiFailed,
    ChecksRerequested,
    GateButtonPressed,
    MergeGroupRequested,
    ConfigChanged,
    InstallationChanged,
    RepositoryMoved,
)

OF_THE_TEAM: tuple[str, ...] = (
    "run_started",
    "run_declined",
    "requirements_ready",
    "questions_asked",
    "design_ready",
    "code_updated",
    "tests_written",
    "tests_passed",
    "tests_failed",
    "tests_not_run",
    "review_approved",
    "review_rejected",
    "conflict_found",
    "steered",
    "pr_opened",
    "pr_updated",
    "pr_ready",
    "gate_opened",
    "gate_reminded",
    "gate_escalated",
    "gate_resolved",
    "gate_voided",
    "budget_warned",
    "visits_exhausted",
    "step_failed",
    "run_parked",
    "run_resumed",
    "hold_set",
    "hold_lifted",
    "migration_needed",
    "run_completed",
    "run_failed",
    "run_cancelled",
    "run_stuck",
)

ENDINGS: frozenset[str] = frozenset({"run_declined", "run_completed", "run_failed", "run_cancelled"})
