"""The fields that we read from GitHub's answers, and no more; everything that may be null is."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from handlers.events import Actor
from handlers.ports import GitHubError, Later, Unknown
from infra.github.wire import OVERLOADED_S, Call, Reply

GHOST = Actor(id=0, login="ghost")
"""Stands for the author of a deleted account, for whom GitHub sends null."""


class Answer(BaseModel):
    """Base: unknown fields are no error, and no field is an enum, since GitHub adds values."""

    model_config = ConfigDict(frozen=True, extra="ignore")


M = TypeVar("M", bound=Answer)


def parse(call: Call, reply: Reply, model: type[M]) -> M:
    """The answer's body as `model`. An unreadable one raises `Later` for a read, `Unknown` for a write."""
    try:
        return model.model_validate_json(reply.content)
    except ValidationError as error:
        raise unreadable(call, error) from error


def unreadable(call: Call, error: ValidationError | ValueError) -> GitHubError:
    """The error for an answer of success that does not hold what it should."""
    where = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
    place = ".".join(str(part) for part in where["loc"]) or "body"
    said = f"GitHub: {call}: the answer cannot be read ({place}: {where['msg']})"
    return Unknown(f"{said}; it may have happened") if call.writes else Later(said, OVERLOADED_S)


class Account(Answer):
    id: int
    login: str
    type: str | None = None

    def actor(self) -> Actor:
        return Actor(id=self.id, login=self.login, type=self.type or "User")


def actor_of(account: Account | None) -> Actor:
    """The account's actor; `GHOST` when it is deleted."""
    return account.actor() if account else GHOST


def millis(moment: datetime | None) -> int:
    """Milliseconds UTC; 0 when GitHub gives no time."""
    return int(moment.timestamp() * 1000) if moment else 0


class TokenAnswer(Answer):
    token: str
    expires_at: datetime


class App(Answer):
    id: int
    slug: str


class WholeApp(App):
    permissions: dict[str, str] | None = None
    events: tuple[str, ...] = ()


class HookConfig(Answer):
    """`secret` is shown as asterisks where there is one."""

    url: str | None = None
    secret: str | None = None
    insecure_ssl: str | int | None = None


class AppId(Answer):
    id: int | None = None


class Installation(Answer):
    id: int
    suspended_at: datetime | None = None
    account: Account | None = None
    permissions: dict[str, str] | None = None


class HookDelivery(Answer):
    """One attempt to deliver; several share a `guid`."""

    id: int
    guid: str
    delivered_at: datetime
    status: str = ""
    status_code: int = 0


class Label(Answer):
    name: str | None = None


class Issue(Answer):
    number: int
    title: str | None = None
    body: str | None = None
    state: str
    user: Account | None = None
    labels: tuple[Label | str, ...] = ()
    html_url: str = ""
    pull_request: Answer | None = None


class Created(Answer):
    """Whatever was created: its id."""

    id: int


class Comment(Answer):
    id: int
    body: str | None = None
    user: Account | None = None
    html_url: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    performed_via_github_app: AppId | None = None


class RepoId(Answer):
    id: int


class End(Answer):
    """Head or base of a pull request; `repo` is null when a fork is gone."""

    ref: str
    sha: str
    repo: RepoId | None = None


class Pull(Answer):
    number: int
    node_id: str
    html_url: str = ""
    title: str | None = None
    body: str | None = None
    state: str
    draft: bool | None = None
    merged: bool | None = None
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None
    head: End
    base: End
    user: Account | None = None


class Merged(Answer):
    sha: str


class Requested(Answer):
    users: tuple[Account, ...] = ()


class Review(Answer):
    id: int
    state: str
    body: str | None = None
    commit_id: str | None = None
    user: Account | None = None
    html_url: str = ""
    submitted_at: datetime | None = None


class ReviewLine(Answer):
    id: int
    pull_request_review_id: int | None = None
    path: str
    line: int | None = None
    body: str | None = None
    user: Account | None = None


class Output(Answer):
    title: str | None = None


class CheckRun(Answer):
    id: int
    name: str
    head_sha: str
    external_id: str | None = None
    status: str
    conclusion: str | None = None
    output: Output | None = None
    app: AppId | None = None


class Repo(Answer):
    id: int
    full_name: str
    default_branch: str
    archived: bool | None = None
    private: bool | None = None


class GitObject(Answer):
    sha: str


class Ref(Answer):
    ref: str
    object: GitObject


class GitCommit(Answer):
    sha: str
    tree: GitObject


class PermissionAnswer(Answer):
    permission: str | None = None
    role_name: str | None = None
    user: Account | None = None


class Collaborator(Account):
    role_name: str | None = None
    permissions: dict[str, bool] | None = None


class Content(Answer):
    """What is at a path: `type` tells. `encoding` is none where `content` is too large to be here."""

    type: str
    sha: str
    encoding: str | None = None
    content: str | None = None


class Blob(Answer):
    content: str


class PullFile(Answer):
    filename: str
    previous_filename: str | None = None


class RequiredCheck(Answer):
    context: str


class RuleParameters(Answer):
    """What we read of the parameters of the rules `pull_request` and `required_status_checks`."""

    required_approving_review_count: int | None = None
    require_code_owner_review: bool | None = None
    required_status_checks: tuple[RequiredCheck, ...] = ()


class BranchRule(Answer):
    type: str
    parameters: RuleParameters | None = None


class RefUpdateRule(Answer):
    """Classic protection as GraphQL shows it to those who may write."""

    model_config = ConfigDict(alias_generator=to_camel)

    required_approving_review_count: int | None = None
    requires_code_owner_reviews: bool | None = None
    required_status_check_contexts: tuple[str | None, ...] | None = None


class TeamRepo(Answer):
    permissions: dict[str, bool] | None = None
