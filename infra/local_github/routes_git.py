"""Git Data endpoints: refs, blobs, trees, commits (GitHub REST: Git database)."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

from infra.local_github import objects_git
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, invalid, not_found, unprocessable
from infra.local_github.git_objects import (
    MODES,
    BadTree,
    NewCommit,
    Person,
    ls_tree,
    read_commit,
    write_blob,
    write_commit,
    write_tree,
)
from infra.local_github.git_store import SHA, ZERO, GitFailed, valid_ref
from infra.local_github.pull_state import moved
from infra.local_github.records import Json, Protection

READ = Needs(("contents",))
WRITE = Needs(("contents",), "write", "write")
_BLOB_LIMIT = 100 * 2**20
_TREE_LIMIT = 100_000


async def refuse_empty(call: Call) -> None:
    """409 for a repository without any commit."""
    if not await call.git.refs(call.repo.id):
        raise ApiError(409, "Git Repository is empty.")


def refuse_protected(call: Call, name: str, forced: bool) -> None:
    """422 for a direct change to a protected branch."""
    rules = call.repo.protection.get(name.removeprefix("refs/heads/"))
    if name.startswith("refs/heads/") and rules and direct_push_refused(call, rules, forced):
        raise unprocessable(f"Protected branch update failed for {name}.")


def direct_push_refused(call: Call, rules: Protection, forced: bool) -> bool:
    """Whether protection refuses this caller's direct push."""
    admin = call.actor.installation is None and call.world.role(call.repo, call.actor.user) == "admin"
    guarded = bool(rules.checks or rules.approvals or rules.reviews_required)
    return (guarded or forced) and not (admin and not rules.enforce_admins and not forced)


async def _shown(call: Call, name: str, sha: str) -> Json:
    kind = await call.git.kind(call.repo.id, sha) or "commit"
    return objects_git.git_ref(call.world, call.repo, name, sha, kind)


async def get_ref(call: Call) -> Answer:
    await refuse_empty(call)
    name = f"refs/{call.params['ref']}"
    sha = await call.git.ref(call.repo.id, name) if valid_ref(name) else None
    if sha is None:
        raise not_found()
    return Answer(200, await _shown(call, name, sha))


async def matching_refs(call: Call) -> Answer:
    prefix = f"refs/{call.params.get('ref', '')}"
    refs = [item for item in (await call.git.refs(call.repo.id)).items() if item[0].startswith(prefix)]
    kinds = {sha: await call.git.kind(call.repo.id, sha) or "commit" for _, sha in refs}
    return call.page(refs, lambda r: objects_git.git_ref(call.world, call.repo, *r, kinds[r[1]]))


