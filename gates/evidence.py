"""What a gate judges: frozen facts about one pull request, fetched live by somebody else and handed in whole.

Everything here is checked when it is made, and again when a gate is asked, so that a half-fetched or odd answer of the
API ends as `Blocked` and never as a pass. Shapes follow GitHub REST "List reviews for a pull request" and "Get
repository permissions for a user".
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Permission = Literal["none", "read", "triage", "write", "maintain", "admin"]
ORDER: tuple[Permission, ...] = ("none", "read", "triage", "write", "maintain", "admin")

UserId = Annotated[int, Field(gt=0)]
Sha = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]


class Evidence(BaseModel):
    """Base of all evidence: frozen, strict about types, no unknown fields, checked again whenever it is handed on."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", revalidate_instances="always")


class Person(Evidence):
    """An account. `type` is GitHub's own (User, Bot, Organization, Mannequin).

    `permission` is the live answer of the permission endpoint by user id; None means that it is not known.
    """

    id: UserId
    login: str
    type: str
    permission: Permission | None = None

    def at_least(self, permission: Permission) -> bool:
        """Whether this is a person who is known to have `permission` or better."""
        if self.type != "User" or self.permission is None:
            return False
        return ORDER.index(self.permission) >= ORDER.index(permission)


def _lower(value: object) -> object:
    """The REST API writes states in upper case, webhooks in lower case; both mean the same."""
    return value.lower() if isinstance(value, str) else value


State = Annotated[
    Literal["approved", "changes_requested", "commented", "dismissed", "pending"], BeforeValidator(_lower)
]


class ReviewEvidence(Evidence):
    """One native review. `commit` may be missing; `author` is None for a deleted account.

    `names_head` says that the review's text names the head by at least seven digits of its SHA. The author's own
    `permission` is never read: only the standing in `PullEvidence.standings` counts. `submitted_at` is ms UTC.
    """

    id: UserId
    state: State
    commit: str | None
    author: Person | None
    submitted_at: Annotated[int, Field(ge=0)]
    names_head: bool = False


class MergeAsk(Evidence):
    """Somebody asked for the merge (`/merge`) while `head` was the head that they were shown."""

    by: UserId
    head: str
    at: Annotated[int, Field(ge=0)]


class OwnerGroup(Evidence):
    """Changed paths whose code owners stand in one line: one of `people` has to approve.

    `owners` are the names as written, `people` the ids of those among them who have write; nobody may be left.
    """

    line: Annotated[int, Field(ge=1)]
    paths: Annotated[tuple[str, ...], Field(min_length=1)]
    owners: Annotated[tuple[str, ...], Field(min_length=1)]
    people: frozenset[UserId]


class PullEvidence(Evidence):
    """Everything that the pull request's gates look at.

    `head`, `base`: full SHA of the head, name of the base branch; `meant_for`: the branch that the change was made
    for. `pushers`: ids of everybody who pushed to the head's branch; `unknown_pusher`: a commit is there that nobody
    is on record for. `writers`: ids of everybody with write or better, None when not known. `standings`: the live
    standing of everybody named in reviews and merge requests. `complete`: every page of every list was read. `hold`:
    the label that stops everything is on. `author`: who wrote the issue. `owners`: the code owners whose approval the
    branch's rules ask for, empty where they ask for none; `owners_unknown`: why those cannot be told.
    """

    head: Sha
    base: Annotated[str, Field(min_length=1)]
    meant_for: Annotated[str, Field(min_length=1)]
    draft: bool
    state: Literal["open", "closed"]
    merged: bool
    complete: bool
    pushers: frozenset[UserId]
    unknown_pusher: bool
    requester: UserId
    bot: UserId
    reviews: tuple[ReviewEvidence, ...]
    standings: tuple[Person, ...]
    required: Annotated[int, Field(ge=1)]
    requester_may_approve: bool = False
    writers: frozenset[UserId] | None = None
    asks: tuple[MergeAsk, ...] = ()
    auto_merge: bool = False
    hold: bool = False
    author: UserId | None = None
    owners: tuple[OwnerGroup, ...] = ()
    owners_unknown: str | None = None

    @model_validator(mode="after")
    def _no_contradictions(self) -> Self:
        if len({person.id for person in self.standings}) != len(self.standings):
            raise ValueError("two standings for one person")
        if len({review.id for review in self.reviews}) != len(set(self.reviews)):
            raise ValueError("one review id with two contents")
        return self

    def standing(self, user: int) -> Person | None:
        """The live standing of a user id, or None when it was not looked up."""
        return next((person for person in self.standings if person.id == user), None)

    @property
    def sole_writer(self) -> int | None:
        """The id of the only person with write, where there is exactly one and that is known."""
        return next(iter(self.writers)) if self.writers is not None and len(self.writers) == 1 else None


def digest(head: str) -> str:
    """What a vote at a pull request's gate is bound to: the full SHA of the head, lower case.

    Raises `ValueError` for anything but a full SHA, since an abbreviation could name another commit tomorrow.
    """
    sha = head.lower()
    if len(sha) not in (40, 64) or not set(sha) <= set("0123456789abcdef"):
        raise ValueError(f"not a full commit SHA: {head!r}")
    return sha
