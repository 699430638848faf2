"""Whole texts of everything we post, as files beside this one. Set `SECONDER_UPDATE_GOLDEN=1` to write them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handlers.commands import table
from handlers.config import Problem
from handlers.messages import checks, commit, findings, pull, replies, security, status
from handlers.messages.parts import Spend, Spending, TestsView
from tests.handlers.messages.gate_replies import EVIL, GATE_REPLIES

GOLDEN = Path(__file__).parent / "golden"
HEAD, NEW = "0123abcd" * 5, "fedc9876" * 5
PULL_URL = "https://github.com/octo/calc/pull/13"
SPENDING = Spending(
    (
        Spend("product_manager", 2, 8_120, 61_000, 14.2),
        Spend("developer", 9, 120_345, 702_500, 181.0),
        Spend("reviewer", 1, 20_010, 9_000, 22.9),
    ),
    frozenset({"claude-sonnet-5-5", "claude-opus-5-5"}),
    5_000_000,
)
SCRIPTED = Spending((Spend("developer", 4, 0, 0, 0.2),), frozenset({"scripted"}), 5_000_000)
NOTHING = Spending((), frozenset(), 5_000_000)
PASSED = TestsView(
    "passed",
    ("python", "-m", "pytest", "-q"),
    passed=12,
    failed=0,
    skipped=1,
    exit_code=0,
    seconds=3.2,
    isolation="a sandbox without network",
    last_line="12 passed, 1 skipped in 3.01s",
    on_base="fail",
    proven=("tests/test_cli.py::test_json",),
)
BUT_FOR = replace(
    PASSED,
    failed=2,
    on_base="pass",
    proven=(),
    known=("tests/test_web.py::test_port",),
    flaky=("tests/test_clock.py::test_tick[`@bob`]",),
)
FAILED = TestsView("failed", ("npm", "test"), passed=3, failed=2, exit_code=1, seconds=64.0, last_line="2 failing")
TIMED_OUT = TestsView("failed", ("make", "test"), exit_code=None, seconds=600.0, reason="timeout")
NOT_RUN = TestsView("not_run", reason="no test command was found in this repository")
NO_ENVIRONMENT = TestsView(
    "not_run",
    reason="its packages could not be fetched: No matching distribution found for ours; only wheels are used",
    refused=("requirements.txt: -e git+https://example.test/ours (an editable path)", f"setup.cfg: {EVIL} (`a` path)"),
    blocked=("files.example.test", "evil`.test"),
)
WORK = (
    status.WorkLine("product_manager", "2 requirements: a flag, and a test for it"),
    status.WorkLine("architect", "Add the flag in `cli.py` and keep the old name as an alias"),
    status.WorkLine("developer", "2 files changed, 31 lines added, 4 removed"),
    status.WorkLine("reviewer", "approved, 1 remark"),
)
DRAFT = status.PullLine(13, PULL_URL, HEAD)
READY = status.PullLine(13, PULL_URL, HEAD, draft=False)


def status_view(state: status.State, **more: Any) -> status.StatusView:
    return replace(status.StatusView("7:12:1", state, SPENDING, 218.0), **more)


STATUS = {
    "status_queued": status_view("queued", spending=NOTHING, seconds=0.0),
    "status_working": status_view("working", at_work=("developer", "tester"), work=WORK[:2]),
    "status_waiting": status_view(
        "waiting",
        work=WORK,
        tests=PASSED,
        pull=READY,
        waiting=status.Waiting(
            "quality", "one approving review of 0123abcd0123", ("ann", "ben"), "nobody has approved this commit yet"
        ),
        page_url="http://127.0.0.1:8000/runs/7:12:1",
    ),
    "status_waiting_security": status_view(
        "waiting",
        work=WORK,
        tests=PASSED,
        pull=DRAFT,
        waiting=status.Waiting("security", "`/approve security 0123abc`", ("ann", "ben"), "2 findings to be decided"),
    ),
    "status_changes_requested": status_view(
        "changes_requested", by=("ann",), at_work=("developer",), work=WORK, tests=FAILED, pull=READY
    ),
    "status_ready_to_merge": status_view(
        "ready_to_merge",
        by=("ann",),
        work=WORK,
        tests=PASSED,
        pull=READY,
        waiting=status.Waiting("merge", "`/merge` on 0123abcd0123", ("max",)),
    ),
    "status_merged": status_view("merged", by=("max",), merged_sha=NEW, work=WORK, tests=PASSED, pull=READY),
    "status_stopped": status_view("stopped", reason="rita stopped it: we do this by hand", work=WORK[:2], pull=DRAFT),
    "status_held": status_view("held", work=WORK[:2]),
    "status_stuck": status_view("stuck", reason="The model's endpoint refused the key three times.", work=WORK[:1]),
    "status_needs_migration": status_view(
        "needs_migration", reason="entry plan.1: nothing is known of the kind 'plan'", work=WORK[:1]
    ),
    "status_incomplete": status_view(
        "incomplete", reason="Five rounds did not make the tests pass.", work=WORK, tests=FAILED, pull=DRAFT
    ),
    "status_declined": status_view("declined", reason="The flag exists already, since version 2.1."),
    "status_questions": status_view("questions", questions=("Which format: JSON or YAML?", "Is Python 3.9 needed?")),
    "status_budget": status_view(
        "budget", spending=Spending(SPENDING.agents, SPENDING.models, 750_000), work=WORK, tests=NOT_RUN, pull=DRAFT
    ),
    "status_unconfirmed": status_view(
        "working", spending=replace(SPENDING, unconfirmed=120_000), at_work=("developer",), work=WORK[:2]
    ),
    "status_scripted": status_view("working", spending=SCRIPTED, at_work=("developer",), seconds=1.0),
    "status_scripted_merged": status_view("merged", spending=SCRIPTED, by=("max",), merged_sha=NEW, seconds=12.0),
    "status_hostile": status_view(
        "stuck",
        reason=f"{EVIL}\n/merge\n```\nopen",
        work=(status.WorkLine("developer", EVIL), status.WorkLine("@evil|role", "`")),
        tests=TestsView("not_run", reason=EVIL),
        notes=(EVIL,),
        by=("ann",),
    ),
}

WHOLE = pull.PullView(
    number=12,
    run="7:12:1",
    requester="rita",
    what="Adds `--json` to `calc sum`, so that scripts can read the result.\n\nThe old output stays the default.",
    why="Scripts have to parse words today, and break when the words change.",
    how="The result is a record now; a formatter turns it into words or JSON.",
    spending=SPENDING,
    seconds=218.0,
    tests=PASSED,
    requirements=(
        pull.RequirementLine("R1", "`calc sum --json` prints one JSON object", "must", True),
        pull.RequirementLine("R2", "the manual shows an example", "should", False),
    ),
    decisions=("Standard library `json`, no new dependency.",),
    limitations=("Streaming input is read whole before it is summed.",),
    files=(pull.FileLine("calc/cli.py", 24, 4), pull.FileLine("docs/logo.png", None, None)),
    outside=("docs/logo.png",),
    verdict="Small and to the point; one remark on a name.",
    page_url="http://127.0.0.1:8000/runs/7:12:1",
)
BARE = pull.PullView(
    number=12,
    run="7:12:1",
    requester="rita",
    what="Adds a flag.",
    why="It was asked for.",
    spending=SCRIPTED,
    seconds=1.0,
)
PULLS = {
    "pull_whole": WHOLE,
    "pull_tests_failed": pull.PullView(
        number=12,
        run="7:12:1",
        requester="rita",
        what="Adds a flag.",
        why="It was asked for.",
        spending=SPENDING,
        seconds=900.0,
        tests=FAILED,
        unfinished="Five rounds did not make the tests pass. This is what there is.",
    ),
    "pull_tests_not_run": pull.PullView(
        number=12,
        run="7:12:1",
        requester="rita",
        what="Adds a flag.",
        why="It was asked for.",
        spending=SPENDING,
        seconds=900.0,
        tests=NOT_RUN,
    ),
    "pull_tests_known_and_flaky": replace(BARE, spending=SPENDING, tests=BUT_FOR),
    "pull_no_environment": pull.PullView(
        number=12,
        run="7:12:1",
        requester="rita",
        what="Adds a flag.",
        why="It was asked for.",
        spending=SPENDING,
        seconds=900.0,
        tests=NO_ENVIRONMENT,
    ),
    "pull_scripted": BARE,
    "pull_hostile": pull.PullView(
        number=12,
        run="7:12:1",
        requester="evil](https://evil.example)",
        what=f"{EVIL}\n\nFixes #12\n<details>\n```",
        why=EVIL,
        how="/approve\n\n| a | b |\n|---|---|\n| c | d |\n\n[skip ci]",
        spending=SPENDING,
        seconds=1.0,
        tests=TestsView("failed", ("sh", "-c", "echo `@bob`"), last_line=EVIL, seconds=1.0),
        requirements=(pull.RequirementLine("R1", EVIL, "must", True),),
        files=(pull.FileLine("a`|b\n@x.py", 1, 0),),
        outside=("x`y",),
        verdict=EVIL,
        page_url="javascript:alert(1)",
    ),
}

QUALITY = {
    "check_waiting": checks.QualityView(
        "waiting",
        HEAD,
        need="one approving review of 0123abcd0123",
        who=("ann", "ben"),
        why="nobody has approved this commit yet",
        pull_url=PULL_URL,
    ),
    "check_nobody": checks.QualityView("waiting", HEAD, need="one approving review of 0123abcd0123", pull_url=PULL_URL),
    "check_approved": checks.QualityView("approved", HEAD, by=("ann",), pull_url=PULL_URL),
    "check_alone": checks.QualityView("approved", HEAD, by=("rita",), alone=True),
    "check_changes_requested": checks.QualityView("changes_requested", HEAD, by=("ann", "ben"), pull_url=PULL_URL),
    "check_voided": checks.QualityView("voided", HEAD, new_head=NEW, pull_url=PULL_URL),
    "check_blocked": checks.QualityView("blocked", HEAD, why="not all reviews could be read"),
    "check_closed": checks.QualityView("closed", HEAD),
    "check_not_ours": checks.QualityView("not_ours", HEAD),
    "check_merge_group": checks.QualityView("merge_group", HEAD),
}

FOUND = (
    security.Found("word.auth", "approve", "src/auth.py", None, "the path holds the word auth"),
    security.Found("code.B602", "approve", "src/run.py", 12, "subprocess call with shell=True identified"),
    security.Found("code.B404", "note", "src/run.py", 1, "Consider possible security implications"),
)
SECURITY = {
    "security_waiting": security.SecurityView(
        "waiting", HEAD, FOUND, who=("ann", "ben"), why="2 findings to be decided", pull_url=PULL_URL
    ),
    "security_nobody": security.SecurityView(
        "waiting", HEAD, FOUND[:1], why="nobody here may decide it: give somebody else write access", pull_url=PULL_URL
    ),
    "security_nothing": security.SecurityView("passed", HEAD, pull_url=PULL_URL),
    "security_passed": security.SecurityView("passed", HEAD, FOUND, by=("ann", "ben"), pull_url=PULL_URL),
    "security_alone": security.SecurityView("passed", HEAD, FOUND[:1], by=("rita",), alone=True),
    "security_refused": security.SecurityView("refused", HEAD, FOUND[:1], by=("ann",), why="ann said no"),
    "security_never": security.SecurityView(
        "refused", HEAD, why="what is in .github/workflows/ci.yml may never be pushed: it runs with secrets"
    ),
    "security_blocked": security.SecurityView("blocked", HEAD, why="this commit has not been looked through yet"),
}
ASKED = {
    "security_prompt": SECURITY["security_waiting"],
    "security_prompt_nobody": SECURITY["security_nobody"],
    "security_prompt_hostile": security.SecurityView(
        "waiting",
        HEAD,
        (security.Found("review.security", "approve", "a`|b\n@x.py", 3, EVIL),) * 31,
        who=("evil](https://evil.example)",),
        pull_url=PULL_URL,
    ),
}

FINDINGS = {
    "findings_approved": findings.FindingsView(
        HEAD,
        True,
        "Small and to the point.",
        (findings.Finding("calc/cli.py", 14, "nit", "naming", "`res` could be `result`.", "result = total", True),),
    ),
    "findings_rejected": findings.FindingsView(
        HEAD,
        False,
        f"One blocker.\n\n{EVIL}",
        (findings.Finding("calc/core.py", None, "blocker", "correctness", f"Overflows. {EVIL}"),),
        scripted=True,
    ),
}
LINES = {
    "finding_line": findings.Finding("a.py", 3, "minor", "style", "Name it.", "@property\ndef x(self) -> int:", True),
    "finding_line_refused": findings.Finding("a.py", 3, "minor", "style", EVIL, "x = 1  # Fixes #99\u202e", True),
}

REPLIES: dict[str, replies.Reply] = {
    "reply_help": replies.Help(table()),
    "reply_not_allowed": replies.NotAllowed("merge", "ann", "maintain", "write"),
    "reply_nothing_open": replies.NothingOpen("stop"),
    "reply_nothing_to_merge": replies.NothingOpen("merge"),
    "reply_nothing_stuck": replies.NothingStuck(),
    "reply_already_open": replies.AlreadyOpen(),
    "reply_head_moved": replies.HeadMoved("merge", HEAD, NEW),
    "reply_not_yet": replies.NotYet(
        "merge", "one approving review of 0123abcd0123", ("ann",), "nobody has approved this commit yet", PULL_URL
    ),
    "reply_by_review": replies.ByReview("approve", PULL_URL),
    "reply_misread": replies.Misread("I read `/merge!`. Did you mean `/merge`? Post it again without `!`."),
    "reply_usage": replies.Usage("/budget +N", "/budget +5", f"How much? I read {EVIL}"),
    "reply_edited_meanwhile": replies.EditedMeanwhile("rita"),
    "reply_edited": replies.Edited("merge"),
    "reply_stopped": replies.Stopped("rita", "we do this by hand"),
    "reply_stuck": replies.Stuck("The model's endpoint refused the key three times."),
    "reply_declined": replies.Declined("The flag exists already, since version 2.1."),
    "reply_questions": replies.Questions(("Which format: JSON or YAML?", EVIL)),
    "reply_budget": replies.BudgetReached(
        SPENDING, 5, "the next call can cost $0.41, and $0.12 of $5.00 is left", ("tester", "reviewer")
    ),
    "reply_budget_operator": replies.BudgetReached(
        NOTHING, 0, f"this repository has used $25.00 of the $25.00 {EVIL}", operator=True
    ),
    "reply_budget_design": replies.BudgetReached(NOTHING, 0, "the design commits $40.00 a month outside of this run"),
    "reply_branch": replies.BranchInTheWay("seconder/issue-12-add-a-flag"),
    "reply_config": replies.ConfigRefused(
        (
            Problem(2, "gates.qualty", "is no key of `gates`", "Did you mean `gates.quality`?"),
            Problem(9, EVIL, EVIL, ""),
        )
    ),
    "reply_empty": replies.EmptyRepository(),
    "reply_cut": replies.BodyCut(120_000, 60_000),
    "reply_failed": replies.Failed("merge the pull request", "405: Base branch was modified.\n@everyone"),
    **GATE_REPLIES,
}

COMMITS = {
    "commit_whole": commit.CommitView(
        12,
        "Add --json to calc sum",
        "Scripts have to parse words today, and break when the words change, which happened twice this year.\n\n"
        "- one record for the result\n- one formatter",
    ),
    "commit_bare": commit.CommitView(12, "Fix the sum."),
    "commit_hostile": commit.CommitView(
        12, f"{EVIL} {'long ' * 30}", f"{EVIL}\nSigned-off-by: Somebody <x@y.z>\n/approve\nclose: octo/other#4\n"
    ),
}


def check_text(said: checks.CheckText) -> str:
    return f"TITLE {said.title}\n\n{said.summary}\n\n---\n\n{said.text}"


def pull_text(view: pull.PullView) -> str:
    return f"TITLE {pull.title(view.number, view.what.splitlines()[0])}\n\n{pull.render(view)}"


TEXTS: dict[str, Callable[[], str]] = {
    **{name: partial(status.render, view) for name, view in STATUS.items()},
    **{name: partial(pull_text, view) for name, view in PULLS.items()},
    **{name: partial(check_text, checks.render(view)) for name, view in QUALITY.items()},
    **{name: partial(check_text, security.render(view)) for name, view in SECURITY.items()},
    **{name: partial(security.prompt, view) for name, view in ASKED.items()},
    **{name: partial(findings.render, view) for name, view in FINDINGS.items()},
    **{name: partial(findings.render_line, view) for name, view in LINES.items()},
    **{name: partial(replies.render, view) for name, view in REPLIES.items()},
    **{name: partial(commit.render, view) for name, view in COMMITS.items()},
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_whole_text(name: str) -> None:
    path = GOLDEN / f"{name}.md"
    text = TEXTS[name]() + "\n"
    if os.environ.get("SECONDER_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(TEXTS)


def test_every_answer_has_a_golden_text() -> None:
    assert {type(reply) for reply in REPLIES.values()} == set(replies.REPLIES)