async def create_ref(call: Call) -> Answer:
    await refuse_empty(call)
    name, sha = call.need("ref", "Reference"), call.need("sha", "Reference")
    if not valid_ref(name) or name.startswith("refs/pull/"):
        raise unprocessable(f"{name} is not a valid ref name.")
    if not SHA.match(sha):
        raise unprocessable("The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
    kind = await call.git.kind(call.repo.id, sha)
    if kind is None or (name.startswith("refs/heads/") and kind != "commit"):
        raise unprocessable("Object does not exist" if kind is None else "Reference update failed")
    if await call.git.ref(call.repo.id, name):
        raise unprocessable("Reference already exists")
    try:
        await call.git.set_ref(call.repo.id, name, sha, ZERO)
    except GitFailed as failed:  # `a` beside `a/b`: git keeps both in one directory tree
        raise unprocessable("Reference update failed") from failed
    shown = await _shown(call, name, sha)
    await moved(call, name, ZERO, sha)
    kind_name = "tag" if name.startswith("refs/tags/") else "branch"
    short = name.split("/", 2)[2]
    more = {"ref": short, "ref_type": kind_name, "master_branch": call.repo.default_branch, "pusher_type": "user"}
    call.emit("create", None, more)
    return Answer(201, shown, {"Location": shown["url"]})


async def update_ref(call: Call) -> Answer:
    await refuse_empty(call)
    name, sha = f"refs/{call.params['ref']}", call.need("sha", "Reference")
    before = await call.git.ref(call.repo.id, name) if valid_ref(name) else None
    if before is None:
        raise unprocessable("Reference does not exist")
    if await call.git.kind(call.repo.id, sha) != "commit":
        raise unprocessable("Object does not exist")
    forward = await call.git.is_ancestor(call.repo.id, before, sha)
    if not forward and call.body.get("force") is not True:
        raise unprocessable("Update is not a fast forward")
    refuse_protected(call, name, not forward)
    if before != sha:
        await call.git.set_ref(call.repo.id, name, sha, before)
        await moved(call, name, before, sha)
    return Answer(200, await _shown(call, name, sha))


async def delete_ref(call: Call) -> Answer:
    name = f"refs/{call.params['ref']}"
    before = await call.git.ref(call.repo.id, name) if valid_ref(name) else None
    if before is None or name.startswith("refs/pull/"):
        raise unprocessable("Reference does not exist")
    if name == f"refs/heads/{call.repo.default_branch}":
        raise unprocessable("Cannot delete the default branch")
    if name.removeprefix("refs/heads/") in call.repo.protection:
        raise unprocessable("Cannot delete protected branch")
    await call.git.set_ref(call.repo.id, name, ZERO, before)
    await moved(call, name, before, ZERO)
    return Answer(204)


async def create_blob(call: Call) -> Answer:
    await refuse_empty(call)
    content = decoded(call.text("content", "Blob", limit=_BLOB_LIMIT) or "", call.body.get("encoding", "utf-8"))
    sha = await write_blob(call.git, call.repo.id, content)
    return Answer(201, {"sha": sha, "url": f"{objects_git.repo_url(call.world, call.repo)}/git/blobs/{sha}"})


def decoded(text: str, encoding: object) -> bytes:
    """The bytes of a blob given as `utf-8` or `base64`; raises 422 otherwise."""
    if encoding in ("utf-8", None):
        return text.encode("utf-8", "surrogatepass")
    if encoding != "base64":
        raise unprocessable(f"Invalid encoding {encoding!r}: use utf-8 or base64")
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        raise unprocessable("content is not valid Base64") from None


async def get_blob(call: Call) -> Answer:
    sha = call.params["sha"]
    if await call.git.kind(call.repo.id, sha) != "blob":
        raise not_found()
    content = await call.git.git(call.repo.id, "cat-file", "blob", sha)
    if "raw" in call.accept:
        return Answer(200, content)
    shown = {
        "sha": sha,
        "node_id": f"B_{sha}",
        "size": len(content),
        "url": f"{objects_git.repo_url(call.world, call.repo)}/git/blobs/{sha}",
        "content": base64.encodebytes(content).decode(),
        "encoding": "base64",
    }
    return Answer(200, shown)


async def create_tree(call: Call) -> Answer:
    await refuse_empty(call)
    base, items = call.text("base_tree", "Tree"), call.body.get("tree")
    if not isinstance(items, list) or not items or len(items) > _TREE_LIMIT:
        raise unprocessable("Invalid tree info: tree must be a list of entries.")
    if base is not None and await call.git.kind(call.repo.id, base) not in ("tree", "commit"):
        raise unprocessable("base_tree is not a valid tree oid")
    planned = [await _entry(call, item) for item in items]
    try:
        sha = await write_tree(call.git, call.repo.id, base, planned)
    except BadTree as bad:
        raise unprocessable(str(bad)) from bad
    entries = await ls_tree(call.git, call.repo.id, sha)
    return Answer(201, objects_git.tree(call.world, call.repo, sha, entries))


async def _entry(call: Call, item: object) -> tuple[str, str, str | None]:
    if not isinstance(item, dict) or not isinstance(item.get("path"), str) or not item["path"]:
        raise unprocessable("tree.path must be a string")
    path, mode, sha = item["path"], item.get("mode", "100644"), item.get("sha")
    if not isinstance(mode, str) or mode not in MODES:
        raise unprocessable("Must supply a valid tree.mode")
    parts = path.lower().split("/")
    if "\0" in path or any(part in ("", ".", "..", ".git", "git~1") for part in parts):
        raise unprocessable("tree.path contains a malformed path component")
    if isinstance(item.get("content"), str) and sha is None:
        return path, mode, await write_blob(call.git, call.repo.id, item["content"].encode("utf-8", "surrogatepass"))
    if sha is None and "sha" in item:
        return path, mode, None
    if not isinstance(sha, str) or not SHA.match(sha):
        raise unprocessable("Must supply either tree.sha or tree.content")
    if mode != "160000" and await call.git.kind(call.repo.id, sha) != MODES[mode]:
        raise unprocessable(f"tree.sha {sha} is not a valid {MODES[mode]}")
    return path, mode, sha


async def get_tree(call: Call) -> Answer:
    await refuse_empty(call)
    name = call.params["sha"]
    kind = await call.git.kind(call.repo.id, name)
    sha = name if kind == "tree" else await call.git.resolve(call.repo.id, name)
    if sha is None:
        raise not_found()
    tree = (await call.git.text(call.repo.id, "rev-parse", f"{sha}^{{tree}}")).strip()
    entries = await ls_tree(call.git, call.repo.id, tree, recursive="recursive" in call.query)
    return Answer(200, objects_git.tree(call.world, call.repo, tree, entries))


async def create_commit(call: Call) -> Answer:
    await refuse_empty(call)
    message, tree = call.need("message", "Commit"), call.need("tree", "Commit")
    if await call.git.kind(call.repo.id, tree) != "tree":
        raise unprocessable("Tree SHA does not exist")
    parents = call.strings("parents")
    for parent in parents:
        if await call.git.kind(call.repo.id, parent) != "commit":
            raise unprocessable("Parent SHA does not exist or is not a commit object")
    author = person(call, "author", None)
    committer = person(call, "committer", author)
    try:
        sha = await write_commit(call.git, call.repo.id, NewCommit(tree, parents, author, committer, message))
    except GitFailed as failed:
        raise unprocessable("The commit is malformed.") from failed
    made = await read_commit(call.git, call.repo.id, sha)
    return Answer(201, objects_git.git_commit(call.world, call.repo, made))


def person(call: Call, name: str, default: Person | None) -> Person:
    """Author or committer of the body; left out: the default, or the caller and now."""
    given = call.body.get(name)
    own = Person(call.user.name or call.user.login, call.world.email(call.user), call.world.now())
    if given is None:
        return default or own
    if not isinstance(given, dict) or not all(isinstance(given.get(k), str) for k in ("name", "email")):
        raise invalid("Commit", name)
    date = given.get("date")
    if date is None:
        return Person(given["name"], given["email"], own.date)
    try:
        moment = datetime.fromisoformat(str(date).replace("Z", "+00:00"))
    except ValueError:
        raise invalid("Commit", f"{name}.date", value=date) from None
    return Person(given["name"], given["email"], moment if moment.tzinfo else moment.replace(tzinfo=own.date.tzinfo))


async def get_commit(call: Call) -> Answer:
    sha = call.params["sha"]
    if await call.git.kind(call.repo.id, sha) != "commit":
        raise not_found()
    made = await read_commit(call.git, call.repo.id, sha)
    return Answer(200, objects_git.git_commit(call.world, call.repo, made))


_BASE = "/repos/{owner}/{repo}/git"
ENDPOINTS = (
    Endpoint("GET", _BASE + "/ref/{ref+}", get_ref, READ),
    Endpoint("GET", _BASE + "/matching-refs/{ref+}", matching_refs, READ),
    Endpoint("POST", _BASE + "/refs", create_ref, WRITE),
    Endpoint("PATCH", _BASE + "/refs/{ref+}", update_ref, WRITE),
    Endpoint("DELETE", _BASE + "/refs/{ref+}", delete_ref, WRITE),
    Endpoint("POST", _BASE + "/blobs", create_blob, WRITE),
    Endpoint("GET", _BASE + "/blobs/{sha}", get_blob, READ),
    Endpoint("POST", _BASE + "/trees", create_tree, WRITE),
    Endpoint("GET", _BASE + "/trees/{sha}", get_tree, READ),
    Endpoint("POST", _BASE + "/commits", create_commit, WRITE),
    Endpoint("GET", _BASE + "/commits/{sha}", get_commit, READ),
)
