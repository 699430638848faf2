"""The step that takes the pull request out of draft when the reviewer agent approved the tree that is pushed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import structlog

from agents.board import PullRequest, Review, TestResults, value_of
from gates.evidence import OwnerGroup
from handlers.events import Actor
from handlers.messages import findings as findings_message
from handlers.messages import pull as pull_message
from handlers.messages.findings import Finding, FindingsView
from handlers.ports import Commit, GitHubError, Later, LineComment, Refused, Standing, Unknown
from handlers.publisher import Effect, Receipt, marker
from handlers.steps import security
from handlers.steps.owners import Change, owners_of
from handlers.steps.pull_text import pull_view
from handlers.work import Work

log = structlog.get_logger("seconder.mark_ready")

MOST_ASKED = 3
MOST_OWNERS = 15
"""GitHub takes no more reviewers for a pull request."""


async def run(work: Work) -> Commit:
    """Write `pull_request` ready, with the findings as one review and eligible people asked to look.

    An approval of an older tree readies nothing: the newer one gets a review of its own. Where the security gate does
    not pass any more, it is asked once more.
    """
    review_entry, pull_entry = work.need("review"), work.need("pull_request")
    review, pull = value_of(review_entry, Review), value_of(pull_entry, PullRequest)
    results = value_of(work.need("test_results"), TestResults)
    if not review.approved or not review.tree == results.tree == pull.tree:
        return work.done()
    if not await security.still_passes(work, pull.number):
        return security.voided(work)
    github, repo = work.context.github, work.run.repo
    view = pull_view(work)
    await github.pulls.edit(repo, pull.number, pull_message.title(view.number, view.what), pull_message.render(view))
    await _post_findings(work, review, pull, results.diff)
    await github.pulls.mark_ready(repo, pull.number)
    await _ask_people(work, pull)
    value = pull.model_copy(update={"action": "ready", "draft": False})
    return work.done(work.entry("pull_request", value, (review_entry.id, pull_entry.id)))


async def _post_findings(work: Work, review: Review, pull: PullRequest, diff: str) -> None:
    reviews, repo = work.context.github.reviews, work.run.repo
    mark = marker(work.run.id, f"review-{pull.head_sha[:12]}")
    lines = lines_of(diff)
    found = [
        Finding(c.file, c.line, c.severity, c.category, c.message, c.suggestion, c.line in lines.get(c.file, ()))
        for c in review.comments
    ]
    view = FindingsView(pull.head_sha, review.approved, review.summary, tuple(found), work.state.models == {"scripted"})
    comments = [
        LineComment(0, None, one.file, one.line, findings_message.render_line(one), None) for one in found if one.placed
    ]

    async def do() -> Receipt:
        body = f"{findings_message.render(view)}\n\n{mark}"
        try:
            return {"review": await reviews.post(repo, pull.number, pull.head_sha, body, comments)}
        except Refused:
            # GitHub knows the diff better than we do: if it refuses a line, everything goes into the body.
            loose = FindingsView(view.head, view.approved, view.summary, tuple(_loose(found)), view.scripted)
            body = f"{findings_message.render(loose)}\n\n{mark}"
            return {"review": await reviews.post(repo, pull.number, pull.head_sha, body, [])}

    async def find() -> Receipt | None:
        for one in await reviews.list(repo, pull.number):
            if mark in one.body:
                return {"review": one.id}
        return None

    await work.publisher.once(Effect(f"review:{pull.head_sha}", do, find))


def _loose(found: list[Finding]) -> list[Finding]:
    return [Finding(f.file, f.line, f.severity, f.category, f.message, f.suggestion) for f in found]


_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def lines_of(diff: str) -> dict[str, set[int]]:
    """For each path of a unified diff the new-side lines that it shows, where GitHub takes comments."""
    lines: dict[str, set[int]] = {}
    path, number, left = "", 0, 0
    for line in diff.split("\n"):
        if left and line.startswith(("+", " ")):
            lines.setdefault(path, set()).add(number)
            number, left = number + 1, left - 1
        elif hunk := _HUNK.match(line):
            number, left = int(hunk[1]), int(hunk[2] or 1)
        elif not left and line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
    return lines


async def _ask_people(work: Work, pull: PullRequest) -> None:
    """Ask people who could approve, code owners of the change first, never the requester.

    Who cannot be asked, or cannot be told, is no reason to fail.
    """
    github, repo = work.context.github, work.run.repo
    writers = await github.people.with_write(repo)
    groups = await _owner_groups(work, pull, writers)
    logins = whom_to_ask(writers, work.run.requester.id, groups)
    if not logins:
        return

    async def do() -> Receipt:
        try:
            await github.reviews.request(repo, pull.number, logins)
        except GitHubError as error:
            return {"asked": [], "why": str(error)[:200]}
        return {"asked": logins}

    async def find() -> Receipt | None:
        # Who has reviewed meanwhile is no longer among those who were asked, and would be asked once more.
        reviews = work.context.github.reviews
        there = set(await reviews.requested(repo, pull.number))
        there |= {one.author.login for one in await reviews.list(repo, pull.number) if one.author is not None}
        asked = [login for login in logins if login in there]
        return {"asked": asked} if asked else None

    await work.publisher.once(Effect(f"reviewers:{pull.number}", do, find))


async def _owner_groups(work: Work, pull: PullRequest, writers: Sequence[Standing]) -> tuple[OwnerGroup, ...]:
    change = Change(work.run.repo, pull.number, work.run.default_branch)
    try:
        return (await owners_of(work.context.github.rules, change, writers)).groups
    except (Later, Unknown):
        raise
    except GitHubError as error:
        log.warning("owners_unknown", pull=pull.number, repo=work.run.repo.full_name, error=str(error))
        return ()


def whom_to_ask(writers: Sequence[Standing], requester: int, groups: Sequence[OwnerGroup]) -> list[str]:
    """Logins of up to `MOST_ASKED` people, more only where each group of code owners needs somebody of its own.

    Each group gets one of its people, whoever stands in most groups first; the rest are anybody who may write.
    """
    able = [one.user for one in writers if one.user.type == "User" and one.user.id != requester]
    weight = {user.id: sum(user.id in group.people for group in groups) for user in able}
    able.sort(key=lambda user: (-weight[user.id], user.login.casefold()))
    asked: list[Actor] = []
    for group in groups:
        owners = [user for user in able if user.id in group.people]
        if owners and not any(user in asked for user in owners):
            asked.append(owners[0])
    asked += [user for user in able if user not in asked][: max(0, MOST_ASKED - len(asked))]
    return sorted((user.login for user in asked[:MOST_OWNERS]), key=str.casefold)
