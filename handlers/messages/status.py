"""The status comment: one a run, on the issue, edited in place. It says where the work is and what to do next."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from handlers.messages.page import page
from handlers.messages.parts import Spending, TestsView

State = Literal[
    "queued",
    "working",
    "waiting",
    "changes_requested",
    "ready_to_merge",
    "merged",
    "stopped",
    "stuck",
    "incomplete",
    "declined",
    "questions",
    "budget",
    "needs_migration",
    "held",
]
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._/-]{0,99}")


@dataclass(frozen=True)
class WorkLine:
    """What an agent wrote, in a line."""

    agent: str
    text: str


@dataclass(frozen=True)
class PullLine:
    """The pull request."""

    number: int
    url: str
    head: str
    draft: bool = True


@dataclass(frozen=True)
class Waiting:
    """What a gate waits for: what is needed, who could give it (logins; may be nobody), and why it is not there yet."""

    gate: str
    need: str
    who: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class StatusView:
    """A run as people see it. `by` are the logins of who decided (stopped, requested changes, approved or merged)."""

    run: str
    state: State
    spending: Spending
    seconds: float = 0.0
    at_work: tuple[str, ...] = ()
    work: tuple[WorkLine, ...] = ()
    tests: TestsView | None = None
    pull: PullLine | None = None
    waiting: Waiting | None = None
    by: tuple[str, ...] = ()
    reason: str = ""
    questions: tuple[str, ...] = ()
    merged_sha: str | None = None
    page_url: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.state in ("merged", "stopped", "incomplete", "declined")


def marker(run: str) -> str:
    """The hidden first line by which the comment is found again. Raises `ValueError` for an odd run id."""
    if not _RUN.fullmatch(run) or "--" in run:
        raise ValueError(f"a run id cannot stand in a marker: {run!r}")
    return f"<!-- seconder:status run={run} -->"


def render(view: StatusView) -> str:
    """The whole comment; its first line is `marker(view.run)`."""
    first = marker(view.run)
    return first + "\n" + page("status.md.j2", view, limit=64_000)
