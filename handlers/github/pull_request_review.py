"""GitHub's `pull_request_review`: a review was submitted or dismissed. Its body may also be a comment or a command."""

from __future__ import annotations

from handlers.events import ReviewDismissed, ReviewSubmitted
from handlers.github.comments import Changes, Comment, Spoken, edited, heard, kept
from handlers.github.fields import Branch, Envelope, Pull, actor, is_us, milliseconds, read
from handlers.github.translation import AppIdentity, Found, Payload

STATES = frozenset({"approved", "changes_requested", "commented", "dismissed"})


class Review(Comment):
    state: str | None = None
    commit_id: str | None = None


class PullRequestReview(Envelope):
    pull_request: Pull | None = None
    review: Review | None = None
    changes: Changes | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`review_submitted` (with `comment_added` or `command_given` for its body) or `review_dismissed`."""
    given = read(PullRequestReview, "pull_request_review", payload)
    pull, review = given.pull_request, given.review
    if pull is None or pull.number is None or review is None:
        return ()
    if given.action == "dismissed":
        return _review(given, pull, review, ReviewDismissed)
    spoken = Spoken(number=pull.number, on_pull_request=True, where="review", comment=review)
    if given.action == "edited":
        return edited(given, spoken, given.changes, app)
    if given.action != "submitted" or is_us(app, review.user, review.performed_via_github_app):
        return ()
    return _review(given, pull, review, ReviewSubmitted) + heard(given, spoken, app)


def _review(given: PullRequestReview, pull: Pull, review: Review, kind: type[ReviewSubmitted]) -> tuple[Found, ...]:
    """The review itself; none when GitHub reports a state that is neither a vote nor a comment."""
    repo, state = given.repo(), (review.state or "").lower()
    if repo is None or pull.number is None or review.id is None or state not in STATES:
        return ()
    record = kind.model_validate(
        {
            "repo": repo,
            "sender": given.who(),
            "number": pull.number,
            "review_id": review.id,
            "state": state,
            "body": kept(review.body or "")[0],
            "head": review.commit_id or None,
            "current_head": (pull.head or Branch()).sha or "",
            "author": actor(review.user),
            "url": review.html_url or "",
        }
    )
    return (Found(record, milliseconds(review.submitted_at)),)
