"""What the security gate says: the check run `seconder/security`, and the comment that asks people to decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handlers.messages.checks import TITLE_LIMIT, CheckText
from handlers.messages.clamp import CHECK_LIMIT
from handlers.messages.neutral import one_line
from handlers.messages.page import page

SHOWN = 30
"""Findings that a text lists; the rest is counted."""
NAMED = 7
"""Digits of the head by which a command names it."""


@dataclass(frozen=True)
class Found:
    """One finding: its rule and level (`block`, `approve`, `note`), where it is, and why it is one."""

    rule: str
    level: str
    path: str
    line: int | None
    why: str

    @property
    def place(self) -> str:
        """Path and line as people write them."""
        return f"{self.path}:{self.line}" if self.line is not None else self.path


@dataclass(frozen=True)
class SecurityView:
    """The gate on one head. `who`: logins who could decide, `by`: who did, `why`: the gate's reason."""

    state: Literal["passed", "waiting", "refused", "blocked"]
    head: str
    found: tuple[Found, ...] = ()
    who: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    why: str = ""
    pull_url: str = ""
    alone: bool = False

    @property
    def named(self) -> str:
        """The head as a command names it."""
        return self.head[:NAMED]

    @property
    def open(self) -> tuple[Found, ...]:
        """What people decide on."""
        return tuple(one for one in self.found if one.level != "note")

    @property
    def notes(self) -> tuple[Found, ...]:
        """What is only shown."""
        return tuple(one for one in self.found if one.level == "note")[:SHOWN]

    @property
    def shown(self) -> tuple[Found, ...]:
        """The first of those that people decide on."""
        return self.open[:SHOWN]


def _title(view: SecurityView) -> str:
    count = len(view.open)
    findings = f"{count} finding{'' if count == 1 else 's'}"
    match view.state:
        case "passed" if not view.open:
            return "Nothing found that needs a person"
        case "passed":
            return f"One person decided: {view.by[0]}" if view.alone else f"Accepted by {' and '.join(view.by)}"
        case "waiting":
            return f"Waiting for people: {findings}"
        case "refused":
            return f"Refused by {' and '.join(view.by)}" if view.by else "Never pushed"
        case "blocked":
            return "Cannot be decided"


def render(view: SecurityView) -> CheckText:
    """The check run's three texts."""
    return CheckText(
        title=one_line(_title(view), TITLE_LIMIT),
        summary=page("security_summary.md.j2", view, limit=CHECK_LIMIT),
        text=page("security_text.md.j2", view, limit=CHECK_LIMIT),
    )


def prompt(view: SecurityView) -> str:
    """The comment on the pull request: what to decide, on what, how, and who may."""
    return page("security_prompt.md.j2", view, limit=64_000)
