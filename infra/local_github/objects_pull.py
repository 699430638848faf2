"""JSON of pull requests, reviews and review comments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.local_github import objects_issue
from infra.local_github.git_objects import FileChange
from infra.local_github.objects_base import api, association, node_id, repository, simple_user, stamp, user_by_id
from infra.local_github.records import Json, Pull, Repo, Review, ReviewComment

if TYPE_CHECKING:
    from infra.local_github.world import World


@dataclass(frozen=True)
class PullFacts:
    """What git knows about a pull request: counts, and whether it merges."""

    mergeable: bool | None
    state: str
    commits: int
    additions: int
    deletions: int
    files: int


def simple_pull(world: World, repo: Repo, pull: Pull) -> Json:
    """GitHub's `pull-request-simple`, as in lists."""
    made = repo.issues[pull.number]
    base = f"{api(world)}/repos/{world.full_name(repo)}"
    url = f"{base}/pulls/{pull.number}"
    web = f"{world.base_url}/{world.full_name(repo)}/pull/{pull.number}"
    links = {
        "self": url,
        "html": web,
        "issue": f"{base}/issues/{pull.number}",
        "comments": f"{base}/issues/{pull.number}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{base}/statuses/{pull.head_sha}",
    }
    return {
        **{f"{key}_url": target for key, target in links.items() if key not in ("self", "html")},
        "url": url,
        "id": pull.id,
        "node_id": node_id("PullRequest", pull.id),
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "number": pull.number,
        "state": made.state,
        "locked": False,
        "active_lock_reason": None,
        "title": made.title,
        "body": made.body,
        "user": user_by_id(world, made.user_id),
        "author_association": association(world, repo, made.user_id),
        "labels": objects_issue.labels(world, repo, made.labels),
        "milestone": None,
        "assignees": [user_by_id(world, user) for user in made.assignees],
        "requested_reviewers": [user_by_id(world, user) for user in pull.requested],
        "requested_teams": [],
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "closed_at": stamp(made.closed_at),
        "merged_at": stamp(pull.merged_at),
        "draft": pull.draft,
        "head": _end(world, repo, pull.head_ref, pull.head_sha),
        "base": _end(world, repo, pull.base_ref, pull.base_sha),
        "_links": {key: {"href": target} for key, target in links.items()},
        "auto_merge": None,
    }


def pull_object(world: World, repo: Repo, pull: Pull, facts: PullFacts) -> Json:
    """GitHub's `pull-request`."""
    written = [c for c in repo.review_comments.values() if c.pull == pull.number]
    return {
        **simple_pull(world, repo, pull),
        "merged": pull.merged_at is not None,
        "mergeable": facts.mergeable,
        "rebaseable": facts.mergeable,
        "mergeable_state": facts.state,
        "merged_by": user_by_id(world, pull.merged_by),
        "comments": sum(1 for c in repo.comments.values() if c.issue == pull.number),
        "review_comments": len(written),
        "maintainer_can_modify": False,
        "commits": facts.commits,
        "additions": facts.additions,
        "deletions": facts.deletions,
        "changed_files": facts.files,
    }


def minimal_pull(world: World, repo: Repo, pull: Pull) -> Json:
    """GitHub's `pull-request-minimal`, as in check runs."""
    url = f"{api(world)}/repos/{world.full_name(repo)}"
    home = {"id": repo.id, "url": url, "name": repo.name}
    return {
        "id": pull.id,
        "number": pull.number,
        "url": f"{url}/pulls/{pull.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": home},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": home},
    }


def _end(world: World, repo: Repo, ref: str, sha: str) -> Json:
    owner = world.state.users[repo.owner_id]
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": simple_user(world, owner),
        "repo": repository(world, repo),
    }


def review(world: World, repo: Repo, made: Review) -> Json:
    """GitHub's `pull-request-review`; `state` is upper case here and lower case in webhooks."""
    pull_url = f"{api(world)}/repos/{world.full_name(repo)}/pulls/{made.pull}"
    web = f"{world.base_url}/{world.full_name(repo)}/pull/{made.pull}#pullrequestreview-{made.id}"
    return {
        "id": made.id,
        "node_id": node_id("PullRequestReview", made.id),
        "user": user_by_id(world, made.user_id),
        "body": made.body,
        "state": made.state,
        "html_url": web,
        "pull_request_url": pull_url,
        "author_association": association(world, repo, made.user_id),
        "_links": {"html": {"href": web}, "pull_request": {"href": pull_url}},
        "submitted_at": stamp(made.submitted_at),
        "commit_id": made.commit_id,
    }


def review_comment(world: World, repo: Repo, made: ReviewComment) -> Json:
    """GitHub's `pull-request-review-comment`."""
    base = f"{api(world)}/repos/{world.full_name(repo)}/pulls"
    url = f"{base}/comments/{made.id}"
    web = f"{world.base_url}/{world.full_name(repo)}/pull/{made.pull}#discussion_r{made.id}"
    shown: Json = {
        "url": url,
        "pull_request_review_id": made.review_id,
        "id": made.id,
        "node_id": node_id("PullRequestReviewComment", made.id),
        "diff_hunk": made.diff_hunk,
        "path": made.path,
        "commit_id": made.commit_id,
        "original_commit_id": made.commit_id,
        "user": user_by_id(world, made.user_id),
        "body": made.body,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "html_url": web,
        "pull_request_url": f"{base}/{made.pull}",
        "author_association": association(world, repo, made.user_id),
        "_links": {
            "self": {"href": url},
            "html": {"href": web},
            "pull_request": {"href": f"{base}/{made.pull}"},
        },
        "start_line": made.start_line,
        "original_start_line": made.start_line,
        "start_side": made.side if made.start_line else None,
        "line": made.line,
        "original_line": made.line,
        "position": made.position,
        "original_position": made.position,
        "side": made.side,
        "subject_type": "line" if made.line else "file",
        "reactions": objects_issue.reaction_rollup(repo, f"review_comment:{made.id}", url),
    }
    if made.in_reply_to:
        shown["in_reply_to_id"] = made.in_reply_to
    return shown


def diff_entry(world: World, repo: Repo, sha: str, change: FileChange) -> Json:
    """GitHub's `diff-entry`: one changed file."""
    site = f"{world.base_url}/{world.full_name(repo)}"
    contents = f"{api(world)}/repos/{world.full_name(repo)}/contents/{change.path}?ref={sha}"
    shown: Json = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{site}/blob/{sha}/{change.path}",
        "raw_url": f"{site}/raw/{sha}/{change.path}",
        "contents_url": contents,
    }
    if change.patch is not None:
        shown["patch"] = change.patch
    if change.previous:
        shown["previous_filename"] = change.previous
    return shown
