"""GitHub's `issues`: an issue was opened, changed, closed or labelled."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from handlers.events import (
    IssueClosed,
    IssueCreated,
    IssueEdited,
    IssueEvent,
    IssueLabeled,
    IssueReopened,
    IssueUnlabeled,
)
from handlers.github.fields import Account, Envelope, Fields, Label, actor, milliseconds, read
from handlers.github.translation import AppIdentity, Found, Payload
from handlers.snapshot import text_digest

PLAIN: Mapping[str, type[IssueEvent]] = MappingProxyType(
    {
        "opened": IssueCreated,
        "edited": IssueEdited,
        "closed": IssueClosed,
        "reopened": IssueReopened,
        # An issue that is gone from here cannot be worked on: the same as closed.
        "deleted": IssueClosed,
        "transferred": IssueClosed,
    }
)
LABELLED: Mapping[str, type[IssueLabeled] | type[IssueUnlabeled]] = MappingProxyType(
    {"labeled": IssueLabeled, "unlabeled": IssueUnlabeled}
)


class Issue(Fields):
    number: int | None = None
    user: Account | None = None
    pull_request: Fields | None = None
    updated_at: str | None = None
    title: str | None = None
    body: str | None = None


class Issues(Envelope):
    issue: Issue | None = None
    label: Label | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`issue_created`, `issue_edited`, `issue_closed`, `issue_reopened`, `issue_labeled` or `issue_unlabeled`."""
    given = read(Issues, "issues", payload)
    repo, issue, action = given.repo(), given.issue, given.action or ""
    if repo is None or issue is None or issue.number is None:
        return ()
    about = IssueEvent(
        repo=repo,
        sender=given.who(),
        number=issue.number,
        author=actor(issue.user),
        is_pull_request=issue.pull_request is not None,
    ).model_dump()
    at = milliseconds(issue.updated_at)
    if action in PLAIN:
        return (Found(PLAIN[action].model_validate(about), at),)
    if action in LABELLED and given.label is not None and given.label.name:
        named: dict[str, object] = {**about, "label": given.label.name}
        if action == "labeled":
            named["text"] = text_digest(issue.title, issue.body)
        return (Found(LABELLED[action].model_validate(named), at),)
    return ()
