"""The step after a stop: settle what was begun, leave no check of ours open, end the run."""

from __future__ import annotations

from dataclasses import replace

import structlog

from agents.board import Summary
from gates.verdict import Blocked
from handlers.messages.branch import PREFIX
from handlers.ports import Commit, GitHubError, Later, PullFacts, Unknown
from handlers.publisher import Unsettled
from handlers.steps import quality, security
from handlers.work import Work

log = structlog.get_logger("seconder.closing")


async def close(work: Work) -> Commit:
    """End the run as cancelled; as merged, if a merge whose answer never came has happened after all."""
    reason = work.state.cancelled or "stopped"
    await _wait_for_what_is_on_its_way(work)
    try:
        pull = await _settled(work)
        if pull is not None and pull.merged:
            text = f"merged before it could be stopped ({reason})"
            merged = Summary(outcome="merged", text=text, merged_sha=pull.merge_sha)
            return work.done(work.entry("summary", merged), ending="run_completed")
        for name, head in _checks(work, pull):
            await _conclude(work, name, head, reason)
        if pull is not None and pull.state == "open" and _refused(work):
            await work.context.github.pulls.close(work.run.repo, pull.number)
    except (Later, Unknown):
        raise
    except GitHubError as error:
        # The repository may be gone, or the App removed: the run is over all the same.
        log.warning("left_as_it_is", run=work.run.id, why=str(error))
    return work.done(work.entry("summary", Summary(outcome="cancelled", text=reason)), ending="run_cancelled")


def _refused(work: Work) -> bool:
    """Whether a person's no at a gate ended the run: then nobody wants its pull request."""
    last = work.state.last("gate_resolved")
    return last is not None and last.data.get("word") == "no"


async def _wait_for_what_is_on_its_way(work: Work) -> None:
    """What was sent just before the stop may still happen. Raises `Unsettled` until that is over."""
    effects = work.context.store.effects
    for key, known in (await effects.known(work.run.id)).items():
        if known.state == "open":
            tried = await effects.attempt(work.lease, key)
            wait = work.context.options.settle_ms - tried.since_ms
            if tried.state == "open" and wait > 0:
                raise Unsettled(key, wait)


async def _settled(work: Work) -> PullFacts | None:
    """Our pull request as it is now, also one whose opening was tried and never answered."""
    pulls, repo = work.context.github.pulls, work.run.repo
    if work.run.pull is not None:
        return await pulls.get(repo, work.run.pull)
    known = await work.context.store.effects.known(work.run.id)
    bot = await work.context.github.people.bot()
    for key, attempted in known.items():
        if key.startswith(f"pull:{PREFIX}") and attempted.state == "open":
            mine = [pull for pull in await pulls.find(repo, key.removeprefix("pull:")) if pull.author.id == bot.id]
            if mine:
                await work.context.store.effects.receipt(work.run.id, key, {"number": mine[0].number})
                return mine[0]
    return None


def _checks(work: Work, pull: PullFacts | None) -> tuple[tuple[str, str], ...]:
    """Name and head of every check of ours that was begun, with or without an answer."""
    begun = [key.split(":")[1:3] for key in work.state.receipts if key.startswith("check:")]
    checks = [(f"seconder/{name}", head) for name, head in begun]
    known = [(name, pull.head_sha) for name in (quality.CHECK, security.CHECK)] if pull is not None else []
    return tuple(dict.fromkeys([*checks, *known]))


async def _conclude(work: Work, name: str, head: str, reason: str) -> None:
    """The check on `head` says that the run was stopped, unless it had passed."""
    checks, repo = work.context.github.checks, work.run.repo
    stopped = Blocked(f"the run was stopped: {reason}")
    if name == security.CHECK:
        state = security.check_state(work, head, stopped, ())
    else:
        state = quality.check_state(work.run.id, head, stopped, "", None)
    for check in await checks.find(repo, head, name):
        if check.external_id == state.external_id and check.conclusion != "success":
            await checks.update(repo, check.id, replace(state, conclusion="cancelled", buttons=(), details_url=None))
