"""JSON of check runs, check suites and commit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.local_github.objects_base import api, app_object, minimal_repository, node_id, stamp
from infra.local_github.objects_pull import minimal_pull
from infra.local_github.records import CheckRun, CheckSuite, Json, Repo, Status

if TYPE_CHECKING:
    from infra.local_github.world import World


def pulls_at(world: World, repo: Repo, head: str) -> list[Json]:
    """The open pull requests whose head is this commit."""
    found = (p for p in repo.pulls.values() if p.head_sha == head and repo.issues[p.number].state == "open")
    return [minimal_pull(world, repo, pull) for pull in found]


def check_run(world: World, repo: Repo, made: CheckRun) -> Json:
    """GitHub's `check-run` (buttons are not shown by the API, as on GitHub)."""
    url = f"{api(world)}/repos/{world.full_name(repo)}/check-runs/{made.id}"
    page = f"{world.base_url}/{world.full_name(repo)}/runs/{made.id}"
    return {
        "id": made.id,
        "name": made.name,
        "node_id": node_id("CheckRun", made.id),
        "head_sha": made.head_sha,
        "external_id": made.external_id or "",
        "url": url,
        "html_url": page,
        "details_url": made.details_url or page,
        "status": made.status,
        "conclusion": made.conclusion,
        "started_at": stamp(made.started_at),
        "completed_at": stamp(made.completed_at),
        "output": {
            "title": made.title,
            "summary": made.summary,
            "text": made.text,
            "annotations_count": len(made.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": made.suite_id},
        "app": app_object(world, world.state.apps[made.app_id]),
        "pull_requests": pulls_at(world, repo, made.head_sha),
    }


def check_suite(world: World, repo: Repo, made: CheckSuite) -> Json:
    """A check suite as webhooks carry it (no `repository`, no head commit)."""
    url = f"{api(world)}/repos/{world.full_name(repo)}/check-suites/{made.id}"
    runs = [r for r in repo.checks.values() if r.suite_id == made.id]
    return {
        "id": made.id,
        "node_id": node_id("CheckSuite", made.id),
        "head_branch": made.head_branch,
        "head_sha": made.head_sha,
        "status": made.status,
        "conclusion": made.conclusion,
        "url": url,
        "before": None,
        "after": made.head_sha,
        "pull_requests": pulls_at(world, repo, made.head_sha),
        "app": app_object(world, world.state.apps[made.app_id]),
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.updated_at),
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
    }


def status(world: World, repo: Repo, made: Status) -> Json:
    """One commit status."""
    return {
        "url": f"{api(world)}/repos/{world.full_name(repo)}/statuses/{made.sha}",
        "avatar_url": f"{world.base_url}/avatars/{made.user_id}",
        "id": made.id,
        "node_id": node_id("Status", made.id),
        "state": made.state,
        "description": made.description,
        "target_url": made.target_url,
        "context": made.context,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
    }


def combined_status(world: World, repo: Repo, sha: str) -> Json:
    """The newest status of each context, and the worst of them."""
    newest = {s.context: s for s in repo.statuses if s.sha == sha}
    states = {s.state for s in newest.values()}
    worst = "failure" if states & {"failure", "error"} else "success"
    if not states or ("pending" in states and worst == "success"):
        worst = "pending"
    url = f"{api(world)}/repos/{world.full_name(repo)}/commits/{sha}"
    return {
        "state": worst,
        "statuses": [status(world, repo, s) for s in newest.values()],
        "sha": sha,
        "total_count": len(newest),
        "repository": minimal_repository(world, repo),
        "commit_url": url,
        "url": f"{url}/status",
    }
