"""Commands as they arrive: who gave one, for which run, what came of it. Each one's deed is in `handlers/commands/`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog

from agents.board import Author
from handlers.context import Context
from handlers.events import CommandGiven, Event
from handlers.grammar import EDITED, REFUSED
from handlers.lateness import comes_late
from handlers.messages.replies import Edited, Failed, Misread, NotAllowed, Reply
from handlers.ports import GitHubError, RunFacts, Standing
from handlers.replies import reply_once

log = structlog.get_logger("seconder.orders")

LATE = "This reached me late: the run that it was meant for is over."

Who = str


@dataclass(frozen=True)
class Order:
    """A command that its giver may give. `run` is the newest of the issue or pull request, ended or not, or None."""

    context: Context
    event: Event
    given: CommandGiven
    run: RunFacts | None
    standing: Standing
    help: str

    @property
    def open_run(self) -> RunFacts | None:
        """The run, if it has not ended."""
        return self.run if self.run is not None and self.run.status == "open" else None

    @property
    def author(self) -> Author:
        """The giver, as the author of an entry."""
        return Author(kind="person", name=self.given.author.login, id=self.given.author.id)


Action = Callable[[Order], Awaitable[Reply | None]]


@dataclass(frozen=True)
class Entitled:
    """A command's function and who may give it (`anyone`, or a permission)."""

    who: Who
    action: Action


async def command_given(context: Context, event: Event, commands: Mapping[str, Entitled], table: str) -> None:
    """Check who gave the command, do it, and answer: a thumb when it was done, one comment when it was not."""
    given = CommandGiven.model_validate(event.data)
    if given.sender.id != given.author.id or given.author.type != "User":
        log.info("command_not_by_author", verb=given.verb, repo=given.repo.full_name, number=given.number)
        return
    command = commands.get(given.verb)
    if command is None and given.verb != REFUSED:
        log.info("command_unknown", verb=given.verb, repo=given.repo.full_name, number=given.number)
        return
    standing = await context.github.people.standing(given.repo, given.author)
    if given.verb == REFUSED or command is None:
        if standing.at_least("write"):
            await _unfollowed(context, event, given)
        return
    if command.who != "anyone" and not standing.at_least(command.who):
        log.info("command_denied", verb=given.verb, by=given.author.login, has=standing.permission)
        if standing.at_least("triage"):
            refusal = NotAllowed(given.verb, given.author.login, command.who, standing.permission)
            await reply_once(context, given.repo, given.number, event.id, refusal)
        return
    await _react(context, given, "eyes")
    run = await _run_of(context, given)
    reply: Reply | None = None
    if run is None or not await _followed(context, run.id, event.id):
        late = run is not None and command.who != "anyone" and comes_late(event.at, run)
        order = Order(context, event, given, run, standing, table)
        reply = Failed("do that", LATE) if late else await command.action(order)
    log.info("command_done", verb=given.verb, by=given.author.login, refused=reply is not None)
    if reply is not None:
        await reply_once(context, given.repo, given.number, event.id, reply)
    else:
        await _react(context, given, "+1")
    await context.wake.wake(await context.store.tasks.due(50))


async def _unfollowed(context: Context, event: Event, given: CommandGiven) -> None:
    """Say what was wrong with a comment that was meant for us; of one that is edited again and again, once."""
    if given.arguments == EDITED:
        cause = f"edited-{given.where}-{given.comment_id}"
        await reply_once(context, given.repo, given.number, cause, Edited(given.words))
    else:
        await reply_once(context, given.repo, given.number, event.id, Misread(given.words or given.arguments))


async def _followed(context: Context, run: str, cause: str) -> bool:
    """Whether the run's log holds what this very order did. Its event comes again when a worker died before it was
    acknowledged: by then the order may have ended the run, and would be refused."""
    for record in await context.store.runs.read(run, 0):
        if record.data.get("cause") == cause or str(record.data.get("id", "")).endswith(f".{cause}"):
            return True
    return False


async def _run_of(context: Context, given: CommandGiven) -> RunFacts | None:
    runs = context.store.runs
    found = (
        await runs.find(given.repo, pull=given.number)
        if given.on_pull_request
        else await runs.find(given.repo, issue=given.number)
    )
    return None if found is None else await runs.facts(found)


async def _react(context: Context, given: CommandGiven, content: str) -> None:
    """A thumb is a courtesy: where it cannot be given (a locked thread, a removed comment, a limit), the order stands,
    and is neither dropped nor followed once more."""
    if given.where != "issue":
        return
    try:
        await context.github.issues.react(given.repo, "comment", given.comment_id, content)
    except GitHubError as error:
        log.info("no_reaction", content=content, repo=given.repo.full_name, number=given.number, why=str(error)[:200])
