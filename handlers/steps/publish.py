"""The step that pushes the joined tree as a commit on our branch and keeps the draft pull request beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.board import Code, Entry, Findings, FoundItem, Issue, PullRequest, RepoMap, TestResults, value_of
from handlers.events import Actor
from handlers.messages import branch as branch_message
from handlers.messages import commit as commit_message
from handlers.messages import pull as pull_message
from handlers.ports import Commit, Conflicted, NewCommit, NewPull, PullFacts, Refused, Sides, TreeEdit
from handlers.publisher import Effect, Receipt
from handlers.steps.looking import findings_of, look_through
from handlers.steps.pull_text import pull_view
from handlers.work import Work

NAMES_TRIED = 5


@dataclass(frozen=True)
class _Change:
    """What is to be pushed. `sides` is what differs from the base commit, None where nobody had to look again."""

    tested: Entry
    code: Code
    sides: Sequence[Sides] | None

    @property
    def results(self) -> TestResults:
        return value_of(self.tested, TestResults)


async def run(work: Work) -> Commit:
    """Write `pull_request`: opened or updated, and `findings` of what is pushed. With nothing made so far there is
    nothing to open; with something in it that may never be pushed, nothing is, and the step fails with the reason."""
    code_entry, tested = work.input("code"), work.input("test_results")
    if code_entry is None or tested is None:
        return work.done()
    change, found = await _looked_through(work, tested, value_of(code_entry, Code))
    looked = () if found is None else (work.entry("findings", found, (tested.id,)),)
    refused = [item for item in found.items if item.level == "block"] if found is not None else []
    if refused:
        return _never(work, looked, refused)
    results, before = change.results, _ours(work)
    name = before.branch if before is not None else await _free_branch(work)
    if before is not None and before.tree == results.tree:
        head = before.head_sha
    else:
        head = await _push(work, name, before, change)
    pull = await _pull(work, name)
    await work.context.github.pulls.edit(work.run.repo, pull.number, *_text(work))
    value = PullRequest(
        number=pull.number,
        url=pull.url,
        branch=name,
        base=pull.base_ref,
        head_sha=head,
        tree=results.tree,
        action="opened" if before is None else "updated",
        draft=pull.draft,
    )
    done = work.done(*looked, work.entry("pull_request", value, (code_entry.id, tested.id)))
    return Commit("done", entries=done.entries, events=done.events, pull=pull.number, branch=name)


async def _looked_through(work: Work, tested: Entry, code: Code) -> tuple[_Change, Findings | None]:
    """The change, and what is found in it; None where the same tree was looked through before and may be pushed."""
    results = value_of(tested, TestResults)
    known = findings_of(work, results.tree)
    if known is not None and all(item.level != "block" for item in known.items):
        return _Change(tested, code, None), None
    packs = [await work.context.store.blobs.get(results.pack)]
    sides = await work.context.workspaces.compare(work.run.repo, results.base_sha, results.tree, packs)
    return _Change(tested, code, sides), await look_through(work, results, sides)


def _never(work: Work, looked: tuple[Entry, ...], refused: list[FoundItem]) -> Commit:
    """Nothing is pushed; what was found stays on the board, and the reason is said."""
    first = refused[0]
    more = f" (and {len(refused) - 1} more like it)" if len(refused) > 1 else ""
    error = (
        f"this change is not pushed, because of {first.path[:120]}: {first.why[:160]}{more}. Tell the team what to do "
        "instead with /steer; if the change is right, make this part of it by hand"
    )
    event = work.event("step_failed", {"node": work.lease.node, "error": error})
    return Commit("failed", entries=looked, events=(event,), error=error)


def _ours(work: Work) -> PullRequest | None:
    """The pull request as we last pushed it: a head that somebody else pushed has no tree here."""
    known = (value_of(entry, PullRequest) for entry in reversed(work.state.entries("pull_request")))
    return next((pull for pull in known if pull.tree), None)


def _text(work: Work) -> tuple[str, str]:
    view = pull_view(work)
    return pull_message.title(view.number, view.what), pull_message.render(view)


async def _free_branch(work: Work) -> str:
    """Our branch's name: the first of a few that is not taken by somebody else's branch, booked once."""
    issue = value_of(work.need("issue"), Issue)
    wanted = branch_message.branch_name(issue.number, issue.title, work.run.attempt)

    async def do() -> Receipt:
        for number in range(1, NAMES_TRIED + 1):
            name = wanted if number == 1 else f"{wanted}-v{number}"
            if await work.context.github.repository.branch(work.run.repo, name) is None:
                return {"branch": name}
        raise Refused(f"the branches {wanted} to {wanted}-v{NAMES_TRIED} all exist. Delete one, then comment /retry")

    async def find() -> Receipt | None:
        return None

    return str((await work.publisher.once(Effect("name", do, find)))["branch"])


async def _push(work: Work, name: str, before: PullRequest | None, change: _Change) -> str:
    """One commit of the joined tree on top of our last; its date is the entry's, so that a repeat is the same."""
    results, code = change.results, change.code
    parent = before.head_sha if before is not None else work.run.base_sha
    edits = await _edits(work, before, change)
    bot = await work.context.github.people.bot()
    subject, rest = commit_message.split(code.summary)
    repo_map = work.state.board.value("repo_map", RepoMap)
    signed_off = f"{bot.login} <{noreply(bot)}>" if repo_map is not None and repo_map.sign_off else ""
    view = commit_message.CommitView(work.run.issue, subject, rest or code.notes, signed_off)
    new = NewCommit(
        parent=parent,
        tree=results.tree,
        edits=edits,
        message=commit_message.render(view),
        author_name=bot.login,
        author_email=noreply(bot),
        date=change.tested.at // 1000,
    )
    sha = await work.context.github.repository.commit(work.run.repo, new)

    async def do() -> Receipt:
        await _move(work, name, parent, sha)
        return {"branch": name, "sha": sha}

    async def find() -> Receipt | None:
        there = await work.context.github.repository.branch(work.run.repo, name)
        return {"branch": name, "sha": sha} if there == sha else None

    await work.publisher.once(Effect(f"branch:{sha}", do, find))
    return sha


