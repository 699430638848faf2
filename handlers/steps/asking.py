"""Steps that say something to people and wait or end: questions, declining, giving up, closing after a stop."""

from __future__ import annotations

import structlog

from agents.board import PullRequest, Questions, Report, Summary, value_of
from handlers.messages import pull as pull_message
from handlers.messages import replies
from handlers.ports import Commit
from handlers.steps.pull_text import pull_view
from handlers.work import Work

log = structlog.get_logger("seconder.steps")


async def ask(work: Work) -> Commit:
    """Post the questions; done when somebody with write has answered, which wakes the product manager."""
    entry = work.need("questions")
    questions = value_of(entry, Questions)
    answers = (note for note in reversed(work.state.entries("human_note")) if note.value.get("via") == "answer")
    note = next(answers, None)
    if note is not None and note.at >= entry.at:
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
