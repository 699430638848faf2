"""Heads that are not the team's: where a branch's rules require our checks, people's pull requests and merge groups
must not wait for a judgement that nobody will make.

A check run belongs to a commit, not to a pull request. A head that one of the team's runs has made is therefore left
alone, whoever else opens a pull request from it.
"""

from __future__ import annotations

import structlog

from handlers.context import Context
from handlers.events import ChecksRerequested, Event, MergeGroupRequested, PullEvent, RepoRef
from handlers.messages import checks as message
from handlers.messages.checks import QualityView
from handlers.ports import CheckFacts, CheckState, Word
from handlers.pulls import say

log = structlog.get_logger("seconder.bystanders")

OURS = "seconder/"
CHECKS = ("seconder/quality", "seconder/security", "seconder/cost")


async def pull_seen(context: Context, event: Event) -> None:
    """Somebody's pull request has a new head or another base: our required checks conclude on it.

    Raises `GitHubError`.
    """
    seen = PullEvent.model_validate(event.data)
    if await context.store.runs.find(seen.repo, pull=seen.number) is not None:
        return
    pull = await context.github.pulls.get(seen.repo, seen.number)
    bot = await context.github.people.bot()
    at_home = pull.head_repo_id == seen.repo.id
    if pull.state != "open" or pull.author.id == bot.id or (at_home and pull.head_ref.startswith(OURS)):
        return
    names = await _required(context, seen.repo, pull.base_ref)
    if names and await _made_by_a_run(context, seen.repo, pull.head_sha):
        log.info("head_is_a_runs", pull=seen.number, repo=seen.repo.full_name, head=pull.head_sha)
        return
    for name in names:
        await _conclude(context, seen.repo, _state(name, QualityView("not_ours", pull.head_sha)))


async def merge_group(context: Context, event: Event) -> None:
    """A merge queue waits for our required checks: each pull request in it has passed them on its own head."""
    asked = MergeGroupRequested.model_validate(event.data)
    for name in await _required(context, asked.repo, asked.base_ref):
        await _conclude(context, asked.repo, _state(name, QualityView("merge_group", asked.head)))


async def rerequested(context: Context, event: Event) -> None:
    """Our checks were asked for again: a run's gate looks again, on somebody else's head they conclude anew, since
    GitHub has reset them."""
    asked = ChecksRerequested.model_validate(event.data)
    for name in CHECKS if asked.name is None else (asked.name,):
        for check in await context.github.checks.find(asked.repo, asked.head, name):
            if check.external_id == _external(asked.head):
                state = _state(name, QualityView("not_ours", asked.head))
                await context.github.checks.update(asked.repo, check.id, state)
            else:
                await _look_again(context, event, asked.repo, (check.external_id or "").partition(":")[0])


async def _look_again(context: Context, event: Event, repo: RepoRef, run: str) -> None:
    facts = await context.store.runs.facts(run) if run else None
    if facts is not None and facts.repo.id == repo.id:
        await say(context, run, Word(event.id))


async def _required(context: Context, repo: RepoRef, branch: str) -> list[str]:
    """The names of our checks that the branch's rules require."""
    rules = await context.github.rules.of_branch(repo, branch)
    return sorted(name for name in rules.checks if name.startswith(OURS))


async def _made_by_a_run(context: Context, repo: RepoRef, head: str) -> bool:
    """Whether an open run has committed this head, or a run's own check stands on it."""
    for run in await context.store.open_runs.open():
        facts = await context.store.runs.facts(run)
        if facts is not None and facts.repo.id == repo.id:
            state = await context.states.of(run, context.store.runs)
            if any(receipt.get("sha") == head for receipt in state.receipts.values()):
                return True
    found: list[CheckFacts] = []
    for name in CHECKS:
        found += await context.github.checks.find(repo, head, name)
    return any(check.external_id != _external(head) for check in found)


async def _conclude(context: Context, repo: RepoRef, state: CheckState) -> None:
    known = await context.github.checks.find(repo, state.head_sha, state.name)
    if not any(check.external_id == state.external_id for check in known):
        await context.github.checks.create(repo, state)


def _external(head: str) -> str:
    return f"bystander:{head}"


def _state(name: str, view: QualityView) -> CheckState:
    text = message.render(view)
    return CheckState(name, view.head, _external(view.head), "success", text.title, text.summary, text.text)
