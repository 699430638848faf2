"""What follows from git for pull requests: counts, mergeability, what blocks a merge, and what a moved branch does."""

from __future__ import annotations

import re

from infra.local_github import objects_git, objects_issue, objects_pull
from infra.local_github.api import Call
from infra.local_github.git_objects import FileChange, diff, merge_trees, read_commits
from infra.local_github.git_store import ZERO
from infra.local_github.objects_base import simple_user
from infra.local_github.objects_pull import PullFacts
from infra.local_github.owners import owners_missing
from infra.local_github.records import Issue, Json, Protection, Pull, Repo, Review
from infra.local_github.world import World

PASSING = ("success", "neutral", "skipped")
_CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:([\w.-]+/[\w.-]+))?#(\d{1,9})\b", re.IGNORECASE
)


async def changes(world: World, repo: Repo, pull: Pull) -> list[FileChange]:
    """The files that a pull request changes (merge base to head)."""
    return await diff(world.git, repo.id, pull.merge_base, pull.head_sha)


async def facts(world: World, repo: Repo, pull: Pull) -> PullFacts:
    """Counts and mergeability; what git says is kept in memory per pair of commits."""
    key = (repo.id, pull.base_sha, pull.merge_base, pull.head_sha)
    known = world.facts.get(key)
    if known is None:
        changed = await changes(world, repo, pull)
        commits = await world.git.between(repo.id, pull.merge_base, pull.head_sha)
        merges = await merge_trees(world.git, repo.id, pull.base_sha, pull.head_sha) is not None
        counts = (sum(c.additions for c in changed), sum(c.deletions for c in changed), len(changed))
        known = world.facts[key] = PullFacts(merges, "", len(commits), *counts)
    state = "unknown"
    mergeable: bool | None = None
    if repo.issues[pull.number].state == "open":
        mergeable = known.mergeable
        blocked = bool(await blockers(world, repo, pull))
        state = "draft" if pull.draft else "blocked" if blocked else "clean"
        state = state if mergeable else "dirty"
    return PullFacts(mergeable, state, known.commits, known.additions, known.deletions, known.files)


async def pull_object(world: World, repo: Repo, pull: Pull) -> Json:
    """The full object of a pull request."""
    return objects_pull.pull_object(world, repo, pull, await facts(world, repo, pull))


def standing_reviews(repo: Repo, pull: Pull) -> dict[int, Review]:
    """Each person's newest review that approves or asks for changes and was not dismissed since."""
    standing: dict[int, Review] = {}
    for review in repo.reviews.values():
        if review.pull != pull.number or review.state in ("COMMENTED", "PENDING"):
            continue
        if review.state == "DISMISSED":
            standing.pop(review.user_id, None)
        else:
            standing[review.user_id] = review
    return standing


async def blockers(world: World, repo: Repo, pull: Pull) -> list[str]:
    """Why the base branch's protection does not let this pull request merge, in GitHub's words."""
    rules = repo.protection.get(pull.base_ref)
    if rules is None:
        return []
    found = [f'Required status check "{name}" is {state}.' for name, state in _unmet_checks(repo, pull, rules)]
    if rules.approvals or rules.reviews_required:
        standing = standing_reviews(repo, pull).items()
        states = [r.state for user, r in standing if world.can_write(repo, world.state.users.get(user))]
        approved = states.count("APPROVED")
        if "CHANGES_REQUESTED" in states:
            found.append("Changes must be approved by reviewers with write access: changes were requested.")
        if approved < rules.approvals:
            some = "review is" if rules.approvals == 1 else "reviews are"
            found.append(f"At least {rules.approvals} approving {some} required by reviewers with write access.")
        by = {user for user, review in standing if review.state == "APPROVED"}
        if rules.code_owners and await owners_missing(world, repo, pull, by):
            found.append("Waiting on code owner review.")
    if rules.strict and pull.merge_base != pull.base_sha:
        found.append("This branch must be up to date with the base branch before merging.")
    return found


def _unmet_checks(repo: Repo, pull: Pull, rules: Protection) -> list[tuple[str, str]]:
    unmet = []
    for name, app_id in rules.checks:
        runs = [r for r in repo.checks.values() if r.name == name and r.head_sha == pull.head_sha]
        runs = [r for r in runs if app_id in (None, -1, r.app_id)]
        newest = {run.app_id: run for run in runs}
        ends = [r.conclusion if r.status == "completed" else "pending" for r in newest.values()]
        if app_id in (None, -1):
            status = {s.context: s.state for s in repo.statuses if s.sha == pull.head_sha}.get(name)
            ends += [status] if status else []
        if not ends:
            unmet.append((name, "expected"))
        elif any(end not in PASSING for end in ends):
            unmet.append((name, "pending" if "pending" in ends else "failing"))
    return unmet


async def moved(call: Call, name: str, before: str, after: str) -> None:
    """What GitHub does once a ref has moved: push event, pull requests updated, merged or closed, issues closed."""
    world, repo = call.world, call.repo
    repo.pushed_at = world.now()
    await _push_event(call, name, before, after)
    if not name.startswith("refs/heads/"):
        return
    branch = name.removeprefix("refs/heads/")
    for pull in list(repo.pulls.values()):
        if repo.issues[pull.number].state == "open" and pull.head_ref == branch:
            await _head_moved(call, pull, before, after)
    if after == ZERO:
        return
    for pull in list(repo.pulls.values()):
        if repo.issues[pull.number].state == "open" and pull.base_ref == branch:
            await _base_moved(call, pull, after)
    if branch == repo.default_branch and before != ZERO:
        new = await read_commits(call.git, repo.id, await call.git.between(repo.id, before, after))
        for commit in new:
            close_mentioned(call, commit.message)


