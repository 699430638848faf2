"""What a node does when it is its turn: `steps()` is the list, written out once."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.steps import asking, closing, mark_ready, merge, publish, quality, run_tests, security, survey
from handlers.steps.agent import run_role
from handlers.steps.status import Status
from handlers.work import Step


def steps() -> Mapping[str, Step]:
    """The functions by what a workflow calls them; `status` and `close` are Seconder's own."""
    return {
        "role": run_role,
        "action:survey": survey.run,
        "action:run_tests": run_tests.run,
        "action:publish": publish.run,
        "action:mark_ready": mark_ready.run,
        "action:ask": asking.ask,
        "action:decline": asking.decline,
        "action:give_up": asking.give_up,
        "gate:security": security.run,
        "gate:quality": quality.run,
        "gate:merge": merge.run,
        "status": Status().run,
        "close": closing.close,
    }


def words(prefix: str) -> tuple[str, ...]:
    """The names that a workflow may use behind `action` or `gate`."""
    return tuple(name.removeprefix(prefix + ":") for name in steps() if name.startswith(prefix + ":"))
