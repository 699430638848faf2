"""JSON of issues, comments, labels and reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.local_github.objects_base import api, app_object, association, node_id, stamp, user_by_id
from infra.local_github.records import Comment, Issue, Json, Label, Reaction, Repo

if TYPE_CHECKING:
    from infra.local_github.world import World

CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def reaction_rollup(repo: Repo, subject: str, url: str) -> Json:
    """The counts that GitHub puts into issues and comments."""
    found = [r.content for r in repo.reactions if r.subject == subject]
    return {"url": f"{url}/reactions", "total_count": len(found), **{c: found.count(c) for c in CONTENTS}}


def reaction(world: World, made: Reaction) -> Json:
    return {
        "id": made.id,
        "node_id": node_id("Reaction", made.id),
        "user": user_by_id(world, made.user_id),
        "content": made.content,
        "created_at": stamp(made.created_at),
    }


def label(world: World, repo: Repo, made: Label) -> Json:
    return {
        "id": made.id,
        "node_id": node_id("Label", made.id),
        "url": f"{api(world)}/repos/{world.full_name(repo)}/labels/{made.name}",
        "name": made.name,
        "color": made.color,
        "default": made.name in ("bug", "documentation", "enhancement"),
        "description": made.description,
        "archived_at": None,
        "archived_by": None,
    }


def labels(world: World, repo: Repo, names: list[str]) -> list[Json]:
    """The label objects of an issue."""
    return [label(world, repo, repo.labels[name]) for name in names if name in repo.labels]


def issue(world: World, repo: Repo, made: Issue) -> Json:
    """GitHub's `issue`; a pull request's issue carries a `pull_request` object."""
    base = f"{api(world)}/repos/{world.full_name(repo)}"
    url = f"{base}/issues/{made.number}"
    pull = repo.pulls.get(made.number)
    site = f"{world.base_url}/{world.full_name(repo)}"
    shown: Json = {
        "id": made.id,
        "node_id": node_id("Issue", made.id),
        "url": url,
        "repository_url": base,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{site}/{'pull' if pull else 'issues'}/{made.number}",
        "number": made.number,
        "state": made.state,
        "state_reason": made.state_reason,
        "title": made.title,
        "body": made.body,
        "user": user_by_id(world, made.user_id),
        "author_association": association(world, repo, made.user_id),
        "labels": labels(world, repo, made.labels),
        "assignees": [user_by_id(world, user) for user in made.assignees],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": sum(1 for c in repo.comments.values() if c.issue == made.number),
        "closed_at": stamp(made.closed_at),
        "closed_by": user_by_id(world, made.closed_by),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "reactions": reaction_rollup(repo, f"issue:{made.number}", url),
        "performed_via_github_app": via_app(world, made.app_id),
    }
    if pull:
        pull_url = f"{base}/pulls/{made.number}"
        web = shown["html_url"]
        shown["draft"] = pull.draft
        shown["pull_request"] = {
            "url": pull_url,
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "merged_at": stamp(pull.merged_at),
        }
    return shown


def via_app(world: World, app_id: int | None) -> Json | None:
    """The App through which something was written, or None."""
    app = world.state.apps.get(app_id) if app_id is not None else None
    return app_object(world, app) if app else None


def comment(world: World, repo: Repo, made: Comment) -> Json:
    """GitHub's `issue-comment`."""
    base = f"{api(world)}/repos/{world.full_name(repo)}"
    url = f"{base}/issues/comments/{made.id}"
    page = "pull" if made.issue in repo.pulls else "issues"
    return {
        "id": made.id,
        "node_id": node_id("IssueComment", made.id),
        "url": url,
        "html_url": f"{world.base_url}/{world.full_name(repo)}/{page}/{made.issue}#issuecomment-{made.id}",
        "issue_url": f"{base}/issues/{made.issue}",
        "user": user_by_id(world, made.user_id),
        "author_association": association(world, repo, made.user_id),
        "body": made.body,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "reactions": reaction_rollup(repo, f"comment:{made.id}", url),
        "performed_via_github_app": via_app(world, made.app_id),
    }
