"""Reviews and review comments (GitHub REST: Pull request reviews, review comments)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from infra.local_github import objects_pull
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, not_found, unprocessable
from infra.local_github.git_objects import FileChange
from infra.local_github.pull_state import changes, emit_pull, emit_review
from infra.local_github.records import Json, Pull, Review, ReviewComment
from infra.local_github.routes_pulls import READ, WRITE, find_pull

_EVENTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED", "": "PENDING"}
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True)
class Remark:
    """A review comment as given, placed in the diff."""

    path: str
    body: str
    line: int | None
    start_line: int | None
    side: str
    hunk: str
    position: int = 1


def _find_review(call: Call) -> Review:
    made = call.repo.reviews.get(call.number("review_id"))
    if made is None or made.pull != find_pull(call).number:
        raise not_found()
    return made


async def create_review(call: Call) -> Answer:
    pull, event = find_pull(call), call.body.get("event") or ""
    body = call.text("body", "PullRequestReview") or ""
    given = call.body.get("comments") or []
    if not isinstance(event, str) or event not in _EVENTS or not isinstance(given, list):
        raise unprocessable(f"Invalid request.\n\nevent must be one of {', '.join(e for e in _EVENTS if e)}.")
    head = call.text("commit_id", "PullRequestReview") or pull.head_sha
    if await call.git.kind(call.repo.id, head) != "commit":
        raise unprocessable("The commit_id is not part of the pull request")
    _check_review(call, pull, event, bool(body.strip()), bool(given))
    diff = {c.path: c for c in await changes(call.world, call.repo, pull)} if given else {}
    remarks = [_remark(item, diff) for item in given]
    made = Review(
        id=call.world.new_id(),
        pull=pull.number,
        user_id=call.user.id,
        body=body,
        state=_EVENTS[event],
        commit_id=head,
        submitted_at=call.world.now() if event else None,
    )
    call.repo.reviews[made.id] = made
    comments = [_keep(call, pull, remark, made) for remark in remarks]
    if event:
        await _submitted(call, pull, made, comments)
    return Answer(200, objects_pull.review(call.world, call.repo, made))


def _check_review(call: Call, pull: Pull, event: str, body: bool, comments: bool) -> None:
    author = call.repo.issues[pull.number].user_id
    if event in ("APPROVE", "REQUEST_CHANGES") and author == call.user.id:
        verb = "approve" if event == "APPROVE" else "request changes on"
        message = f"Can not {verb} your own pull request"
        raise ApiError(422, "Unprocessable Entity", [f"Review {message[0].lower()}{message[1:]}", message])
    if (event == "REQUEST_CHANGES" and not body and not comments) or (event == "COMMENT" and not body and not comments):
        raise ApiError(422, "Unprocessable Entity", ["Review body can't be blank"])


async def _submitted(call: Call, pull: Pull, made: Review, comments: list[ReviewComment]) -> None:
    if call.user.id in pull.requested:
        pull.requested.remove(call.user.id)
    call.repo.issues[pull.number].updated_at = call.world.now()
    await emit_review(call, pull, made, "submitted")
    for comment in comments:
        _comment_event(call, pull, comment)


def _remark(item: object, diff: dict[str, FileChange]) -> Remark:
    if not isinstance(item, dict) or not isinstance(item.get("path"), str) or not isinstance(item.get("body"), str):
        raise unprocessable("Invalid request.\n\nEach comment needs a path and a body.")
    change, side = diff.get(item["path"]), item.get("side") or "RIGHT"
    if change is None:
        raise ApiError(422, "Unprocessable Entity", ["Path could not be resolved"])
    line, start = item.get("line"), item.get("start_line")
    if line is None and isinstance(item.get("position"), int):
        line = _line_at(change.patch or "", item["position"])
    if line is None and item.get("subject_type") == "file":
        return Remark(change.path, item["body"], None, None, side, "")
    found = _hunk(change.patch or "", line, side) if isinstance(line, int) else None
    if found is None or not isinstance(line, int):
        raise ApiError(422, "Unprocessable Entity", ["Line could not be resolved"])
    if start is not None and (not isinstance(start, int) or start >= line):
        raise ApiError(422, "Unprocessable Entity", ["start_line must precede the end line."])
    return Remark(change.path, item["body"], line, start, side, *found)


def _hunk(patch: str, wanted: int, side: str) -> tuple[str, int] | None:
    """A patch's hunk up to a line, and the line's diff position; None when the diff does not show that line."""
    shown: list[str] = []
    old = new = 0
    for position, text in enumerate(patch.split("\n")):
        header = _HUNK.match(text)
        if header:
            shown, old, new = [text], int(header[1]), int(header[2])
            continue
        shown.append(text)
        here = old if side == "LEFT" else new
        if here == wanted and text[:1] in ((" ", "-") if side == "LEFT" else (" ", "+")):
            return "\n".join(shown), position
        old += text[:1] in (" ", "-")
        new += text[:1] in (" ", "+")
    return None


def _line_at(patch: str, position: int) -> int | None:
    """The new file's line at a diff position (1 is the line below the first hunk header)."""
    new = 0
    for at, text in enumerate(patch.split("\n")):
        header = _HUNK.match(text)
        if header:
            new = int(header[2])
            continue
        if at == position:
            return new
        new += text[:1] in (" ", "+")
    return None


