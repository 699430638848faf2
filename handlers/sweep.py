"""The slow sweep: open runs are compared with GitHub, for what no event told of, and settled.

A run whose issue, pull request, branch, repository or installation is gone or closed is cancelled with that reason; one
whose people have done something wakes its waiting steps. What cannot be read settles nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from handlers.context import Context
from handlers.events import RepoRef
from handlers.ports import (
    GitHubError,
    InstallationFacts,
    IssueFacts,
    Later,
    Missing,
    PullFacts,
    Refused,
    RepoFacts,
    ReviewFacts,
    RunFacts,
    Word,
)

log = structlog.get_logger("seconder.sweep")


@dataclass(frozen=True)
class Seen:
    """What GitHub says of a run now. `issue` None: it is gone; `branch` False: the run's branch is gone."""

    repo: RepoFacts
    issue: IssueFacts | None
    pull: PullFacts | None = None
    branch: bool = True
    reviews: tuple[ReviewFacts, ...] = ()


@dataclass(frozen=True)
class Settled:
    """What one look came to: runs cancelled with the reason, runs woken, and what could not be read."""

    cancelled: dict[str, str] = field(default_factory=dict)
    woken: tuple[str, ...] = ()
    errors: tuple[GitHubError, ...] = ()


def why_over(run: RunFacts, seen: Seen) -> str | None:
    """Why a run cannot go on, in words for its status; None when it can, also when its pull request is merged."""
    if seen.pull is not None and seen.pull.merged:
        return None
    if seen.repo.archived:
        return "the repository was archived"
    if seen.issue is None:
        return "the issue is gone: it was deleted, or moved to another repository"
    if seen.issue.state != "open":
        return "the issue was closed"
    if seen.pull is not None and seen.pull.state != "open":
        return "the pull request was closed"
    if not seen.branch:
        return f"the branch {run.branch} was deleted"
    return None


def look_of(seen: Seen) -> str:
    """A digest of all that waiting steps look at: another one means that somebody did something."""
    issue, pull = seen.issue, seen.pull
    parts: list[object] = [issue and (issue.state, sorted(issue.labels))]
    if pull is not None:
        parts.append((pull.state, pull.draft, pull.merged, pull.head_sha, pull.base_ref))
    parts += [(review.id, review.state, review.commit) for review in seen.reviews]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


async def sweep(context: Context) -> Settled:
    """Look at every open run. Raises `GitHubError` when not even the installations can be read."""
    runs = [await context.store.runs.facts(run) for run in await context.store.open_runs.open()]
    return await settle(context, [run for run in runs if run is not None])


async def settle(context: Context, runs: Iterable[RunFacts], sure: bool = False) -> Settled:
    """Compare runs with GitHub and settle them. An ending is looked for a second time after a while, since a replica
    may lag, unless the caller is `sure` that something happened."""
    looker = _Looker(context)
    ended, woken, errors = await looker.look([run for run in runs if run.status == "open"])
    if ended and not sure:
        await asyncio.sleep(context.options.settle_ms / 1000)
        again, _, later = await _Looker(context).look([run for run, _ in ended])
        ended, errors = again, [*errors, *later]
    cancelled = {}
    for run, reason in ended:
        if await context.store.runs.cancel(run.id, f"sweep:{run.id}", reason):
            cancelled[run.id] = reason
            log.info("run_settled", run=run.id, why=reason)
    if cancelled or woken:
        await context.wake.wake(await context.store.tasks.due(50))
    return Settled(cancelled, tuple(woken), tuple(errors))


Ended = list[tuple[RunFacts, str]]


class _Looker:
    """One look at some runs. Remembers for its duration what the installations reach."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._installed: dict[int, InstallationFacts] = {}
        self._reach: dict[int, Sequence[RepoRef]] = {}

    async def look(self, runs: Sequence[RunFacts]) -> tuple[Ended, list[str], list[GitHubError]]:
        """Which runs are over and why, which were woken, and what could not be read. One that fails stops no other;
        an installation that has to wait is left for the next time."""
        ended: Ended = []
        woken: list[str] = []
        errors: list[GitHubError] = []
        waiting: set[int] = set()
        if runs:
            self._installed = {made.id: made for made in await self._context.github.installations.all()}
        for run in runs:
            if run.repo.installation in waiting:
                continue
            try:
                reason = await self._one(run, woken)
            except GitHubError as error:
                if isinstance(error, Later):
                    waiting.add(run.repo.installation)
                errors.append(error)
                log.warning("run_not_compared", run=run.id, repo=run.repo.full_name, why=str(error)[:300])
                continue
            if reason is not None:
                ended.append((run, reason))
        return ended, woken, errors

    async def _one(self, run: RunFacts, woken: list[str]) -> str | None:
        """Why the run is over, or None; a run that goes on is woken where something is new."""
        repo = await self._repository(run.repo)
        if isinstance(repo, str):
            return repo
        if repo.ref != run.repo:
            await self._context.store.open_runs.moved(repo.ref)
        seen = await self._seen(replace(run, repo=repo.ref), repo)
        reason = why_over(run, seen)
        if reason is None and await self._context.store.runs.vote(run.id, Word(f"sweep:{look_of(seen)}")):
            woken.append(run.id)
        return reason

    async def _repository(self, ref: RepoRef) -> RepoFacts | str:
        """The repository as it is now, wherever it went; or why it cannot be reached any more."""
        github = self._context.github
        installed = self._installed.get(ref.installation)
        if installed is not None and not installed.suspended:
            try:
                return await github.repository.facts(ref)
            except (Missing, Refused):
                # Gone, renamed, moved, or taken from the App; or only a permission is missing.
                found = await self._find(ref.id)
                why = f"the repository {ref.full_name} is gone, or the App may not see it any more"
        else:
            found = await self._find(ref.id)
            why = "the App was removed" if installed is None else "the App was suspended"
        return why if found is None else await github.repository.facts(found)

    async def _find(self, repo: int) -> RepoRef | None:
        """A repository by its id among all that the App's live installations reach. Raises `GitHubError` when one of
        them cannot be read: it may be there."""
        for made in self._installed.values():
            if made.suspended:
                continue
            if made.id not in self._reach:
                self._reach[made.id] = await self._context.github.installations.repositories(made.id)
            found = next((ref for ref in self._reach[made.id] if ref.id == repo), None)
            if found is not None:
                return found
        return None

    async def _seen(self, run: RunFacts, repo: RepoFacts) -> Seen:
        github = self._context.github
        try:
            issue: IssueFacts | None = await github.issues.get(run.repo, run.issue)
        except Missing:
            issue = None
        if run.pull is None:
            return Seen(repo, issue, branch=await self._has_branch(run))
        pull = await github.pulls.get(run.repo, run.pull)
        reviews = tuple(await github.reviews.list(run.repo, run.pull))
        return Seen(repo, issue, pull, await self._has_branch(run), reviews)

    async def _has_branch(self, run: RunFacts) -> bool:
        return run.branch is None or await self._context.github.repository.branch(run.repo, run.branch) is not None
