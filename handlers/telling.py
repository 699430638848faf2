"""A run's state as the view models of our messages: pure, so that comment, pull request and pages tell the same."""

from __future__ import annotations

from collections.abc import Mapping

from agents.board import HumanNote, PullRequest, Questions, Summary, TestResults
from handlers.events import Event
from handlers.lines import line_of
from handlers.messages.parts import Spend, Spending, TestsView
from handlers.messages.replies import BudgetReached
from handlers.messages.status import PullLine, State, StatusView, Waiting, WorkLine
from handlers.migration import SYSTEM_STEPS, waits_for
from handlers.ports import RunFacts
from handlers.state import RunState, Said
from handlers.votes import open_cost
from handlers.workflow import Workflow

WARNED_AT = (80, 90)
"""Per cent of a run's limit."""

ENDED: Mapping[str, State] = {
    "run_completed": "merged",
    "run_cancelled": "stopped",
    "cancelling": "stopped",
    "run_failed": "incomplete",
    "run_declined": "declined",
}


def spending_of(run: RunFacts, state: RunState) -> Spending:
    """What each agent used so far, in the order in which they began."""
    agents = tuple(
        Spend(name, bill.calls, bill.tokens_in + bill.tokens_out, bill.cost, bill.seconds)
        for name, bill in state.bills.items()
        if bill.calls
    )
    return Spending(agents, state.models, run.budget, run.unconfirmed)


def warnings(run: RunFacts, state: RunState) -> tuple[Event, ...]:
    """`budget_warned` for each share of the limit that is used for the first time; a raised limit counts anew."""
    used = (run.spent + run.unconfirmed) * 100 // run.budget if run.budget else 0
    return tuple(
        Event(
            id=f"{run.id}:warned:{share}:{run.budget}",
            name="budget_warned",
            run=run.id,
            data={"share": share, "mark": f"{share}/{run.budget}", "spent": run.spent, "budget": run.budget},
        )
        for share in WARNED_AT
        if used >= share and not state.newest("budget_warned", "mark", f"{share}/{run.budget}")
    )


