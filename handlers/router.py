"""Which function handles which event of the bus: the list, written out once. Everything else passes by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import structlog
from pydantic import ValidationError

from handlers import buttons, bystanders, configs, intake, moves, pulls
from handlers.commands import ENTITLED, table
from handlers.context import Context
from handlers.events import (
    ChecksRerequested,
    CommandGiven,
    CommentAdded,
    ConfigChanged,
    Event,
    GateButtonPressed,
    InstallationChanged,
    IssueClosed,
    IssueCreated,
    IssueLabeled,
    IssueUnlabeled,
    MergeGroupRequested,
    PrClosed,
    PrEdited,
    PrMerged,
    PrSynchronized,
    RepositoryMoved,
    ReviewDismissed,
    ReviewSubmitted,
)
from handlers.grammar import parse
from handlers.orders import command_given
from handlers.ports import GitHubError, Later, LogUnreadable, Unknown

log = structlog.get_logger("seconder.router")

GROUP = "router"
Handler = Callable[[Context, Event], Awaitable[None]]


async def _command(context: Context, event: Event) -> None:
    given = CommandGiven.model_validate(event.data)
    if not (await configs.of(context, given.repo)).short_commands and parse(given.body, False) is None:
        # Here `/verb` belongs to somebody else: it is a comment like any other.
        words = given.model_dump(mode="json", exclude={"verb", "arguments", "words", "text"})
        await pulls.comment(context, event.model_copy(update={"name": CommentAdded.NAME, "data": words}))
        return
    await command_given(context, event, ENTITLED, table())


async def _labeled(context: Context, event: Event) -> None:
    await pulls.hold_changed(context, event)
    await intake.issue_labeled(context, event)


async def _pull_seen(context: Context, event: Event) -> None:
    await pulls.pull_changed(context, event)
    await bystanders.pull_seen(context, event)


HANDLERS: Mapping[str, Handler] = {
    IssueCreated.NAME: intake.issue_created,
    IssueLabeled.NAME: _labeled,
    IssueUnlabeled.NAME: pulls.hold_changed,
    IssueClosed.NAME: pulls.issue_closed,
    CommentAdded.NAME: pulls.comment,
    CommandGiven.NAME: _command,
    ReviewSubmitted.NAME: pulls.review,
    ReviewDismissed.NAME: pulls.review,
    PrSynchronized.NAME: _pull_seen,
    PrEdited.NAME: _pull_seen,
    PrMerged.NAME: pulls.pull_changed,
    PrClosed.NAME: pulls.pull_closed,
    GateButtonPressed.NAME: buttons.pressed,
    MergeGroupRequested.NAME: bystanders.merge_group,
    ChecksRerequested.NAME: bystanders.rerequested,
    ConfigChanged.NAME: configs.changed,
    InstallationChanged.NAME: moves.installation_changed,
    RepositoryMoved.NAME: moves.repository_moved,
}


class Poison(Exception):
    """The event can never be handled: it is put aside, and the text says why."""


async def route(context: Context, event: Event) -> None:
    """Handle one event. Raises `Poison` for one that cannot be handled, `Later` and `Unknown` for another try."""
    handler = HANDLERS.get(event.name)
    if handler is None:
        return
    try:
        await handler(context, event)
    except (Later, Unknown):
        raise
    except (GitHubError, LogUnreadable, ValidationError) as error:
        raise Poison(f"{event.name}: {error}") from error