async def _edits(work: Work, before: PullRequest | None, change: _Change) -> tuple[TreeEdit, ...]:
    """What leads from the parent to the tested tree."""
    results = change.results
    if before is None and change.sides is not None:
        return tuple(
            TreeEdit(one.path, one.new, "100755" if one.new_mode == "100755" else "100644") for one in change.sides
        )
    packs = [await work.context.store.blobs.get(results.pack)]
    contents = work.context.workspaces.contents
    if before is None or change.sides is None:
        # Our own head is fetched like any commit; a look at the base makes sure that the base is here too.
        edits = await contents(work.run.repo, results.base_sha, results.tree, packs)
    if before is not None:
        edits = await contents(work.run.repo, before.head_sha, results.tree, packs)
    return tuple(edits)


async def _move(work: Work, name: str, parent: str, sha: str) -> None:
    repository, repo = work.context.github.repository, work.run.repo
    there = await repository.branch(repo, name)
    if there == sha:
        return
    if there is None:
        try:
            await repository.create_branch(repo, name, sha)
        except Conflicted as error:
            raise Refused(f"{error}. Rename or delete the branch that is in the way, then comment /retry.") from error
    elif there == parent:
        await repository.move_branch(repo, name, sha)
    else:
        raise Refused(
            f"somebody pushed {there[:12]} to {name}, and it is not mine to overwrite. "
            f"Put the branch back to {parent[:12]} and comment /retry, or take it over from here."
        )


async def _pull(work: Work, name: str) -> PullFacts:
    """Our pull request for the branch: the one that is open already, or a new draft."""
    pulls, repo = work.context.github.pulls, work.run.repo

    async def found() -> PullFacts | None:
        bot = await work.context.github.people.bot()
        mine = [pull for pull in await pulls.find(repo, name) if pull.state == "open" and pull.author.id == bot.id]
        return mine[0] if mine else None

    async def do() -> Receipt:
        title, body = _text(work)
        try:
            made = await pulls.open(repo, NewPull(title, body, name, work.run.default_branch))
        except Conflicted:
            known = await found()
            if known is None:
                raise
            made = known
        return {"number": made.number}

    async def find() -> Receipt | None:
        known = await found()
        return None if known is None else {"number": known.number}

    receipt = await work.publisher.once(Effect(f"pull:{name}", do, find))
    return await pulls.get(repo, int(str(receipt["number"])))


def noreply(bot: Actor) -> str:
    """The address by which GitHub knows a commit as the bot's. Source: GitHub Docs, "Setting your commit email"."""
    return f"{bot.id}+{bot.login}@users.noreply.github.com"
