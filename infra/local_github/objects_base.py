"""JSON of accounts, Apps and repositories, shaped as GitHub's REST API shapes them (API version 2026-03-10)."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from infra.local_github.records import App, Installation, Json, Repo, Role, User

if TYPE_CHECKING:
    from infra.local_github.world import World

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPO_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def stamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with a trailing Z, as all of GitHub's times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def node_id(kind: str, number: int) -> str:
    """An opaque global id from which GraphQL finds the thing again."""
    return base64.urlsafe_b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")


def read_node_id(node: str) -> tuple[str, int] | None:
    """The inverse of `node_id`, or None for anything else."""
    try:
        kind, _, number = base64.urlsafe_b64decode(node + "=" * (-len(node) % 4)).decode().partition(":")
        return kind, int(number)
    except ValueError:
        return None


def api(world: World) -> str:
    """What API links start with."""
    return f"{world.base_url}/api/v3"


def simple_user(world: World, user: User) -> Json:
    """GitHub's `simple-user`."""
    url = f"{api(world)}/users/{user.login}"
    shown: Json = {
        "login": user.login,
        "id": user.id,
        "node_id": node_id("User", user.id),
        "avatar_url": f"{world.base_url}/avatars/{user.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.base_url}/{user.login}",
        "type": user.type,
        "site_admin": False,
        "user_view_type": "public",
    }
    return shown | {key: url + tail for key, tail in _USER_LINKS.items()}


def user_by_id(world: World, user_id: int | None) -> Json | None:
    """`simple-user` of an id, or None when there is none."""
    user = world.state.users.get(user_id) if user_id is not None else None
    return simple_user(world, user) if user else None


def public_user(world: World, user: User) -> Json:
    """GitHub's `public-user`."""
    empty = dict.fromkeys(("company", "location", "email", "hireable", "bio", "twitter_username"))
    counts = dict.fromkeys(("public_gists", "followers", "following"), 0)
    owned = sum(1 for r in world.state.repos.values() if r.owner_id == user.id and not r.private)
    return {
        **simple_user(world, user),
        **empty,
        **counts,
        "name": user.name,
        "blog": "",
        "public_repos": owned,
        "created_at": stamp(user.created_at),
        "updated_at": stamp(user.created_at),
    }


def app_object(world: World, app: App) -> Json:
    """GitHub's `integration`: an App."""
    installed = sum(1 for i in world.state.installations.values() if i.app_id == app.id)
    return {
        "id": app.id,
        "slug": app.slug,
        "client_id": app.client_id,
        "node_id": node_id("App", app.id),
        "owner": simple_user(world, world.state.users[app.owner_id]),
        "name": app.name,
        "description": "",
        "external_url": world.base_url,
        "html_url": f"{world.base_url}/apps/{app.slug}",
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "permissions": app.permissions,
        "events": app.events,
        "installations_count": installed,
    }


def installation_object(world: World, made: Installation) -> Json:
    """GitHub's `installation`."""
    app = world.state.apps[made.app_id]
    account = world.state.users[made.account_id]
    url = f"{api(world)}/app/installations/{made.id}"
    return {
        "id": made.id,
        "client_id": app.client_id,
        "account": simple_user(world, account),
        "repository_selection": "selected",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{api(world)}/installation/repositories",
        "html_url": f"{world.base_url}/settings/installations/{made.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account.id,
        "target_type": "Organization" if account.type == "Organization" else "User",
        "permissions": made.permissions,
        "events": made.events,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": stamp(made.suspended_at),
    }


def minimal_repository(world: World, repo: Repo) -> Json:
    """GitHub's `minimal-repository`: identity and links."""
    full_name = world.full_name(repo)
    url = f"{api(world)}/repos/{full_name}"
    shown: Json = {
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name,
        "full_name": full_name,
        "private": repo.private,
        "owner": simple_user(world, world.state.users[repo.owner_id]),
        "html_url": f"{world.base_url}/{full_name}",
        "description": repo.description,
        "fork": False,
        "url": url,
    }
    return shown | {key: url + tail for key, tail in _REPO_LINKS.items()}


def repository(world: World, repo: Repo) -> Json:
    """GitHub's `repository`, as in pull requests and webhooks."""
    full_name = world.full_name(repo)
    open_issues = sum(1 for i in repo.issues.values() if i.state == "open")
    site = f"{world.base_url}/{full_name}"
    features = ("has_projects", "has_wiki", "has_downloads")
    counts = dict.fromkeys(("forks_count", "stargazers_count", "watchers_count", "forks", "watchers", "size"), 0)
    return {
        **minimal_repository(world, repo),
        **dict.fromkeys(features, True),
        "has_issues": repo.has_issues,
        **counts,
        "git_url": f"git://{site.partition('://')[2]}.git",
        "ssh_url": f"git@localhost:{full_name}.git",
        "clone_url": f"{site}.git",
        "svn_url": site,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "has_pages": False,
        "has_discussions": False,
        "archived": False,
        "disabled": False,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if repo.private else "public",
        "default_branch": repo.default_branch,
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "created_at": stamp(repo.created_at),
        "updated_at": stamp(repo.pushed_at),
        "pushed_at": stamp(repo.pushed_at),
    }


def full_repository(world: World, repo: Repo, role: Role | None) -> Json:
    """GitHub's `full-repository`, with the caller's permissions."""
    flags = dict.fromkeys(("allow_squash_merge", "allow_merge_commit", "allow_rebase_merge"), True)
    return {
        **repository(world, repo),
        **flags,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
        "subscribers_count": 0,
        "network_count": 0,
        "permissions": permission_flags(role),
    }


def permission_flags(role: Role | None) -> Json:
    """The five booleans that GitHub derives from a role."""
    names: list[tuple[str, Role]] = [
        ("pull", "read"),
        ("triage", "triage"),
        ("push", "write"),
        ("maintain", "maintain"),
        ("admin", "admin"),
    ]
    order = ["read", "triage", "write", "maintain", "admin"]
    rank = order.index(role) if role else -1
    return {flag: rank >= order.index(needed) for flag, needed in names}


def association(world: World, repo: Repo, user_id: int) -> str:
    """GitHub's `author_association`."""
    if user_id == repo.owner_id:
        return "OWNER"
    return "COLLABORATOR" if user_id in repo.collaborators else "NONE"
