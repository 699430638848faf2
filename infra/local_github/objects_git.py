"""JSON of commits, trees, refs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from infra.local_github.git_objects import Commit, Entry, Person
from infra.local_github.objects_base import api, node_id, simple_user, stamp
from infra.local_github.records import Json, Repo, User

if TYPE_CHECKING:
    from infra.local_github.world import World

UNSIGNED: Json = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def repo_url(world: World, repo: Repo) -> str:
    """The API address of a repository."""
    return f"{api(world)}/repos/{world.full_name(repo)}"


def person(made: Person) -> Json:
    return {"name": made.name, "email": made.email, "date": stamp(made.date)}


def account_of(world: World, made: Person) -> User | None:
    """The account that a commit's no-reply address names, as GitHub links it."""
    number = made.email.partition("+")[0]
    user = world.state.users.get(int(number)) if number.isascii() and number.isdigit() else None
    return user if user and world.email(user) == made.email else None


def _account(world: World, made: Person) -> Json | None:
    user = account_of(world, made)
    return simple_user(world, user) if user else None


def git_commit(world: World, repo: Repo, made: Commit) -> Json:
    """GitHub's `git-commit` (the Git Data API)."""
    url = f"{repo_url(world, repo)}/git"
    site = f"{world.base_url}/{world.full_name(repo)}/commit"
    return {
        "sha": made.sha,
        "node_id": node_id("Commit", int(made.sha[:8], 16)),
        "url": f"{url}/commits/{made.sha}",
        "html_url": f"{site}/{made.sha}",
        "author": person(made.author),
        "committer": person(made.committer),
        "message": made.message,
        "tree": {"sha": made.tree, "url": f"{url}/trees/{made.tree}"},
        "parents": [{"sha": p, "url": f"{url}/commits/{p}", "html_url": f"{site}/{p}"} for p in made.parents],
        "verification": UNSIGNED,
    }


def commit(world: World, repo: Repo, made: Commit) -> Json:
    """GitHub's `commit` (the Commits API)."""
    base = repo_url(world, repo)
    site = f"{world.base_url}/{world.full_name(repo)}/commit"
    return {
        "sha": made.sha,
        "node_id": node_id("Commit", int(made.sha[:8], 16)),
        "url": f"{base}/commits/{made.sha}",
        "html_url": f"{site}/{made.sha}",
        "comments_url": f"{base}/commits/{made.sha}/comments",
        "commit": {
            "url": f"{base}/git/commits/{made.sha}",
            "author": person(made.author),
            "committer": person(made.committer),
            "message": made.message,
            "comment_count": 0,
            "tree": {"sha": made.tree, "url": f"{base}/git/trees/{made.tree}"},
            "verification": UNSIGNED,
        },
        "author": _account(world, made.author),
        "committer": _account(world, made.committer),
        "parents": [{"sha": p, "url": f"{base}/commits/{p}", "html_url": f"{site}/{p}"} for p in made.parents],
    }


def push_commit(world: World, repo: Repo, made: Commit) -> Json:
    """A commit as push events list it."""
    return {
        "id": made.sha,
        "tree_id": made.tree,
        "distinct": True,
        "message": made.message,
        "timestamp": made.committer.date.isoformat(),
        "url": f"{world.base_url}/{world.full_name(repo)}/commit/{made.sha}",
        "author": {"name": made.author.name, "email": made.author.email},
        "committer": {"name": made.committer.name, "email": made.committer.email},
        "added": [],
        "removed": [],
        "modified": [],
    }


def git_ref(world: World, repo: Repo, name: str, sha: str, kind: str) -> Json:
    """GitHub's `git-ref`."""
    url = f"{repo_url(world, repo)}/git"
    return {
        "ref": name,
        "node_id": node_id("Ref", repo.id),
        "url": f"{url}/{quote(name)}",
        "object": {"type": kind, "sha": sha, "url": f"{url}/{kind}s/{sha}"},
    }


def tree(world: World, repo: Repo, sha: str, entries: list[Entry]) -> Json:
    """GitHub's `git-tree`."""
    url = f"{repo_url(world, repo)}/git"
    return {
        "sha": sha,
        "url": f"{url}/trees/{sha}",
        "tree": [_tree_item(url, entry) for entry in entries],
        "truncated": False,
    }


def _tree_item(url: str, entry: Entry) -> Json:
    shown: Json = {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
    if entry.kind == "blob":
        return shown | {"size": entry.size or 0, "url": f"{url}/blobs/{entry.sha}"}
    return shown | ({"url": f"{url}/trees/{entry.sha}"} if entry.kind == "tree" else {})


def content_entry(world: World, repo: Repo, entry: Entry, path: str, ref: str) -> Json:
    """What the Contents API says of a file, link, directory or submodule, without its content."""
    base = repo_url(world, repo)
    site = f"{world.base_url}/{world.full_name(repo)}"
    url = f"{base}/contents/{quote(path)}?ref={quote(ref, safe='')}"
    kinds = {"120000": "symlink", "160000": "submodule", "040000": "dir"}
    git_url = f"{base}/git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}"
    web = f"{site}/{'tree' if entry.kind == 'tree' else 'blob'}/{quote(ref)}/{quote(path)}"
    return {
        "type": kinds.get(entry.mode, "file"),
        "size": entry.size or 0,
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": entry.sha,
        "url": url,
        "git_url": git_url,
        "html_url": web,
        "download_url": f"{site}/raw/{quote(ref)}/{quote(path)}" if entry.kind == "blob" else None,
        "_links": {"self": url, "git": git_url, "html": web},
    }
