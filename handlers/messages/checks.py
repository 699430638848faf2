"""What the check run `seconder/quality` says: title, summary and text of its output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handlers.messages.clamp import CHECK_LIMIT
from handlers.messages.neutral import one_line
from handlers.messages.page import page
from handlers.messages.parts import short

TITLE_LIMIT = 120
State = Literal["waiting", "approved", "changes_requested", "voided", "blocked", "closed", "not_ours", "merge_group"]


@dataclass(frozen=True)
class QualityView:
    """The quality gate on one head. `who`: logins who could approve, `by`: who decided, `why`: the gate's reason."""

    state: State
    head: str
    need: str = ""
    who: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    why: str = ""
    pull_url: str = ""
    new_head: str = ""
    alone: bool = False


@dataclass(frozen=True)
class CheckText:
    """A check run's output: title as plain text, summary and text as Markdown of at most 65,535 characters each."""

    title: str
    summary: str
    text: str


def _title(view: QualityView) -> str:
    by = " and ".join(view.by)
    match view.state:
        case "waiting":
            return f"Waiting for {view.need}" if view.need else "Waiting for an approving review"
        case "approved":
            return f"One person decided: {by}" if view.alone else f"Approved by {by}"
        case "changes_requested":
            return f"Changes requested by {by}"
        case "voided":
            return f"A push replaced {short(view.head)}"
        case "blocked":
            return "Cannot be decided"
        case "closed":
            return "The pull request is closed"
        case "not_ours":
            return "Not a Seconder pull request"
        case "merge_group":
            return "Judged on each pull request"


def render(view: QualityView) -> CheckText:
    """The three texts for one state of the gate."""
    return CheckText(
        title=one_line(_title(view), TITLE_LIMIT),
        summary=page("check_summary.md.j2", view, limit=CHECK_LIMIT),
        text=page("check_text.md.j2", view, limit=CHECK_LIMIT),
    )