async def _push_event(call: Call, name: str, before: str, after: str) -> None:
    world, repo = call.world, call.repo
    made, gone = before == ZERO, after == ZERO
    shas: list[str] = []
    if not gone and await call.git.kind(repo.id, after) == "commit":
        since = before
        if made:
            default = await call.git.ref(repo.id, f"refs/heads/{repo.default_branch}")
            since = default if default and name != f"refs/heads/{repo.default_branch}" else ZERO
        shas = await call.git.between(repo.id, None if since == ZERO else since, after)
    commits = [objects_git.push_commit(world, repo, c) for c in await read_commits(call.git, repo.id, shas[-20:])]
    forced = not made and not gone and not await call.git.is_ancestor(repo.id, before, after)
    site = f"{world.base_url}/{world.full_name(repo)}"
    body: Json = {
        "ref": name,
        "before": before,
        "after": after,
        "pusher": {"name": call.user.login, "email": world.email(call.user)},
        "created": made,
        "deleted": gone,
        "forced": forced,
        "base_ref": None,
        "compare": f"{site}/compare/{before[:12]}...{after[:12]}",
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
    }
    call.emit("push", None, body)


async def _head_moved(call: Call, pull: Pull, before: str, after: str) -> None:
    repo = call.repo
    if after == ZERO:
        await close_issue(call, repo.issues[pull.number], None)
        return
    pull.head_sha = after
    repo.issues[pull.number].updated_at = call.world.now()
    base = await call.git.merge_base(repo.id, pull.base_sha, after)
    pull.merge_base = base or pull.base_sha
    await call.git.git(repo.id, "update-ref", f"refs/pull/{pull.number}/head", after)
    await emit_pull(call, pull, "synchronize", {"before": before, "after": after})
    rules = repo.protection.get(pull.base_ref)
    if rules and rules.dismiss_stale:
        for review in repo.reviews.values():
            if review.pull == pull.number and review.state == "APPROVED":
                review.state = "DISMISSED"
                await emit_review(call, pull, review, "dismissed")


async def _base_moved(call: Call, pull: Pull, after: str) -> None:
    repo = call.repo
    if await call.git.is_ancestor(repo.id, pull.head_sha, after) and pull.merge_base != pull.head_sha:
        await mark_merged(call, pull, after)
        return
    pull.base_sha = after
    pull.merge_base = await call.git.merge_base(repo.id, after, pull.head_sha) or after


async def mark_merged(call: Call, pull: Pull, commit: str) -> None:
    """Record a merge, close the pull request and, on the default branch, the issues that its text closes."""
    issue = call.repo.issues[pull.number]
    pull.merged_at, pull.merged_by, pull.merge_sha = call.world.now(), call.user.id, commit
    await close_issue(call, issue, None)
    if pull.base_ref == call.repo.default_branch:
        close_mentioned(call, issue.body or "")


async def close_issue(call: Call, issue: Issue, reason: str | None) -> None:
    """Close an issue or pull request and say so."""
    pull = call.repo.pulls.get(issue.number)
    issue.state, issue.closed_at, issue.closed_by = "closed", call.world.now(), call.user.id
    issue.updated_at = call.world.now()
    if pull:
        await emit_pull(call, pull, "closed")
    else:
        issue.state_reason = reason or "completed"
        emit_issue(call, issue, "closed")


def close_mentioned(call: Call, text: str) -> None:
    """Close the open issues of this repository that a text closes by keyword (GitHub: Linking a PR to an issue)."""
    for home, number in _CLOSES.findall(text):
        issue = call.repo.issues.get(int(number))
        here = not home or home.lower() == call.world.full_name(call.repo).lower()
        if here and issue and issue.state == "open" and issue.number not in call.repo.pulls:
            issue.state, issue.state_reason = "closed", "completed"
            issue.closed_at = issue.updated_at = call.world.now()
            issue.closed_by = call.user.id
            emit_issue(call, issue, "closed")


def emit_issue(call: Call, issue: Issue, action: str, more: Json | None = None) -> None:
    """Send an `issues` webhook."""
    call.emit("issues", action, {"issue": objects_issue.issue(call.world, call.repo, issue), **(more or {})})


async def emit_pull(call: Call, pull: Pull, action: str, more: Json | None = None) -> None:
    """Send a `pull_request` webhook."""
    shown = await pull_object(call.world, call.repo, pull)
    shown["merge_commit_sha"] = pull.merge_sha
    call.emit("pull_request", action, {"number": pull.number, "pull_request": shown, **(more or {})})


async def emit_review(call: Call, pull: Pull, review: Review, action: str) -> None:
    """Send a `pull_request_review` webhook, whose state is in lower case."""
    shown = objects_pull.review(call.world, call.repo, review)
    shown["state"] = str(shown["state"]).lower()
    body = {"review": shown, "pull_request": objects_pull.simple_pull(call.world, call.repo, pull)}
    call.emit("pull_request_review", action, body)


def requested_user(call: Call, user_id: int) -> Json:
    """A reviewer as the review-request webhooks name them."""
    return simple_user(call.world, call.world.state.users[user_id])
