"""A repository's git side: branches, and commits through the Git Data API.

Source: GitHub REST, "Git database" (blobs, trees, commits, references).
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime

from handlers.events import RepoRef
from handlers.ports import Conflicted, GitHubError, Missing, NewCommit, Refused, RepoFacts, TreeEdit
from infra.github.client import GitHubClient
from infra.github.models import GitCommit, GitObject, Ref, Repo, parse
from infra.github.wire import Call, Reply, path

READ = {"contents": "read", "metadata": "read"}
WRITE = {"contents": "write", "metadata": "read"}

BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*")
BRANCH_LIMIT = 200
MODES = ("100644", "100755")
INLINE_LIMIT = 256 * 1024
INLINE_TOTAL = 3 * 1024 * 1024
"""Texts up to these sizes (bytes) travel inside the tree's request, which GitHub limits as a whole."""
WORKFLOWS = ".github/workflows/"


class GitHubRepository:
    """`handlers.ports.Repository` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def facts(self, repo: RepoRef) -> RepoFacts:
        """The repository under its name of today. Raises `Missing` when the name is another repository's now."""
        call = Call("GET", path("repos", repo.full_name))
        now = await self._client.read(repo, READ, call, Repo)
        if now.id != repo.id:
            raise Missing(
                f"GitHub: {repo.full_name} is now another repository ({now.id}) than the one meant ({repo.id})"
            )
        ref = RepoRef(id=now.id, full_name=now.full_name, installation=repo.installation)
        head = await self.branch(ref, now.default_branch)
        return RepoFacts(ref, now.default_branch, head, bool(now.archived), bool(now.private))

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """The branch's commit SHA, or None when there is no such branch. Raises `GitHubError`."""
        call = Call("GET", path("repos", repo.full_name, "git", "ref", "heads", name))
        reply = await self._client.send(repo, READ, call, allow={404, 409})
        if reply.status in (404, 409):
            return None
        ref = parse(call, reply, Ref)
        return ref.object.sha if ref.ref == f"refs/heads/{name}" else None

    async def commit(self, repo: RepoRef, new: NewCommit) -> str:
        """Write blobs, tree and commit (no ref moves); returns the commit's SHA.

        Author, committer and both dates are given, so that a repeat makes the same commit. Raises `Refused` when the
        tree comes out as another one than `new.tree`, and for an empty commit.
        """
        if not new.edits:
            raise Refused(f"a commit on {new.parent} without any change is not made")
        try:
            tree = await self._tree(repo, new)
        except (Missing, Refused) as error:
            raise _explained(error, new) from error
        if tree != new.tree:
            raise Refused(f"the edits on {new.parent} make tree {tree}, but tree {new.tree} was agreed: not committed")
        date = datetime.fromtimestamp(new.date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        person = {"name": new.author_name, "email": new.author_email, "date": date}
        body = {"message": new.message, "tree": tree, "parents": [new.parent], "author": person, "committer": person}
        call = Call("POST", self._git(repo, "commits"), json=body, harmless=True)
        return (await self._client.read(repo, WRITE, call, GitObject)).sha

    async def create_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Raises `Conflicted` when the ref exists, or when another branch's name is in the way."""
        self._check(name)
        call = Call("POST", self._git(repo, "refs"), json={"ref": f"refs/heads/{name}", "sha": sha})
        reply = await self._client.send(repo, WRITE, call, allow={422})
        if reply.status != 422:
            return
        said = f"GitHub: {call}: 422 {reply.text}"
        if "reference already exists" in reply.text.casefold():
            raise Conflicted(f"{said} ({name})")
        if other := await self._in_the_way(repo, name):
            raise Conflicted(f"{said}: branch {other} is in the way of {name}; git cannot hold both")
        raise Refused(said)

    async def move_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Fast-forward only. Raises `Conflicted` when it is none, `Missing` when there is no such branch."""
        self._check(name)
        call = Call("PATCH", self._git(repo, "refs", "heads", name), json={"sha": sha, "force": False})
        reply = await self._client.send(repo, WRITE, call, allow={422})
        if reply.status == 422:
            raise _ref_error(call, reply, name)

    async def delete_branch(self, repo: RepoRef, name: str) -> None:
        """Delete the branch; one that is gone already is no error. Raises other `GitHubError`s."""
        self._check(name)
        call = Call("DELETE", self._git(repo, "refs", "heads", name))
        reply = await self._client.send(repo, WRITE, call, allow={422})
        if reply.status == 422 and not _no_ref(reply):
            raise Refused(f"GitHub: {call}: 422 {reply.text}")

    def _git(self, repo: RepoRef, *rest: str) -> str:
        return path("repos", repo.full_name, "git", *rest)

    def _check(self, name: str) -> None:
        """Only names that git, GitHub and every file system take, and only ours."""
        prefix = self._client.options.branch_prefix
        if not BRANCH.fullmatch(name) or len(name) > BRANCH_LIMIT or name.lower().endswith(".lock"):
            raise Refused(f"{name!r} is no branch name that we write: letters, digits and single . _ - / only")
        if not name.startswith(prefix) or ".lock/" in name.lower():
            raise Refused(f"branch {name} is not ours to write: our branches begin with {prefix}")

    async def _tree(self, repo: RepoRef, new: NewCommit) -> str:
        parent = await self._client.read(repo, WRITE, Call("GET", self._git(repo, "commits", new.parent)), GitCommit)
        room = INLINE_TOTAL
        entries: list[dict[str, object]] = []
        for edit in new.edits:
            entry, used = await self._entry(repo, edit, room)
            entries.append(entry)
            room -= used
        body = {"base_tree": parent.tree.sha, "tree": entries}
        call = Call("POST", self._git(repo, "trees"), json=body, harmless=True)
        return (await self._client.read(repo, WRITE, call, GitObject)).sha

    async def _entry(self, repo: RepoRef, edit: TreeEdit, room: int) -> tuple[dict[str, object], int]:
        """One path of the tree and how many bytes of it travel inside the tree's request."""
        if edit.mode not in MODES:
            raise Refused(f"{edit.path} has mode {edit.mode}: only plain and executable files are committed")
        entry: dict[str, object] = {"path": edit.path, "mode": edit.mode, "type": "blob"}
        if edit.content is None:
            return entry | {"sha": None}, 0
        if (text := _inline(edit.content)) is not None and len(edit.content) <= room:
            return entry | {"content": text}, len(edit.content)
        blob = {"content": base64.b64encode(edit.content).decode(), "encoding": "base64"}
        call = Call("POST", self._git(repo, "blobs"), json=blob, harmless=True)
        return entry | {"sha": (await self._client.read(repo, WRITE, call, GitObject)).sha}, 0

    async def _in_the_way(self, repo: RepoRef, name: str) -> str | None:
        """A branch that is a folder of `name`, or has `name` as a folder: git keeps refs like files."""
        parts = name.split("/")
        for count in range(1, len(parts)):
            shorter = "/".join(parts[:count])
            if await self.branch(repo, shorter):
                return shorter
        call = Call("GET", self._git(repo, "matching-refs", "heads", name))
        below = await self._client.pages(repo, READ, call, Ref)
        return next((r.ref.removeprefix("refs/heads/") for r in below if r.ref.startswith(f"refs/heads/{name}/")), None)


def _inline(content: bytes) -> str | None:
    """The content as text when it is sure to come out of JSON as the same bytes; None for everything else."""
    if not content or len(content) > INLINE_LIMIT or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _no_ref(reply: Reply) -> bool:
    return "reference does not exist" in reply.text.casefold()


def _ref_error(call: Call, reply: Reply, name: str) -> GitHubError:
    said = f"GitHub: {call}: 422 {reply.text}"
    if _no_ref(reply):
        return Missing(said)
    if "fast forward" in reply.text.casefold() or "fast-forward" in reply.text.casefold():
        return Conflicted(f"{said} ({name} has moved)")
    return Refused(said)


def _explained(error: GitHubError, new: NewCommit) -> GitHubError:
    """GitHub answers 403 or 404 to an App that may not touch workflow files, without saying so."""
    touched = next((edit.path for edit in new.edits if edit.path.startswith(WORKFLOWS)), None)
    if touched is None or isinstance(error, Conflicted):
        return error
    return Refused(
        f"{error} (the change touches {touched}, which an App may only with the permission workflows: write)"
    )
