"""Users, repositories, collaborators, branches, files and commits (GitHub REST: Users, Repositories, Commits)."""

from __future__ import annotations

import base64

from infra.local_github import objects_git, objects_pull
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, not_found, unprocessable
from infra.local_github.git_objects import (
    BadTree,
    NewCommit,
    diff,
    entry_at,
    ls_tree,
    read_commit,
    read_commits,
    write_blob,
    write_commit,
    write_tree,
)
from infra.local_github.git_store import ZERO, valid_ref
from infra.local_github.objects_base import full_repository, permission_flags, public_user, simple_user
from infra.local_github.pull_state import moved
from infra.local_github.records import Json, Repo, Role, User
from infra.local_github.routes_git import decoded, person, refuse_protected

CONTENTS = Needs(("contents",))
WRITE = Needs(("contents",), "write", "write")
_INLINE_LIMIT = 2**20
_LEGACY: dict[Role, str] = {"maintain": "write", "triage": "read"}


async def get_self(call: Call) -> Answer:
    return Answer(200, public_user(call.world, call.user))


async def get_user(call: Call) -> Answer:
    user = call.world.user(call.params["login"])
    if user is None:
        raise not_found()
    return Answer(200, public_user(call.world, user))


async def get_user_by_id(call: Call) -> Answer:
    user = call.world.state.users.get(call.number("account_id"))
    if user is None:
        raise not_found()
    return Answer(200, public_user(call.world, user))


async def get_repo(call: Call) -> Answer:
    role = call.world.role(call.repo, call.actor.user)
    return Answer(200, full_repository(call.world, call.repo, role))


async def get_permission(call: Call) -> Answer:
    user = call.world.user(call.params["login"])
    if user is None:
        raise ApiError(404, f"{call.params['login']} is not a user")
    role: Role | None = call.world.role(call.repo, user)
    legacy = _LEGACY.get(role, role) if role else "none"
    return Answer(200, {"permission": legacy, "role_name": role or "none", "user": _collaborator(call, user, role)})


def _collaborator(call: Call, user: User, role: Role | None) -> Json:
    return {
        **simple_user(call.world, user),
        "permissions": permission_flags(role),
        "role_name": role or "none",
    }


async def list_collaborators(call: Call) -> Answer:
    ids = [call.repo.owner_id, *call.repo.collaborators]
    users = [u for u in (call.world.state.users[i] for i in dict.fromkeys(ids)) if u.type == "User"]
    return call.page(users, lambda u: _collaborator(call, u, call.world.role(call.repo, u)))


async def is_collaborator(call: Call) -> Answer:
    user = call.world.user(call.params["login"])
    if user is None or (user.id != call.repo.owner_id and user.id not in call.repo.collaborators):
        raise not_found()
    return Answer(204)


# -- branches ----------------------------------------------------------------------------------------------------


async def list_branches(call: Call) -> Answer:
    refs = await call.git.refs(call.repo.id, "refs/heads/")
    names = [(name.removeprefix("refs/heads/"), sha) for name, sha in refs.items()]
    wanted = call.query.get("protected")
    if wanted in ("true", "false"):
        names = [item for item in names if (item[0] in call.repo.protection) == (wanted == "true")]
    base = objects_git.repo_url(call.world, call.repo)
    return call.page(names, lambda item: _short_branch(call.repo, base, *item))


def _short_branch(repo: Repo, base: str, name: str, sha: str) -> Json:
    return {
        "name": name,
        "commit": {"sha": sha, "url": f"{base}/commits/{sha}"},
        "protected": name in repo.protection,
    }


async def get_branch(call: Call) -> Answer:
    name = call.params["branch"]
    sha = await call.git.ref(call.repo.id, f"refs/heads/{name}") if valid_ref(f"refs/heads/{name}") else None
    if sha is None:
        raise ApiError(404, "Branch not found")
    base = objects_git.repo_url(call.world, call.repo)
    rules = call.repo.protection.get(name)
    contexts = [check for check, _ in rules.checks] if rules else []
    checks = [{"context": check, "app_id": app} for check, app in rules.checks] if rules else []
    required = {"enforcement_level": "everyone" if rules else "off", "contexts": contexts, "checks": checks}
    shown = {
        "name": name,
        "commit": objects_git.commit(call.world, call.repo, await read_commit(call.git, call.repo.id, sha)),
        "_links": {
            "self": f"{base}/branches/{name}",
            "html": f"{call.world.base_url}/{call.world.full_name(call.repo)}/tree/{name}",
        },
        "protected": rules is not None,
        "protection": {"enabled": rules is not None, "required_status_checks": required},
        "protection_url": f"{base}/branches/{name}/protection",
    }
    return Answer(200, shown)


