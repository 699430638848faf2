"""GitHub's `pull_request_review_comment`: somebody wrote on a line of a diff."""

from __future__ import annotations

from handlers.github.comments import Comment, Spoken, heard
from handlers.github.fields import Envelope, Pull, read
from handlers.github.translation import AppIdentity, Found, Payload


class ReviewComment(Envelope):
    pull_request: Pull | None = None
    comment: Comment | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`comment_added` or `command_given`."""
    given = read(ReviewComment, "pull_request_review_comment", payload)
    pull, comment = given.pull_request, given.comment
    if given.action != "created" or pull is None or pull.number is None or comment is None:
        return ()
    return heard(given, Spoken(number=pull.number, on_pull_request=True, where="line", comment=comment), app)
