"""Pull requests: create, read, change, merge (GitHub REST: Pulls)."""

from __future__ import annotations

from infra.local_github import objects_git, objects_pull
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, custom, invalid, not_found, unprocessable
from infra.local_github.git_objects import NewCommit, Person, merge_trees, read_commit, read_commits, write_commit
from infra.local_github.git_store import GitFailed
from infra.local_github.pull_state import (
    blockers,
    changes,
    close_issue,
    emit_pull,
    mark_merged,
    moved,
    pull_object,
    requested_user,
)
from infra.local_github.records import Json, Pull
from infra.local_github.routes_issues import edit_text, new_issue, reopen

READ = Needs(("pull_requests",))
WRITE = Needs(("pull_requests",), "write")
MERGE = Needs(("contents",), "write", "write")
_MOST_FILES = 3_000


def find_pull(call: Call) -> Pull:
    """The pull request in the path."""
    pull = call.repo.pulls.get(call.number("number"))
    if pull is None:
        raise not_found()
    return pull


async def create_pull(call: Call) -> Answer:
    repo, owner = call.repo, call.world.state.users[call.repo.owner_id].login
    head, base = call.need("head", "PullRequest"), call.need("base", "PullRequest")
    account, colon, branch = head.partition(":")
    branch = branch if colon else head
    if colon and account.lower() != owner.lower():
        raise invalid("PullRequest", "head")  # forks are not part of the local GitHub
    head_sha = await call.git.ref(repo.id, f"refs/heads/{branch}")
    base_sha = await call.git.ref(repo.id, f"refs/heads/{base}")
    if head_sha is None or base_sha is None:
        raise invalid("PullRequest", "head" if head_sha is None else "base")
    for other in repo.pulls.values():
        same = (other.head_ref, other.base_ref) == (branch, base)
        if same and repo.issues[other.number].state == "open":
            raise custom("PullRequest", f"A pull request already exists for {owner}:{branch}.")
    merge_base = await call.git.merge_base(repo.id, base_sha, head_sha)
    if merge_base is None:
        raise custom("PullRequest", f"The {branch} branch has no history in common with {base}")
    if merge_base == head_sha:
        raise custom("PullRequest", f"No commits between {base} and {branch}")
    issue = new_issue(call, "PullRequest")
    made = Pull(
        id=call.world.new_id(),
        number=issue.number,
        head_ref=branch,
        head_sha=head_sha,
        base_ref=base,
        base_sha=base_sha,
        merge_base=merge_base,
        draft=call.body.get("draft") is True,
    )
    repo.pulls[made.number] = made
    await call.git.git(repo.id, "update-ref", f"refs/pull/{made.number}/head", head_sha)
    await emit_pull(call, made, "opened")
    shown = await pull_object(call.world, repo, made)
    return Answer(201, shown, {"Location": shown["url"]})


async def get_pull(call: Call) -> Answer:
    pull = find_pull(call)
    if "diff" in call.accept:
        args = ("diff", "--no-ext-diff", "--no-textconv", pull.merge_base, pull.head_sha)
        return Answer(200, await call.git.git(call.repo.id, *args))
    return Answer(200, await pull_object(call.world, call.repo, pull))


async def list_pulls(call: Call) -> Answer:
    repo, owner = call.repo, call.world.state.users[call.repo.owner_id].login
    state, head, base = call.query.get("state", "open"), call.query.get("head", ""), call.query.get("base")
    found = [p for p in repo.pulls.values() if state in ("all", repo.issues[p.number].state)]
    if ":" in head:  # without a colon GitHub does not filter
        account, _, branch = head.partition(":")
        found = [p for p in found if account.lower() == owner.lower() and p.head_ref == branch]
    found = [p for p in found if base in (None, p.base_ref)]
    found.sort(key=lambda p: p.number, reverse=call.query.get("direction", "desc") == "desc")
    return call.page(found, lambda p: objects_pull.simple_pull(call.world, repo, p))