# -- files -------------------------------------------------------------------------------------------------------


async def get_contents(call: Call) -> Answer:
    path, ref = call.params.get("path", "").strip("/"), call.query.get("ref") or call.repo.default_branch
    commit = await call.git.resolve(call.repo.id, ref)
    if commit is None:
        empty = not await call.git.refs(call.repo.id)
        raise ApiError(404, "This repository is empty." if empty else f"No commit found for the ref {ref}")
    entry = await entry_at(call.git, call.repo.id, commit, path)
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        children = await ls_tree(call.git, call.repo.id, entry.sha)
        prefix = f"{path}/" if path else ""
        entries = [(child, f"{prefix}{child.path}") for child in children]
        return Answer(200, [objects_git.content_entry(call.world, call.repo, e, p, ref) for e, p in entries])
    shown = objects_git.content_entry(call.world, call.repo, entry, path, ref)
    if entry.kind == "commit":
        return Answer(200, shown | {"submodule_git_url": None})
    content = await call.git.git(call.repo.id, "cat-file", "blob", entry.sha)
    if "raw" in call.accept:
        return Answer(200, content)
    if entry.mode == "120000":
        return Answer(200, shown | {"target": content.decode("utf-8", "replace")})
    inline = len(content) <= _INLINE_LIMIT
    text = base64.encodebytes(content).decode() if inline else ""
    return Answer(200, shown | {"encoding": "base64" if inline else "none", "content": text})


async def put_contents(call: Call) -> Answer:
    content = decoded(call.need("content", "Content", 2**27), "base64")
    return await _change_file(call, content)


async def delete_contents(call: Call) -> Answer:
    return await _change_file(call, None)


async def _change_file(call: Call, content: bytes | None) -> Answer:
    path, message = call.params["path"].strip("/"), call.need("message", "Content")
    branch = call.text("branch", "Content") or call.repo.default_branch
    ref = f"refs/heads/{branch}"
    if not valid_ref(ref):
        raise unprocessable(f"{branch} is not a valid branch name.")
    before = await call.git.ref(call.repo.id, ref)
    if before is None and await call.git.refs(call.repo.id):
        raise ApiError(404, f"Branch {branch} not found")
    refuse_protected(call, ref, False)
    old = await entry_at(call.git, call.repo.id, before, path) if before else None
    given = call.text("sha", "Content")
    if old is None and content is None:
        raise not_found()
    if old is not None and given is None:
        raise unprocessable('Invalid request.\n\n"sha" wasn\'t supplied.')
    if given is not None and (old is None or old.sha != given):
        raise ApiError(409, f"{path} does not match {given}")
    blob = None if content is None else await write_blob(call.git, call.repo.id, content)
    try:
        tree = await write_tree(call.git, call.repo.id, before, [(path, old.mode if old else "100644", blob)])
    except BadTree as bad:
        raise unprocessable(f"path contains a malformed path component: {bad}") from bad
    committer = person(call, "committer", None)
    new = NewCommit(tree, [before] if before else [], person(call, "author", committer), committer, message)
    sha = await write_commit(call.git, call.repo.id, new)
    await call.git.set_ref(call.repo.id, ref, sha, before or ZERO)
    await moved(call, ref, before or ZERO, sha)
    made = objects_git.git_commit(call.world, call.repo, await read_commit(call.git, call.repo.id, sha))
    entry = await entry_at(call.git, call.repo.id, sha, path)
    shown = objects_git.content_entry(call.world, call.repo, entry, path, branch) if entry else None
    return Answer(200 if old else 201, {"content": shown, "commit": made})


# -- commits -----------------------------------------------------------------------------------------------------


async def resolve(call: Call, name: str) -> str:
    """The commit of a ref name or id; raises 422 as the Commits API does."""
    sha = await call.git.resolve(call.repo.id, name)
    if sha is None:
        if not await call.git.refs(call.repo.id):
            raise ApiError(409, "Git Repository is empty.")
        raise unprocessable(f"No commit found for SHA: {name}")
    return sha


