"""GitHub's `pull_request_review_comment`: somebody wrote on a line of a diff."""

from __future__ import annotations

from handlers.github.comments import Changes, Comment, Spoken, edited, heard
from handlers.github.fields import Envelope, Pull, read
from handlers.github.translation import AppIdentity, Found, Payload


class ReviewComment(Envelope):
    pull_request: Pull | None = None
    comment: Comment | None = None
    changes: Changes | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`comment_added` or `command_given`; of an edit only that a command was edited in."""
    given = read(ReviewComment, "pull_request_review_comment", payload)
    pull, comment = given.pull_request, given.comment
    if given.action not in ("created", "edited") or pull is None or pull.number is None or comment is None:
        return ()
    spoken = Spoken(number=pull.number, on_pull_request=True, where="line", comment=comment)
    return heard(given, spoken, app) if given.action == "created" else edited(given, spoken, given.changes, app)
