"""How an issue becomes a run: who may start one, and what is fixed at that moment."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from agents.board import Author, Entry, Issue
from handlers import configs
from handlers.context import Context
from handlers.events import Actor, Event, IssueCreated, IssueLabeled, RepoRef
from handlers.lateness import comes_late
from handlers.messages.hidden import strip_hidden
from handlers.messages.replies import ConfigRefused, EditedMeanwhile, EmptyRepository
from handlers.ports import IssueFacts, NewRun, Word
from handlers.pulls import HOLD, hold_event
from handlers.replies import reply_once
from handlers.snapshot import text_digest

log = structlog.get_logger("seconder.intake")

LONGEST_BODY = 60_000
DEFAULT_WORKFLOW = "feature"


async def issue_created(context: Context, event: Event) -> None:
    """An issue filed by someone with write starts a run; anybody else's waits for a maintainer, in silence."""
    filed = IssueCreated.model_validate(event.data)
    if filed.sender.id != filed.author.id:
        log.info("issue_not_by_sender", issue=filed.number, repo=filed.repo.full_name)
        return
    standing = await context.github.people.standing(filed.repo, filed.author)
    if not standing.at_least("write"):
        log.info("issue_waits", issue=filed.number, repo=filed.repo.full_name, permission=standing.permission)
        return
    if not (await configs.of(context, filed.repo)).triggers.issues:
        log.info("issue_starts_nothing_here", issue=filed.number, repo=filed.repo.full_name)
        return
    if await context.store.runs.find(filed.repo, issue=filed.number) is not None:
        log.info("issue_known", issue=filed.number, repo=filed.repo.full_name)  # the event comes late: it had a run
        return
    await start_run(context, filed.repo, filed.number, filed.author, event.id)


async def issue_labeled(context: Context, event: Event) -> None:
    """The label `seconder` (or what the repository calls it), set by someone with triage or better, starts a run."""
    labeled = IssueLabeled.model_validate(event.data)
    wanted = (await configs.of(context, labeled.repo)).labels.start
    if labeled.label.casefold() != wanted.casefold() or labeled.is_pull_request:
        return
    standing = await context.github.people.standing(labeled.repo, labeled.sender)
    if standing.at_least("triage") and not await _is_old(context, labeled, event.at):
        await begin(context, Wish(labeled.repo, labeled.number, labeled.sender, event.id, labeled.text))


async def _is_old(context: Context, labeled: IssueLabeled, at: int) -> bool:
    """Whether the label was set before the issue's last run had ended: it is not a new wish."""
    last = await context.store.runs.find(labeled.repo, issue=labeled.number)
    facts = await context.store.runs.facts(last) if last is not None else None
    old = facts is not None and comes_late(at, facts)
    if old:
        log.info("label_is_old", issue=labeled.number, repo=labeled.repo.full_name)
    return old


@dataclass(frozen=True)
class Wish:
    """Somebody wants the team to work on an issue. `shown`: the digest of its text that they had before them."""

    repo: RepoRef
    number: int
    requester: Actor
    cause: str
    shown: str | None = None


async def start_run(context: Context, repo: RepoRef, number: int, requester: Actor, cause: str) -> str | None:
    """`begin` for whoever wrote the text, or saw no particular one."""
    return await begin(context, Wish(repo, number, requester, cause))


async def begin(context: Context, wish: Wish) -> str | None:
    """Start a run on an open issue of a repository that has a commit; returns its id, or None with the reason said."""
    repo, number, cause = wish.repo, wish.number, wish.cause
    facts = await context.github.repository.facts(repo)
    issue = await context.github.issues.get(repo, number)
    if issue.state != "open" or issue.is_pull_request:
        log.info("issue_not_open", issue=number, repo=repo.full_name)
        return None
    if _changed_meanwhile(wish, issue):
        log.warning("issue_edited_meanwhile", issue=number, repo=repo.full_name, by=wish.requester.login)
        await reply_once(context, repo, number, cause, EditedMeanwhile(wish.requester.login))
        return None
    if facts.head is None:
        await reply_once(context, repo, number, cause, EmptyRepository())
        return None
    found = await configs.read(context, facts.ref, facts.default_branch)
    if found.problems:
        await reply_once(context, repo, number, f"config:{issue.number}:{found.digest}", ConfigRefused(found.problems))
    workflow = context.workflows[DEFAULT_WORKFLOW]
    run = await context.store.runs.start(
        NewRun(
            repo=facts.ref,
            issue=number,
            requester=wish.requester,
            base_sha=facts.head,
            default_branch=facts.default_branch,
            workflow=workflow.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            budget=configs.bounded(context.options, found.config).budget,
            cause=cause,
            entries=(_snapshot(issue, context.clock.now_ms()),),
        )
    )
    if run is not None and any(label.casefold() == HOLD for label in issue.labels):
        await context.store.runs.vote(run, Word(f"{cause}:hold", events=(hold_event(run, cause, held=True),)))
    log.info("run_started" if run else "run_exists", run=run, issue=number, repo=repo.full_name)
    await context.wake.wake(await context.store.tasks.due(50))
    return run


def _changed_meanwhile(wish: Wish, issue: IssueFacts) -> bool:
    """Whether somebody else's text is no longer the one that was allowed: its author may have changed it since."""
    own = wish.requester.id == issue.author.id
    return not own and wish.shown is not None and wish.shown != text_digest(issue.title, issue.body)


def _snapshot(issue: IssueFacts, at: int) -> Entry:
    """The issue's words as they stand now; later edits are not used."""
    body = strip_hidden(issue.body)
    value = Issue(
        number=issue.number,
        title=strip_hidden(issue.title),
        body=body[:LONGEST_BODY],
        author=issue.author.login,
        author_id=issue.author.id,
        labels=issue.labels,
        url=issue.url,
        cut=len(body) > LONGEST_BODY,
    )
    author = Author(kind="person", name=issue.author.login, id=issue.author.id)
    return Entry(id="issue.1", kind="issue", value=value.model_dump(mode="json"), author=author, at=at)