def cost_prompt(run: RunFacts, state: RunState) -> BudgetReached:
    """What the cost gate asks: why, what each agent spent, who is still to come."""
    gate = open_cost(state)
    roles = [node.role for node in Workflow.model_validate(run.workflow).nodes.values() if node.role is not None]
    done = {step.node for step in state.steps.values() if step.state == "done"}
    left = tuple(role for role in dict.fromkeys(roles) if role not in done)
    spending = spending_of(run, state)
    if gate is None:
        return BudgetReached(spending, left=left)
    return BudgetReached(spending, gate.suggested // 1_000_000, gate.why, left, gate.operator)


def tests_of(state: RunState) -> TestsView | None:
    """The newest test run, or None before the first."""
    results = state.board.value("test_results", TestResults)
    if results is None:
        return None
    lines = [line for line in results.output.splitlines() if line.strip()]
    return TestsView(
        outcome=results.outcome,
        command=results.command,
        passed=results.passed,
        failed=results.failed,
        skipped=results.skipped,
        exit_code=results.exit_code,
        seconds=results.seconds,
        reason=results.reason,
        isolation=results.isolation,
        last_line=lines[-1] if lines else "",
        flaky=results.flaky,
        known=results.known,
        on_base=results.on_base,
        proven=results.proven,
        refused=results.refused,
        blocked=results.blocked,
    )


def status_of(run: RunFacts, state: RunState, now_ms: int, page_url: str | None) -> StatusView:
    """The status comment's view."""
    if state.strange:
        return _dimly(run, state, now_ms, page_url)
    what, reason = _situation(run, state)
    pull = state.board.value("pull_request", PullRequest)
    summary = state.board.value("summary", Summary)
    questions = state.board.value("questions", Questions)
    ended = what in ("merged", "stopped", "incomplete", "declined")
    until = state.said[-1].at if ended and state.said else now_ms
    return StatusView(
        run=run.id,
        state=what,
        spending=spending_of(run, state),
        seconds=max(0.0, (until - run.started_at) / 1000),
        at_work=() if ended else _at_work(state),
        work=_work(state),
        tests=tests_of(state),
        pull=None if pull is None else PullLine(pull.number, pull.url, pull.head_sha, pull.draft),
        waiting=_waiting(state) if what in ("waiting", "ready_to_merge") else None,
        by=_by(state, what),
        reason=reason,
        questions=questions.questions if what == "questions" and questions is not None else (),
        merged_sha=summary.merged_sha if summary is not None else None,
        page_url=page_url,
        notes=_notes(state),
    )


def _dimly(run: RunFacts, state: RunState, now_ms: int, page_url: str | None) -> StatusView:
    """The view of a run of which this version does not know everything: nothing of its board is read."""
    return StatusView(
        run=run.id,
        state=ENDED.get(run.status, "needs_migration"),
        spending=spending_of(run, state),
        seconds=max(0.0, (now_ms - run.started_at) / 1000),
        reason=state.cancelled or next(f"{where}: {what}" for where, what in state.strange.items()),
        page_url=page_url,
    )


def _situation(run: RunFacts, state: RunState) -> tuple[State, str]:
    """Where the run stands, and the reason where one has to be said."""
    summary = state.board.value("summary", Summary)
    if run.status in ENDED:
        reason = state.cancelled or (summary.text if summary is not None else "")
        return ENDED[run.status], reason
    unknown = waits_for(state)
    if unknown is not None:
        return "needs_migration", unknown
    if state.held:
        return "held", ""
    open_nodes = {step.node: step.task for step in state.open_steps() if step.node not in SYSTEM_STEPS}
    stuck = state.last("run_stuck", "run_resumed", "steered")
    if stuck is not None and stuck.name == "run_stuck":
        return "stuck", str(stuck.data.get("why", ""))
    gate, parked = open_cost(state), state.last("run_parked", "run_resumed")
    if gate is not None:
        return "budget", gate.why
    if parked is not None and parked.name == "run_parked" and not state.worked_since(parked.position):
        return "budget", ""
    if "ask" in open_nodes:
        return "questions", ""
    if _at_work(state):
        note = state.board.live("human_note")
        asked = note is not None and str(note.value.get("via")) == "review"
        pull = state.board.live("pull_request")
        return ("changes_requested" if asked and pull is not None and note is not None else "working"), _note_text(
            state
        )
    if "merge" in open_nodes:
        return "ready_to_merge", ""
    return ("waiting" if open_nodes.keys() & {"security", "quality"} else "working"), ""


def _note_text(state: RunState) -> str:
    note = state.board.value("human_note", HumanNote)
    return note.text if note is not None and note.via == "review" else ""


def _at_work(state: RunState) -> tuple[str, ...]:
    waiting = SYSTEM_STEPS | {"security", "quality", "merge", "ask"}
    return tuple(step.node for step in state.open_steps() if step.node not in waiting)


def _work(state: RunState) -> tuple[WorkLine, ...]:
    """The newest line of each agent, in the order in which they first wrote."""
    return tuple(WorkLine(agent, line_of(entry)) for agent, entry in state.wrote.items())


def _waiting(state: RunState) -> Waiting | None:
    opened: Said | None = state.last("gate_opened")
    if opened is None or opened.data.get("gate") not in {step.node for step in state.open_steps()}:
        return None
    who = opened.data.get("who")
    return Waiting(
        gate=str(opened.data.get("gate", "")),
        need=str(opened.data.get("need", "")),
        who=tuple(str(login) for login in who) if isinstance(who, list | tuple) else (),
        why=str(opened.data.get("why", "")),
    )


def _by(state: RunState, what: State) -> tuple[str, ...]:
    if what == "merged":
        return _resolvers(state, "merge")
    if what == "ready_to_merge":
        return _resolvers(state, "quality")
    if what == "changes_requested":
        note = state.board.live("human_note")
        return () if note is None else (note.author.name,)
    return ()


def _resolvers(state: RunState, gate: str) -> tuple[str, ...]:
    """Who opened a gate, the last time that it was opened."""
    for said in reversed(state.heard("gate_resolved")):
        if said.data.get("gate") == gate and said.data.get("word") != "no":
            return tuple(str(name) for name in _list(said.data.get("by")))
    return ()


def _list(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _notes(state: RunState) -> tuple[str, ...]:
    notes = []
    warned = state.last("budget_warned", "run_resumed")
    if warned is not None and warned.name == "budget_warned":
        notes.append(f"More than {warned.data.get('share')} % of this run's money is spent.")
    issue, summary = state.board.live("issue"), state.board.value("summary", Summary)
    if issue is not None and issue.value.get("cut"):
        notes.append("The issue's text was longer than fits; the team read its first part only.")
    if summary is not None and summary.outcome == "merged" and not _resolvers(state, "merge"):
        notes.append(f"The pull request was {summary.text}.")
    return tuple(notes)


def waits_in_words(run: RunFacts, state: RunState) -> str:
    """What a run that is open waits for, and why; empty where somebody works, and for one that has ended."""
    if run.status in ENDED:
        return ""
    if state.strange:
        return "needs-migration: " + next(f"{where}: {what}" for where, what in state.strange.items())
    if state.erased:
        return ""
    what, reason = _situation(run, state)
    return "" if what == "working" else f"{what.replace('_', '-')}{': ' + reason if reason else ''}"
