"""Steps that say something to people and wait or end: questions, declining, giving up, closing after a stop."""

from __future__ import annotations

from dataclasses import replace

import structlog

from agents.board import PullRequest, Questions, Report, Summary, value_of
from gates.verdict import Blocked
from handlers.messages import pull as pull_message
from handlers.messages import replies
from handlers.ports import Commit, GitHubError, Later, Unknown
from handlers.steps.pull_text import pull_view
from handlers.steps.quality import CHECK, check_state
from handlers.work import Work

log = structlog.get_logger("seconder.steps")


async def ask(work: Work) -> Commit:
    """Post the questions; done when somebody with write has answered, which wakes the product manager."""
    entry = work.need("questions")
    questions = value_of(entry, Questions)
    answered = any(
        note.kind == "human_note" and note.value.get("via") == "answer" and note.at >= entry.at
        for note in work.state.board.all()
    )
    if answered:
        note = next(n for n in reversed(work.state.board.all()) if n.value.get("via") == "answer")
        return work.done(extra=(work.event("steered", {"via": "answer", "entry": note.id}),))
    text = replies.render(replies.Questions(questions.questions))
    await work.publisher.comment(work.run.issue, f"questions-{work.lease.visit}", text)
    return work.parked()


async def decline(work: Work) -> Commit:
    """Say in one comment why there is nothing to do, and end the run."""
    report = value_of(work.need("report"), Report)
    await work.publisher.comment(work.run.issue, "declined", replies.render(replies.Declined(report.text)))
    summary = Summary(outcome="declined", text=report.text)
    return work.done(work.entry("summary", summary), ending="run_declined")


async def give_up(work: Work) -> Commit:
    """The rounds are used up: what there is stands in the draft pull request, which says so, and the run ends."""
    said = work.state.last("visits_exhausted")
    node = str(said.data["node"]) if said is not None else "the team"
    results = work.input("test_results")
    review = work.input("review")
    if results is not None and results.value["outcome"] != "passed":
        why = "the tests do not pass"
    elif review is not None and not review.value["approved"]:
        why = f"the reviewer still asks for changes: {review.value['summary']}"
    else:
        why = "no result that could be used"
    pull = work.input("pull_request")
    if pull is not None:
        view, number = pull_view(work), value_of(pull, PullRequest).number
        title = pull_message.title(view.number, view.what)
        await work.context.github.pulls.edit(work.run.repo, number, title, pull_message.render(view))
    text = f"The {node.replace('_', ' ')} has used all its rounds, and {why}."
    return work.done(work.entry("summary", Summary(outcome="incomplete", text=text)), ending="run_failed")


async def close(work: Work) -> Commit:
    """After a stop: no check of ours stays open, then the run is cancelled."""
    reason = work.state.cancelled or "stopped"
    heads = [key.rpartition(":")[2] for key in work.state.receipts if key.startswith("check:quality:")]
    for head in heads:
        try:
            await _conclude(work, head, reason)
        except (Later, Unknown):
            raise
        except GitHubError as error:
            # The repository may be gone, or the App removed: the run is over all the same.
            log.warning("check_left_open", run=work.run.id, head=head, why=str(error))
    summary = Summary(outcome="cancelled", text=reason)
    return work.done(work.entry("summary", summary), ending="run_cancelled")


async def _conclude(work: Work, head: str, reason: str) -> None:
    """The check on `head` says that the run was stopped, unless it had passed."""
    checks, repo = work.context.github.checks, work.run.repo
    state = check_state(work.run.id, head, Blocked(f"the run was stopped: {reason}"), "", None)
    for check in await checks.find(repo, head, CHECK):
        if check.external_id == state.external_id and check.conclusion != "success":
            await checks.update(repo, check.id, replace(state, conclusion="cancelled", buttons=()))
