"""The reviewer agent's findings: one COMMENT review with a body, and one comment a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handlers.messages.clamp import clamp
from handlers.messages.hidden import strip_hidden
from handlers.messages.neutral import inline, neutralise, seal
from handlers.messages.page import page
from handlers.messages.raw import defuse, defuse_code_line


@dataclass(frozen=True)
class Finding:
    """One finding. `placed` says that it stands as a comment on its line, so that the body only counts it."""

    file: str
    line: int | None
    severity: str
    category: str
    message: str
    suggestion: str = ""
    placed: bool = False


@dataclass(frozen=True)
class FindingsView:
    """The reviewer agent's word on one head."""

    head: str
    approved: bool
    summary: str
    findings: tuple[Finding, ...] = ()
    scripted: bool = False

    @property
    def placed(self) -> int:
        """How many findings stand on their lines."""
        return sum(finding.placed for finding in self.findings)

    @property
    def loose(self) -> tuple[Finding, ...]:
        """Findings whose line is no part of the diff."""
        return tuple(finding for finding in self.findings if not finding.placed)


def render(view: FindingsView) -> str:
    """The review's body."""
    return page("findings.md.j2", view)


def render_line(finding: Finding) -> str:
    """The comment on one line, with a suggestion that a person can take over if it is exactly as safe as it looks."""
    head = f"**{inline(finding.severity, 20)}** ({inline(finding.category, 40)})"
    text = clamp(seal(f"{head}: {neutralise(finding.message).strip()}"), 20_000)
    return f"{text}\n\n{_suggestion(finding.suggestion)}".strip()


def _suggestion(code: str) -> str:
    """GitHub puts a suggestion into the file byte for byte: anything that would have to be changed is left out."""
    if not code.strip():
        return ""
    lines = code.strip("\n").split("\n")
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    same = strip_hidden(code) == code and defuse(code) == code and all(defuse_code_line(one) == one for one in lines)
    if not same or longest > 10 or len(code) > 20_000:
        return "(A suggested change was left out: it held characters or words that may not be posted.)"
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}suggestion", *lines, fence])