async def patch_pull(call: Call) -> Answer:
    pull = find_pull(call)
    issue = call.repo.issues[pull.number]
    if (
        call.actor.installation is None
        and call.user.id != issue.user_id
        and not call.world.can_write(call.repo, call.user)
    ):
        raise ApiError(403, "Must have write access or be the author.")
    state = call.body.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("PullRequest", "state", value=state)
    changed = edit_text(call, issue, "PullRequest")
    changed |= await _change_base(call, pull)
    if changed:
        await emit_pull(call, pull, "edited", {"changes": changed})
    if state == "closed" and issue.state == "open":
        await close_issue(call, issue, None)
    elif state == "open" and issue.state == "closed":
        await reopen(call, issue)
    return Answer(200, await pull_object(call.world, call.repo, pull))


async def _change_base(call: Call, pull: Pull) -> Json:
    base = call.text("base", "PullRequest")
    if base is None or base == pull.base_ref:
        return {}
    sha = await call.git.ref(call.repo.id, f"refs/heads/{base}")
    merge_base = await call.git.merge_base(call.repo.id, sha, pull.head_sha) if sha else None
    if sha is None or merge_base is None:
        raise invalid("PullRequest", "base")
    was = {"base": {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}}
    pull.base_ref, pull.base_sha, pull.merge_base = base, sha, merge_base
    return was


async def list_files(call: Call) -> Answer:
    pull = find_pull(call)
    changed = await changes(call.world, call.repo, pull)
    return call.page(changed[:_MOST_FILES], lambda c: objects_pull.diff_entry(call.world, call.repo, pull.head_sha, c))


async def list_commits(call: Call) -> Answer:
    pull = find_pull(call)
    shas = (await call.git.between(call.repo.id, pull.merge_base, pull.head_sha))[:250]
    commits = await read_commits(call.git, call.repo.id, shas)
    return call.page(commits, lambda c: objects_git.commit(call.world, call.repo, c))


async def is_merged(call: Call) -> Answer:
    if find_pull(call).merged_at is None:
        raise not_found()
    return Answer(204)


async def request_reviewers(call: Call) -> Answer:
    pull = find_pull(call)
    users = [call.world.user(login) for login in call.strings("reviewers")]
    author = call.repo.issues[pull.number].user_id
    if any(u is not None and u.id == author for u in users):
        raise unprocessable("Review cannot be requested from pull request author.")
    if any(u is None or call.world.role(call.repo, u) is None or u.type != "User" for u in users):
        name = call.world.full_name(call.repo)
        raise unprocessable(f"Reviews may only be requested from collaborators. One or more is not one of {name}.")
    for user in users:
        if user and user.id not in pull.requested:
            pull.requested.append(user.id)
            await emit_pull(call, pull, "review_requested", {"requested_reviewer": requested_user(call, user.id)})
    return Answer(201, objects_pull.simple_pull(call.world, call.repo, pull))


async def remove_reviewers(call: Call) -> Answer:
    pull = find_pull(call)
    for login in call.strings("reviewers"):
        user = call.world.user(login)
        if user and user.id in pull.requested:
            pull.requested.remove(user.id)
            more = {"requested_reviewer": requested_user(call, user.id)}
            await emit_pull(call, pull, "review_request_removed", more)
    return Answer(200, objects_pull.simple_pull(call.world, call.repo, pull))


async def list_reviewers(call: Call) -> Answer:
    return Answer(200, {"users": [requested_user(call, u) for u in find_pull(call).requested], "teams": []})


async def merge_pull(call: Call) -> Answer:
    pull, repo = find_pull(call), call.repo
    issue, method = repo.issues[pull.number], call.body.get("merge_method", "merge")
    if method not in ("merge", "squash", "rebase"):
        raise invalid("PullRequest", "merge_method", value=method)
    guard = call.text("sha", "PullRequest")
    if issue.state != "open":
        raise ApiError(405, "Pull Request is not mergeable")
    if guard is not None and guard != pull.head_sha:
        raise ApiError(409, "Head branch was modified. Review and try the merge again.")
    if pull.draft:
        raise ApiError(405, "Pull Request is still a draft")
    admin = call.actor.installation is None and call.world.role(repo, call.actor.user) == "admin"
    rules = repo.protection.get(pull.base_ref)
    blocked = await blockers(call.world, repo, pull)
    if blocked and rules and not (admin and not rules.enforce_admins):
        raise ApiError(405, " ".join(blocked))
    sha = await _merge_commit(call, pull, str(method))
    try:
        await call.git.set_ref(repo.id, f"refs/heads/{pull.base_ref}", sha, pull.base_sha)
    except GitFailed as failed:
        raise ApiError(405, "Base branch was modified. Review and try the merge again.") from failed
    before = pull.base_sha
    await mark_merged(call, pull, sha)
    await moved(call, f"refs/heads/{pull.base_ref}", before, sha)
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