def _keep(call: Call, pull: Pull, remark: Remark, review: Review | None, reply_to: int | None = None) -> ReviewComment:
    now = call.world.now()
    made = ReviewComment(
        id=call.world.new_id(),
        pull=pull.number,
        review_id=review.id if review else None,
        user_id=call.user.id,
        body=remark.body,
        path=remark.path,
        line=remark.line,
        start_line=remark.start_line,
        side=remark.side,
        commit_id=review.commit_id if review else pull.head_sha,
        diff_hunk=remark.hunk,
        position=remark.position,
        in_reply_to=reply_to,
        created_at=now,
        updated_at=now,
    )
    call.repo.review_comments[made.id] = made
    return made


def _comment_event(call: Call, pull: Pull, made: ReviewComment, action: str = "created") -> None:
    body: Json = {
        "comment": objects_pull.review_comment(call.world, call.repo, made),
        "pull_request": objects_pull.simple_pull(call.world, call.repo, pull),
    }
    call.emit("pull_request_review_comment", action, body)


async def list_reviews(call: Call) -> Answer:
    pull = find_pull(call)
    mine = call.actor.user.id if call.actor.user else None
    found = [r for r in call.repo.reviews.values() if r.pull == pull.number]
    found = [r for r in found if r.state != "PENDING" or r.user_id == mine]
    return call.page(found, lambda r: objects_pull.review(call.world, call.repo, r))


async def get_review(call: Call) -> Answer:
    return Answer(200, objects_pull.review(call.world, call.repo, _find_review(call)))


async def submit_review(call: Call) -> Answer:
    made, pull = _find_review(call), find_pull(call)
    event = call.need("event", "PullRequestReview")
    if made.state != "PENDING" or made.user_id != call.user.id or event not in _EVENTS:
        raise unprocessable("Can not submit this review: it must be your own pending one, with an event.")
    body = call.text("body", "PullRequestReview") or made.body
    own = [c for c in call.repo.review_comments.values() if c.review_id == made.id]
    _check_review(call, pull, event, bool(body.strip()), bool(own))
    made.state, made.body, made.submitted_at = _EVENTS[event], body, call.world.now()
    await _submitted(call, pull, made, own)
    return Answer(200, objects_pull.review(call.world, call.repo, made))


async def dismiss_review(call: Call) -> Answer:
    made, message = _find_review(call), call.need("message", "PullRequestReview")
    if made.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise unprocessable(f"Can not dismiss a {made.state.lower()} pull request review")
    made.state, made.dismissal = "DISMISSED", message
    await emit_review(call, find_pull(call), made, "dismissed")
    return Answer(200, objects_pull.review(call.world, call.repo, made))


