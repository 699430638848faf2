"""GitHub's `issue_comment`: somebody wrote on the thread of an issue or pull request.

Only new comments count: hiding or editing an old one must not make it act (Mergifyio/mergify#5032, #5001).
"""

from __future__ import annotations

from handlers.github.comments import Changes, Comment, Spoken, edited, heard
from handlers.github.fields import Envelope, Fields, read
from handlers.github.translation import AppIdentity, Found, Payload
from handlers.snapshot import text_digest


class Issue(Fields):
    number: int | None = None
    pull_request: Fields | None = None
    title: str | None = None
    body: str | None = None


class IssueComment(Envelope):
    issue: Issue | None = None
    comment: Comment | None = None
    changes: Changes | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`comment_added` or `command_given`; of an edit only that a command was edited in."""
    given = read(IssueComment, "issue_comment", payload)
    issue, comment = given.issue, given.comment
    if given.action not in ("created", "edited") or issue is None or issue.number is None or comment is None:
        return ()
    on_pull = issue.pull_request is not None
    text = None if on_pull else text_digest(issue.title, issue.body)
    spoken = Spoken(number=issue.number, on_pull_request=on_pull, where="issue", comment=comment, text=text)
    return heard(given, spoken, app) if given.action == "created" else edited(given, spoken, given.changes, app)
