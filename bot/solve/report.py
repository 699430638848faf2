"""What a solve came to: for people on the terminal, and for scripts as one JSON object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from agents.board import Review, Summary, TestResults
from bot.local.people import PullPage
from bot.local.screen import dollars
from handlers.messages.hidden import strip_hidden
from handlers.state import Bill, RunState

Outcome = Literal["approved", "declined", "incomplete", "cancelled", "waiting"]
TAIL_LINES = 12
_ONLY_THERE = re.compile(r"<!--.*-->$|</?(details|summary)\b.*>$|Fixes #\d+$")


@dataclass(frozen=True)
class Spent:
    """What model calls used: calls, tokens, micro-dollars at list price, seconds of answers."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    micro_dollars: int = 0
    model_seconds: float = 0.0

    @property
    def cached_share(self) -> float:
        """Which part of what was sent was read from the cache."""
        return round(self.tokens_cached / self.tokens_in, 3) if self.tokens_in else 0.0


@dataclass(frozen=True)
class Report:
    """A solve's outcome. `branch` is the new branch in the person's repository (None: there is none)."""

    outcome: Outcome
    why: str
    name: str
    repository: str
    base: str
    branch: str | None = None
    head: str | None = None
    pull: PullPage | None = None
    review: Review | None = None
    tests: TestResults | None = None
    decided_by: str = ""
    seconds: float = 0.0
    roles: Mapping[str, Spent] = field(default_factory=dict)

    @property
    def spent(self) -> Spent:
        """All roles together."""
        all_of = list(self.roles.values())
        return Spent(
            sum(one.calls for one in all_of),
            sum(one.tokens_in for one in all_of),
            sum(one.tokens_out for one in all_of),
            sum(one.tokens_cached for one in all_of),
            sum(one.micro_dollars for one in all_of),
            round(sum(one.model_seconds for one in all_of), 3),
        )


def spent_of(bills: Mapping[str, Bill]) -> dict[str, Spent]:
    """Each role's share."""
    return {
        role: Spent(bill.calls, bill.tokens_in, bill.tokens_out, bill.cached, bill.cost, round(bill.seconds, 3))
        for role, bill in bills.items()
    }


def outcome_of(state: RunState) -> tuple[Outcome, str]:
    """How the run stands, and why in its own words."""
    passed = state.last("gate_resolved", "gate_voided", "steered")
    if passed is not None and passed.name == "gate_resolved" and passed.data.get("gate") == "quality":
        return "approved", ""
    summary = state.board.value("summary", Summary)
    if summary is not None:
        known: Mapping[str, Outcome] = {"declined": "declined", "cancelled": "cancelled", "merged": "approved"}
        return known.get(summary.outcome, "incomplete"), summary.text
    if state.last("run_cancelled") is not None:
        return "cancelled", "stopped"
    return "waiting", ""


def as_json(report: Report) -> dict[str, object]:
    """For scripts. Money is in dollars; what is not there is null."""
    pull, review, tests = report.pull, report.review, report.tests
    return {
        "outcome": report.outcome,
        "why": report.why,
        "name": report.name,
        "repository": report.repository,
        "base": report.base,
        "branch": report.branch,
        "head": report.head,
        "decided_by": report.decided_by,
        "pull_request": None if pull is None else {"title": pull.title, "body": pull.body, "diff": pull.diff},
        "review": None if review is None else review.model_dump(mode="json", exclude={"tree"}),
        "tests": None
        if tests is None
        else tests.model_dump(
            mode="json", include={"outcome", "command", "passed", "failed", "skipped", "seconds", "reason", "output"}
        ),
        "seconds": report.seconds,
        "spent": _priced(report.spent),
        "roles": {role: _priced(one) for role, one in report.roles.items()},
    }


def _priced(spent: Spent) -> dict[str, object]:
    row: dict[str, object] = asdict(spent)
    del row["micro_dollars"]
    return {**row, "cached_share": spent.cached_share, "usd": round(spent.micro_dollars / 1_000_000, 6)}


def as_text(report: Report) -> list[str]:
    """For people: pull request, review, tests, cost, and where the branch is."""
    lines = [*_pull(report), *_review(report), *_tests(report)]
    spent = report.spent
    lines += [
        f"{spent.calls} model calls, {spent.tokens_in + spent.tokens_out:,} tokens "
        f"({spent.cached_share:.0%} of what was sent came from the cache), {dollars(spent.micro_dollars)}, "
        f"{spent.model_seconds:.1f} s of answers, {report.seconds:.1f} s in all",
        "",
        *_last(report),
    ]
    return [strip_hidden(line) for line in lines]


def _pull(report: Report) -> list[str]:
    if report.pull is None:
        return []
    return [f"Pull request: {report.pull.title}", "", *shown(report.pull.body), ""]


def shown(body: str) -> list[str]:
    """A pull request's text for a terminal: without what only means something on GitHub (markers, tags, the issue's
    number, the line on commands)."""
    lines = body.partition("\n---\n")[0].strip().splitlines()
    return [line for line in lines if not _ONLY_THERE.match(line)]


def _review(report: Report) -> list[str]:
    if report.review is None:
        return []
    verdict = "approves" if report.review.approved else "asks for changes"
    lines = [f"The reviewer agent {verdict}: {report.review.summary}"]
    for one in report.review.comments:
        lines.append(f"  {one.file}:{one.line or '?'} ({one.severity}, {one.category}) {one.message}")
    return [*lines, ""]


def _tests(report: Report) -> list[str]:
    tests = report.tests
    if tests is None:
        return []
    if tests.outcome == "not_run":
        return [f"Tests were not run: {tests.reason}", ""]
    lines = [f"Tests {tests.outcome}: {' '.join(tests.command)}"]
    if tests.outcome == "failed":
        lines += [f"  {line}" for line in tests.output.splitlines()[-TAIL_LINES:]]
    return [*lines, ""]


def _last(report: Report) -> list[str]:
    if report.branch is not None:
        short = (report.head or "")[:12]
        state = "" if report.outcome == "approved" else f" It is not finished: {report.why or report.outcome}"
        return [
            f"The branch {report.branch} ({short}) is in {report.repository}.{state}",
            f"Look at it with: git diff {report.base[:12]}...{report.branch}",
        ]
    return [f"No branch was made: {report.why or report.outcome}"]
