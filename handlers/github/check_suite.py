"""GitHub's `check_suite`: another App's checks have all finished, or ours were asked for again."""

from __future__ import annotations

from handlers.events import ChecksRerequested, CiEvent, CiFailed, CiPassed
from handlers.github.fields import Envelope, Fields, Via, is_us, milliseconds, read
from handlers.github.translation import AppIdentity, Found, Payload

# As GitHub's own merge rules count them. Cancelled, stale and action_required are no result: somebody has to act first.
PASSED = frozenset({"success", "neutral", "skipped"})
FAILED = frozenset({"failure", "timed_out", "startup_failure"})


class SuiteApp(Via):
    slug: str | None = None
    name: str | None = None


class Suite(Fields):
    head_sha: str | None = None
    conclusion: str | None = None
    updated_at: str | None = None
    app: SuiteApp | None = None


class CheckSuite(Envelope):
    check_suite: Suite | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`ci_passed` or `ci_failed` for other Apps' suites, `checks_rerequested` for our own."""
    given = read(CheckSuite, "check_suite", payload)
    repo, suite = given.repo(), given.check_suite
    if repo is None or suite is None or not suite.head_sha or suite.app is None:
        return ()
    ours = suite.app.id == app.app_id
    if given.action == "rerequested" and ours and not is_us(app, given.sender):
        return (Found(ChecksRerequested(repo=repo, sender=given.who(), head=suite.head_sha)),)
    kind = _result(suite.conclusion or "")
    if given.action != "completed" or ours or kind is None:
        return ()
    name = suite.app.name or suite.app.slug or "checks"
    record = kind(repo=repo, sender=given.who(), head=suite.head_sha, name=name, app_id=suite.app.id)
    return (Found(record, milliseconds(suite.updated_at)),)


def _result(conclusion: str) -> type[CiEvent] | None:
    """Which event a conclusion makes, or None when it is no result."""
    if conclusion in PASSED:
        return CiPassed
    return CiFailed if conclusion in FAILED else None