async def _merge_commit(call: Call, pull: Pull, method: str) -> str:
    repo, issue = call.repo, call.repo.issues[pull.number]
    tree = await merge_trees(call.git, repo.id, pull.base_sha, pull.head_sha)
    if tree is None:
        raise ApiError(405, "Pull Request is not mergeable")
    owner = call.world.state.users[repo.owner_id].login
    own = Person(call.user.name or call.user.login, call.world.email(call.user), call.world.now())
    if method == "rebase":
        return await _rebase(call, pull, own)
    squash = method == "squash"
    title = f"Merge pull request #{pull.number} from {owner}/{pull.head_ref}"
    title = call.text("commit_title", "PullRequest") or (f"{issue.title} (#{pull.number})" if squash else title)
    message = call.text("commit_message", "PullRequest")
    if message is None:
        message = await _squashed_messages(call, pull) if squash else issue.title
    text = f"{title}\n\n{message}" if message else title
    author = own
    if squash:
        user = call.world.state.users[issue.user_id]
        author = Person(user.name or user.login, call.world.email(user), own.date)
    parents = [pull.base_sha] if squash else [pull.base_sha, pull.head_sha]
    return await write_commit(call.git, repo.id, NewCommit(tree, parents, author, own, text))


async def _squashed_messages(call: Call, pull: Pull) -> str:
    shas = await call.git.between(call.repo.id, pull.merge_base, pull.head_sha)
    commits = await read_commits(call.git, call.repo.id, shas)
    return (
        "\n\n".join(f"* {c.message.strip()}" for c in commits)
        if len(commits) > 1
        else (commits[0].message.strip().partition("\n\n")[2])
    )


async def _rebase(call: Call, pull: Pull, committer: Person) -> str:
    tip = pull.base_sha
    shas = await call.git.between(call.repo.id, pull.merge_base, pull.head_sha)
    for commit in await read_commits(call.git, call.repo.id, shas):
        if len(commit.parents) != 1:
            raise ApiError(405, "This branch can't be rebased")
        tip = await _replay(call, tip, commit.sha, committer)
    return tip


async def _replay(call: Call, onto: str, sha: str, committer: Person) -> str:
    """Apply one commit's change onto another commit by a three-way merge whose base is the commit's parent."""
    commit = await read_commit(call.git, call.repo.id, sha)
    # merge-tree takes its base from history: a stand-in of `onto` with the commit's parent as parent gives it.
    target = await read_commit(call.git, call.repo.id, onto)
    like_target = NewCommit(target.tree, commit.parents, committer, committer, "stand-in")
    stand_in = await write_commit(call.git, call.repo.id, like_target)
    tree = await merge_trees(call.git, call.repo.id, stand_in, sha)
    if tree is None:
        raise ApiError(405, "This branch can't be rebased")
    replayed = NewCommit(tree, [onto], commit.author, committer, commit.message)
    return await write_commit(call.git, call.repo.id, replayed)


_BASE = "/repos/{owner}/{repo}/pulls"
_ONE = _BASE + "/{number}"
ENDPOINTS = (
    Endpoint("GET", _BASE, list_pulls, READ),
    Endpoint("POST", _BASE, create_pull, WRITE),
    Endpoint("GET", _ONE, get_pull, READ),
    Endpoint("PATCH", _ONE, patch_pull, WRITE),
    Endpoint("GET", _ONE + "/files", list_files, READ),
    Endpoint("GET", _ONE + "/commits", list_commits, READ),
    Endpoint("GET", _ONE + "/merge", is_merged, READ),
    Endpoint("PUT", _ONE + "/merge", merge_pull, MERGE),
    Endpoint("GET", _ONE + "/requested_reviewers", list_reviewers, READ),
    Endpoint("POST", _ONE + "/requested_reviewers", request_reviewers, WRITE),
    Endpoint("DELETE", _ONE + "/requested_reviewers", remove_reviewers, WRITE),
)
