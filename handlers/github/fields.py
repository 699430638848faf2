"""The parts of GitHub's payloads that several events share: only what we read, everything may be missing or null.

GitHub adds fields and values at any time, so unknown ones are ignored and no value is checked against a list.
Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from handlers.events import Actor, RepoRef
from handlers.github.translation import AppIdentity, Payload, PayloadError


class Fields(BaseModel):
    """Base: frozen, unknown fields ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Account(Fields):
    """A user, bot or organization."""

    id: int | None = None
    login: str | None = None
    type: str | None = None


class Via(Fields):
    """The App through which something was done."""

    id: int | None = None


class Repo(Fields):
    id: int | None = None
    full_name: str | None = None
    default_branch: str | None = None


class Installation(Fields):
    id: int | None = None
    account: Account | None = None


class Branch(Fields):
    """A pull request's head or base. `repo` is null when the fork is gone."""

    sha: str | None = None
    ref: str | None = None
    repo: Repo | None = None


class Pull(Fields):
    number: int | None = None
    user: Account | None = None
    head: Branch | None = None
    base: Branch | None = None
    merged: bool | None = None
    merge_commit_sha: str | None = None
    updated_at: str | None = None


class Label(Fields):
    name: str | None = None


class Envelope(Fields):
    """What surrounds every payload."""

    action: str | None = None
    repository: Repo | None = None
    installation: Installation | None = None
    sender: Account | None = None

    def repo(self) -> RepoRef | None:
        """The repository with the installation that serves it, or None: then nobody could act on the event."""
        return repo_ref(self.repository, self.installation)

    def who(self) -> Actor:
        """Who caused the event."""
        return actor(self.sender)


Model = TypeVar("Model", bound=Fields)


def read(model: type[Model], event: str, payload: Payload) -> Model:
    """The payload as `model`. Raises `PayloadError` when a field is of another type than GitHub documents."""
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        where = ", ".join(sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)}))
        raise PayloadError(f"{event}: not of the documented type: {where[:300]}") from None


def actor(account: Account | None) -> Actor:
    """An account as a record; a deleted or nameless one is `ghost` of no type, which may do nothing anywhere."""
    if account is None or account.id is None or not account.login:
        return Actor(id=0, login="ghost", type="")
    return Actor(id=account.id, login=account.login, type=account.type or "")


def repo_ref(repo: Repo | None, installation: Installation | None) -> RepoRef | None:
    """A repository as a record, or None if it or its installation is not given."""
    if repo is None or repo.id is None or not repo.full_name or installation is None or installation.id is None:
        return None
    return RepoRef(id=repo.id, full_name=repo.full_name, installation=installation.id)


def milliseconds(text: str | None) -> int:
    """GitHub's timestamp in milliseconds UTC; 0 when it is missing or no timestamp."""
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return 0
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def is_us(app: AppIdentity, account: Account | None, via: Via | None = None) -> bool:
    """Whether our own App did it: as its bot user, or through it on somebody's behalf."""
    if via is not None and via.id == app.app_id:
        return True
    if account is None:
        return False
    if app.bot_id is not None and account.id == app.bot_id:
        return True
    return account.type == "Bot" and (account.login or "").casefold() == f"{app.slug}[bot]".casefold()
