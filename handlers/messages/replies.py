"""Short answers: one comment that says why something was not done, or that the run has come to a point for people.

Each record is one answer; `render` turns any of them into text. An answer to a command names what would work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from handlers.config import Problem
from handlers.messages.page import page
from handlers.messages.parts import Spending


@dataclass(frozen=True)
class Reply:
    """Base of all answers; `TEMPLATE` is the file below `templates/`."""

    TEMPLATE: ClassVar[str]


@dataclass(frozen=True)
class Help(Reply):
    """All commands. `table` is `handlers.commands.table()`."""

    TEMPLATE = "reply_help.md.j2"
    table: str


@dataclass(frozen=True)
class NotAllowed(Reply):
    """The person may not give this command. `needs`: the permission that would do; `has`: what they have."""

    TEMPLATE = "reply_not_allowed.md.j2"
    verb: str
    login: str
    needs: str
    has: str


@dataclass(frozen=True)
class NothingOpen(Reply):
    """The command needs a run, or a pull request of ours, and there is none."""

    TEMPLATE = "reply_nothing_open.md.j2"
    verb: str


@dataclass(frozen=True)
class NothingStuck(Reply):
    """`/retry` while no step has failed."""

    TEMPLATE = "reply_nothing_stuck.md.j2"


@dataclass(frozen=True)
class AlreadyOpen(Reply):
    """`/start` while a run is open."""

    TEMPLATE = "reply_already_open.md.j2"


@dataclass(frozen=True)
class HeadMoved(Reply):
    """The command named, or was written for, a commit that is no longer the head."""

    TEMPLATE = "reply_head_moved.md.j2"
    verb: str
    asked: str
    now: str


@dataclass(frozen=True)
class NotYet(Reply):
    """A gate does not pass yet: what is needed, from whom, why. `url` is the pull request."""

    TEMPLATE = "reply_not_yet.md.j2"
    verb: str
    need: str
    who: tuple[str, ...] = ()
    why: str = ""
    url: str = ""


@dataclass(frozen=True)
class ByReview(Reply):
    """Approving and refusing is done by GitHub's own reviews."""

    TEMPLATE = "reply_by_review.md.j2"
    verb: str
    url: str


@dataclass(frozen=True)
class GateLine:
    """A gate that is open: what to say to open it (a command, unless it is a review), and the logins who may."""

    name: str
    say: str
    command: bool
    who: tuple[str, ...] = ()


@dataclass(frozen=True)
class WhatIsOpen(Reply):
    """A word at a gate decided nothing: why, and which gates are open now."""

    TEMPLATE = "reply_gates.md.j2"
    verb: str
    problem: str
    gates: tuple[GateLine, ...] = ()


@dataclass(frozen=True)
class AskReason(Reply):
    """Somebody pressed the button that says no: it cannot carry a reason, so nothing has happened yet."""

    TEMPLATE = "reply_ask_reason.md.j2"
    gate: str
    login: str


@dataclass(frozen=True)
class WhyLine:
    """One entry on the way back to the issue. `by` is a role or a login, `kind` tells which."""

    entry: str
    by: str
    kind: str
    text: str


@dataclass(frozen=True)
class Why(Reply):
    """Where something comes from, nearest first; without `lines` it is not known here, and `entries` lists what is.

    `line` is the text of the line of code that was asked for.
    """

    TEMPLATE = "reply_why.md.j2"
    asked: str
    lines: tuple[WhyLine, ...]
    line: str = ""
    entries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Misread(Reply):
    """A comment that was meant for us and could not be followed; `explanation` comes from the grammar."""

    TEMPLATE = "reply_misread.md.j2"
    explanation: str


@dataclass(frozen=True)
class Usage(Reply):
    """The arguments are wrong."""

    TEMPLATE = "reply_usage.md.j2"
    usage: str
    example: str
    problem: str


@dataclass(frozen=True)
class ConfigRefused(Reply):
    """The repository's settings cannot be used; the last good ones stay in force."""

    TEMPLATE = "reply_config.md.j2"
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class EditedMeanwhile(Reply):
    """The issue's text is no longer the one that `login` let the team begin with."""

    TEMPLATE = "reply_edited_meanwhile.md.j2"
    login: str


@dataclass(frozen=True)
class Edited(Reply):
    """A command was edited into a comment."""

    TEMPLATE = "reply_edited.md.j2"
    verb: str


@dataclass(frozen=True)
class Stopped(Reply):
    """A run was stopped."""

    TEMPLATE = "reply_stopped.md.j2"
    by: str
    reason: str = ""


@dataclass(frozen=True)
class Stuck(Reply):
    """A run cannot go on by itself."""

    TEMPLATE = "reply_stuck.md.j2"
    reason: str


@dataclass(frozen=True)
class Declined(Reply):
    """The team found nothing to do."""

    TEMPLATE = "reply_declined.md.j2"
    reason: str


@dataclass(frozen=True)
class Questions(Reply):
    """The team asks before it begins."""

    TEMPLATE = "reply_questions.md.j2"
    questions: tuple[str, ...]


@dataclass(frozen=True)
class BudgetReached(Reply):
    """The cost gate waits: why, what each agent spent, and which agents (`left`) are still to come.

    `suggested`: dollars that the prompt names. `operator`: only whoever hosts Seconder can give more.
    """

    TEMPLATE = "reply_budget.md.j2"
    spending: Spending
    suggested: int = 5
    why: str = ""
    left: tuple[str, ...] = ()
    operator: bool = False


@dataclass(frozen=True)
class BranchInTheWay(Reply):
    """A branch has our branch's name, or one that git cannot hold beside it."""

    TEMPLATE = "reply_branch.md.j2"
    branch: str


@dataclass(frozen=True)
class EmptyRepository(Reply):
    """There is no commit to build on."""

    TEMPLATE = "reply_empty.md.j2"


@dataclass(frozen=True)
class BodyCut(Reply):
    """The issue's text was longer than the team reads. Both in characters."""

    TEMPLATE = "reply_cut.md.j2"
    length: int
    kept: int


@dataclass(frozen=True)
class Failed(Reply):
    """What was asked could not be done, and why."""

    TEMPLATE = "reply_failed.md.j2"
    what: str
    reason: str


REPLIES: tuple[type[Reply], ...] = (
    Help,
    NotAllowed,
    NothingOpen,
    NothingStuck,
    AlreadyOpen,
    HeadMoved,
    NotYet,
    ByReview,
    WhatIsOpen,
    AskReason,
    Why,
    Misread,
    Usage,
    ConfigRefused,
    EditedMeanwhile,
    Edited,
    Stopped,
    Stuck,
    Declined,
    Questions,
    BudgetReached,
    BranchInTheWay,
    EmptyRepository,
    BodyCut,
    Failed,
)


def marker(cause: str) -> str:
    """The hidden first line by which an answer to `cause` (a comment's or delivery's id) is found again.

    Raises `ValueError` for a cause that cannot stand in an HTML comment.
    """
    if not cause or "--" in cause or not all(c.isalnum() or c in "-_:./" for c in cause):
        raise ValueError(f"a cause cannot stand in a marker: {cause!r}")
    return f"<!-- seconder:reply cause={cause} -->"


def render(view: Reply, cause: str | None = None) -> str:
    """The whole comment; with `cause`, its first line is `marker(cause)`."""
    text = page(view.TEMPLATE, view, limit=64_000)
    return text if cause is None else f"{marker(cause)}\n{text}"
