"""GitHub's `check_run`: a button on one of our checks was pressed, or one of them was asked for again.

Other Apps' results are read from their suites: one suite stands for all its runs.
"""

from __future__ import annotations

from handlers.events import ChecksRerequested, GateButtonPressed
from handlers.github.fields import Envelope, Fields, Via, is_us, read
from handlers.github.translation import AppIdentity, Found, Payload


class Run(Fields):
    id: int | None = None
    name: str | None = None
    head_sha: str | None = None
    external_id: str | None = None
    app: Via | None = None


class RequestedAction(Fields):
    identifier: str | None = None


class CheckRun(Envelope):
    check_run: Run | None = None
    requested_action: RequestedAction | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`gate_button_pressed` or `checks_rerequested`, for check runs of our own App only."""
    given = read(CheckRun, "check_run", payload)
    repo, run = given.repo(), given.check_run
    if repo is None or run is None or run.id is None or not run.head_sha or not run.name:
        return ()
    if run.app is None or run.app.id != app.app_id or is_us(app, given.sender):
        return ()
    if given.action == "rerequested":
        return (Found(ChecksRerequested(repo=repo, sender=given.who(), head=run.head_sha, name=run.name)),)
    button = given.requested_action.identifier if given.requested_action else None
    if given.action != "requested_action" or not button:
        return ()
    pressed = GateButtonPressed(
        repo=repo,
        sender=given.who(),
        head=run.head_sha,
        check_name=run.name,
        check_run_id=run.id,
        external_id=run.external_id,
        button=button,
    )
    return (Found(pressed),)
