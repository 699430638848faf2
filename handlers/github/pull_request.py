"""GitHub's `pull_request`: a pull request has a new head, another base, a label, or an end."""

from __future__ import annotations

from handlers.events import (
    IssueLabeled,
    IssueUnlabeled,
    PrClosed,
    PrEdited,
    PrMerged,
    PrSynchronized,
    PullEvent,
    RepoRef,
)
from handlers.github.fields import Branch, Envelope, Fields, Label, Pull, actor, milliseconds, read
from handlers.github.translation import AppIdentity, Found, Payload

HEAD_IS_NEW = frozenset({"opened", "reopened", "synchronize"})
EDITED = frozenset({"edited", "ready_for_review", "converted_to_draft"})


class Changes(Fields):
    base: Fields | None = None


class PullRequest(Envelope):
    pull_request: Pull | None = None
    before: str | None = None
    changes: Changes | None = None
    label: Label | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`pr_synchronized`, `pr_edited`, `pr_closed`, `pr_merged`, or the issue's events for a label.

    A pull request that is opened or reopened is `pr_synchronized` without `before`: its head is new to us.
    """
    given = read(PullRequest, "pull_request", payload)
    repo, pull = given.repo(), given.pull_request
    if repo is None or pull is None or pull.number is None:
        return ()
    record = _label(given, repo, pull.number) or _record(given, repo, pull, pull.number)
    return () if record is None else (Found(record, milliseconds(pull.updated_at)),)


def _label(given: PullRequest, repo: RepoRef, number: int) -> IssueLabeled | IssueUnlabeled | None:
    """A label's event: labels belong to the issue that a pull request also is."""
    if given.pull_request is None or given.label is None or not given.label.name:
        return None
    kinds: dict[str, type[IssueLabeled] | type[IssueUnlabeled]] = {
        "labeled": IssueLabeled,
        "unlabeled": IssueUnlabeled,
    }
    kind = kinds.get(given.action or "")
    if kind is None:
        return None
    author = actor(given.pull_request.user)
    return kind(
        repo=repo, sender=given.who(), number=number, author=author, is_pull_request=True, label=given.label.name
    )


def _record(given: PullRequest, repo: RepoRef, pull: Pull, number: int) -> PullEvent | None:
    """The event of the pull request itself, or None for an action that we do not read."""
    head, base, action = pull.head or Branch(), pull.base or Branch(), given.action or ""
    if not head.sha:
        return None
    about = PullEvent(
        repo=repo,
        sender=given.who(),
        number=number,
        head=head.sha,
        head_ref=head.ref or "",
        head_repo_id=head.repo.id if head.repo else None,
        base_ref=base.ref or "",
        author=actor(pull.user),
    ).model_dump()
    if action in HEAD_IS_NEW:
        return PrSynchronized.model_validate(about | {"before": given.before if action == "synchronize" else None})
    if action in EDITED:
        changed = given.changes is not None and given.changes.base is not None
        return PrEdited.model_validate(about | {"base_changed": changed})
    if action == "closed" and pull.merged:
        return PrMerged.model_validate(about | {"merge_sha": pull.merge_commit_sha})
    return PrClosed.model_validate(about) if action == "closed" else None