async def review_comments(call: Call) -> Answer:
    made = _find_review(call)
    found = [c for c in call.repo.review_comments.values() if c.review_id == made.id]
    return call.page(found, lambda c: objects_pull.review_comment(call.world, call.repo, c))


async def list_comments(call: Call) -> Answer:
    pull = find_pull(call)
    found = [c for c in call.repo.review_comments.values() if c.pull == pull.number]
    return call.page(found, lambda c: objects_pull.review_comment(call.world, call.repo, c))


async def create_comment(call: Call) -> Answer:
    pull, body = find_pull(call), call.need("body", "PullRequestReviewComment")
    reply_to = call.body.get("in_reply_to")
    if isinstance(reply_to, int):
        return await _reply(call, pull, reply_to, body)
    diff = {c.path: c for c in await changes(call.world, call.repo, pull)}
    return await _single(call, pull, _remark(call.body, diff), None)


async def reply_comment(call: Call) -> Answer:
    return await _reply(call, find_pull(call), call.number("comment_id"), call.need("body", "PullRequestReviewComment"))


async def _reply(call: Call, pull: Pull, parent_id: int, body: str) -> Answer:
    parent = call.repo.review_comments.get(parent_id)
    if parent is None or parent.pull != pull.number:
        raise not_found()
    remark = Remark(parent.path, body, parent.line, parent.start_line, parent.side, parent.diff_hunk, parent.position)
    return await _single(call, pull, remark, parent.id)


async def _single(call: Call, pull: Pull, remark: Remark, reply_to: int | None) -> Answer:
    """A comment on its own is a COMMENTED review with one comment, as on GitHub."""
    now = call.world.now()
    review = Review(
        id=call.world.new_id(),
        pull=pull.number,
        user_id=call.user.id,
        body="",
        state="COMMENTED",
        commit_id=pull.head_sha,
        submitted_at=now,
    )
    call.repo.reviews[review.id] = review
    made = _keep(call, pull, remark, review, reply_to)
    await emit_review(call, pull, review, "submitted")
    _comment_event(call, pull, made)
    return Answer(201, objects_pull.review_comment(call.world, call.repo, made))


async def get_comment(call: Call) -> Answer:
    return Answer(200, objects_pull.review_comment(call.world, call.repo, _find_comment(call)))


def _find_comment(call: Call) -> ReviewComment:
    made = call.repo.review_comments.get(call.number("comment_id"))
    if made is None:
        raise not_found()
    return made


async def set_draft(call: Call, draft: bool) -> Pull:
    """Turn a pull request into a draft or out of it; shared by the two GraphQL mutations."""
    pull = find_pull(call)
    if call.repo.issues[pull.number].state != "open":
        raise unprocessable("Pull request is closed")
    if pull.draft != draft:
        pull.draft = draft
        await emit_pull(call, pull, "converted_to_draft" if draft else "ready_for_review")
    return pull


_PULL = "/repos/{owner}/{repo}/pulls/{number}"
_REVIEW = _PULL + "/reviews/{review_id}"
ENDPOINTS = (
    Endpoint("GET", _PULL + "/reviews", list_reviews, READ),
    Endpoint("POST", _PULL + "/reviews", create_review, WRITE),
    Endpoint("GET", _REVIEW, get_review, READ),
    Endpoint("POST", _REVIEW + "/events", submit_review, WRITE),
    Endpoint("PUT", _REVIEW + "/dismissals", dismiss_review, Needs(("pull_requests",), "write", "write")),
    Endpoint("GET", _REVIEW + "/comments", review_comments, READ),
    Endpoint("GET", _PULL + "/comments", list_comments, READ),
    Endpoint("POST", _PULL + "/comments", create_comment, WRITE),
    Endpoint("POST", _PULL + "/comments/{comment_id}/replies", reply_comment, WRITE),
    Endpoint("GET", "/repos/{owner}/{repo}/pulls/comments/{comment_id}", get_comment, READ),
)