async def get_commit(call: Call) -> Answer:
    sha = await resolve(call, call.params["ref"])
    made = await read_commit(call.git, call.repo.id, sha)
    empty = await call.git.text(call.repo.id, "hash-object", "-w", "-t", "tree", "--stdin")
    changed = await diff(call.git, call.repo.id, made.parents[0] if made.parents else empty, sha)
    plus, minus = sum(c.additions for c in changed), sum(c.deletions for c in changed)
    shown = objects_git.commit(call.world, call.repo, made)
    shown["stats"] = {"additions": plus, "deletions": minus, "total": plus + minus}
    shown["files"] = [objects_pull.diff_entry(call.world, call.repo, sha, c) for c in changed]
    return Answer(200, shown)


async def list_commits(call: Call) -> Answer:
    sha = await resolve(call, call.query.get("sha") or call.repo.default_branch)
    args = ["rev-list", "--max-count=1000", sha]
    if call.query.get("path"):
        args = ["--literal-pathspecs", *args, "--", call.query["path"]]
    commits = await read_commits(call.git, call.repo.id, (await call.git.text(call.repo.id, *args)).split())
    return call.page(commits, lambda c: objects_git.commit(call.world, call.repo, c))


async def compare(call: Call) -> Answer:
    old, dots, new = call.params["span"].partition("...")
    if not dots:
        raise not_found()
    owner = call.world.state.users[call.repo.owner_id].login
    base, head = [await call.git.resolve(call.repo.id, end.removeprefix(f"{owner}:")) for end in (old, new)]
    shared = await call.git.merge_base(call.repo.id, base, head) if base and head else None
    if base is None or head is None or shared is None:
        raise not_found()
    ahead = await call.git.between(call.repo.id, base, head)
    behind = await call.git.between(call.repo.id, head, base)
    changed = await diff(call.git, call.repo.id, shared, head)
    if "diff" in call.accept:
        return Answer(200, await call.git.git(call.repo.id, "diff", "--no-ext-diff", "--no-textconv", shared, head))
    states = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind", (False, False): "identical"}
    commits = await read_commits(call.git, call.repo.id, [base, shared, *ahead])
    shown = [objects_git.commit(call.world, call.repo, c) for c in commits]
    site = f"{call.world.base_url}/{call.world.full_name(call.repo)}/compare/{base}...{head}"
    body = {
        "url": f"{objects_git.repo_url(call.world, call.repo)}/compare/{call.params['span']}",
        "html_url": site,
        "permalink_url": site,
        "diff_url": f"{site}.diff",
        "patch_url": f"{site}.patch",
        "base_commit": shown[0],
        "merge_base_commit": shown[1],
        "status": states[bool(ahead), bool(behind)],
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": shown[2:],
        "files": [objects_pull.diff_entry(call.world, call.repo, head, c) for c in changed],
    }
    return Answer(200, body)


_BASE = "/repos/{owner}/{repo}"
ENDPOINTS = (
    Endpoint("GET", "/user", get_self, Needs(who="account")),
    Endpoint("GET", "/users/{login}", get_user),
    Endpoint("GET", "/user/{account_id}", get_user_by_id),
    Endpoint("GET", _BASE, get_repo),
    Endpoint("GET", _BASE + "/collaborators", list_collaborators, Needs(role="write")),
    Endpoint("GET", _BASE + "/collaborators/{login}", is_collaborator, Needs(role="write")),
    Endpoint("GET", _BASE + "/collaborators/{login}/permission", get_permission, Needs(role="write")),
    Endpoint("GET", _BASE + "/branches", list_branches, CONTENTS),
    Endpoint("GET", _BASE + "/contents", get_contents, CONTENTS),
    Endpoint("GET", _BASE + "/contents/", get_contents, CONTENTS),
    Endpoint("GET", _BASE + "/contents/{path+}", get_contents, CONTENTS),
    Endpoint("PUT", _BASE + "/contents/{path+}", put_contents, WRITE),
    Endpoint("DELETE", _BASE + "/contents/{path+}", delete_contents, WRITE),
    Endpoint("GET", _BASE + "/commits", list_commits, CONTENTS),
    Endpoint("GET", _BASE + "/compare/{span+}", compare, CONTENTS),
)
# These patterns also match deeper addresses of other files' endpoints, so they go last.
GREEDY = (
    Endpoint("GET", _BASE + "/branches/{branch+}", get_branch, CONTENTS),
    Endpoint("GET", _BASE + "/commits/{ref+}", get_commit, CONTENTS),
)
