"""Title and body of the pull request: what a reviewer needs, in the order in which they need it."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.messages import status
from handlers.messages.neutral import one_line
from handlers.messages.page import page
from handlers.messages.parts import Spending, TestsView

TITLE_LIMIT = 72


@dataclass(frozen=True)
class RequirementLine:
    """A requirement; `met` is what the developer claims."""

    id: str
    text: str
    priority: str
    met: bool


@dataclass(frozen=True)
class FileLine:
    """A changed file and its line counts; None for a binary file."""

    path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True)
class PullView:
    """Everything that the body shows. `why` is the issue's need in the product manager's words, `how` the approach.

    `outside` are changed files that the design does not name. `verdict` is the reviewer agent's summary.
    """

    number: int
    run: str
    requester: str
    what: str
    why: str
    spending: Spending
    seconds: float
    how: str = ""
    tests: TestsView | None = None
    requirements: tuple[RequirementLine, ...] = ()
    decisions: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    files: tuple[FileLine, ...] = ()
    outside: tuple[str, ...] = ()
    verdict: str = ""
    unfinished: str = ""
    page_url: str | None = None

    @property
    def closing(self) -> str:
        """Our own closing line, the only one that the body may hold."""
        return f"Fixes #{self.number}"


def marker(run: str) -> str:
    """The hidden first line by which a pull request is known as this run's. Raises `ValueError` for an odd run id."""
    return status.marker(run).replace("seconder:status", "seconder:pull")


def title(number: int, text: str) -> str:
    """The pull request's title: one line of at most 72 characters."""
    return one_line(text, TITLE_LIMIT).rstrip(".") or f"Work on issue {number}"


def render(view: PullView) -> str:
    """The whole body; its first line is `marker(view.run)`, and one line is `Fixes #N`."""
    return marker(view.run) + "\n" + page("pull.md.j2", view, keep=(view.closing,), limit=64_000)
