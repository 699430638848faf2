"""From GitHub's deliveries to our events: one file per GitHub event, listed once, here.

A translator reads the fields that it needs and no more, and decides nothing: an event is a hint, and whoever acts on
it reads the state again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from handlers.events import ChecksRerequested, Event, GateButtonPressed
from handlers.github import (
    check_run,
    check_suite,
    installation,
    installation_repositories,
    installation_target,
    issue_comment,
    issues,
    merge_group,
    ping,
    pull_request,
    pull_request_review,
    pull_request_review_comment,
    push,
    repository,
)
from handlers.github.translation import AppIdentity, Found, Payload, PayloadError, Translation

__all__ = ["TRANSLATORS", "UNASKED", "AppIdentity", "PayloadError", "Translation", "translate"]

Translator = Callable[[Payload, AppIdentity], tuple[Found, ...]]

TRANSLATORS: Mapping[str, Translator] = MappingProxyType(
    {
        "check_run": check_run.translate,
        "check_suite": check_suite.translate,
        "installation": installation.translate,
        "installation_repositories": installation_repositories.translate,
        "installation_target": installation_target.translate,
        "issue_comment": issue_comment.translate,
        "issues": issues.translate,
        "merge_group": merge_group.translate,
        "ping": ping.translate,
        "pull_request": pull_request.translate,
        "pull_request_review": pull_request_review.translate,
        "pull_request_review_comment": pull_request_review_comment.translate,
        "push": push.translate,
        "repository": repository.translate,
    }
)

# GitHub sends these to every App; a manifest that asks for one of them is refused.
UNASKED = frozenset({"installation", "installation_repositories", "installation_target", "ping"})

# A second press, or a second request, is a delivery with the same bytes.
REPEATING = (ChecksRerequested, GateButtonPressed)


def translate(name: str, payload: Payload, delivery: str, app: AppIdentity) -> Translation:
    """The events of one delivery; none for an event or action that we do not read.

    In: GitHub's event name (`X-GitHub-Event`), the parsed payload, the delivery's id, and who we are. The first event
    carries the delivery's id, further ones `<id>.1`, `<id>.2`; `at` is GitHub's own time of the thing, 0 if not given.
    Raises `PayloadError` when a field that we read is of another type than GitHub documents.
    """
    translator = TRANSLATORS.get(name)
    found = translator(payload, app) if translator else ()
    events = tuple(
        Event(
            id=f"{delivery}.{number}" if number else delivery,
            name=record.NAME,
            data=record.model_dump(mode="json"),
            at=at,
        )
        for number, (record, at) in enumerate(found)
    )
    return Translation(events, dedupe_body=not any(isinstance(record, REPEATING) for record, _ in found))
