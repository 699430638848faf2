"""The quality gate's step: woken by everything that touches the pull request, it judges the live head each time."""

from __future__ import annotations

from agents.board import Author, HumanNote, InlineNote, Summary
from gates import evaluate
from gates import quality as gate
from gates.evidence import PullEvidence
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait
from handlers.messages import checks as check_message
from handlers.messages.checks import QualityView
from handlers.messages.hidden import strip_hidden
from handlers.ports import Button, CheckState, Commit, ReviewFacts
from handlers.publisher import Effect, Receipt
from handlers.steps.evidence import current_pull, pull_evidence
from handlers.work import Work

CHECK = "seconder/quality"
AGAIN = Button("Look again", "Read the reviews once more", "look-again")


async def run(work: Work) -> Commit:
    """Wait for people, pass with `gate_resolved`, or go back to the developer with what they asked for; end the run
    where somebody merged meanwhile."""
    pull = current_pull(work)
    evidence = await pull_evidence(work, pull.number)
    verdict = evaluate(gate.GATE, evidence)
    head = evidence.head if isinstance(evidence, PullEvidence) else pull.head_sha
    asked = await _newest_request(work, pull.number, verdict) if isinstance(verdict, Refuse) else None
    if isinstance(verdict, Refuse) and asked is not None and _answered(work, asked):
        # The developer has answered this very review: the person has to look again, or dismiss it.
        verdict = Wait("another look", verdict.by, "the changes that were asked for have been made")
    await _show(work, head, verdict, pull.url)
    if isinstance(evidence, PullEvidence) and evidence.merged:
        return await _merged_past(work, pull.number)
    match verdict:
        case Pass():
            by = [person.login for person in verdict.by]
            return work.done(extra=(work.event("gate_resolved", {"gate": "quality", "head": head, "by": by}),))
        case Refuse():
            return await _back_to_the_developer(work, pull.number, asked)
        case Wait() | Blocked():
            return _waiting(work, head, verdict)


async def _merged_past(work: Work, number: int) -> Commit:
    """Somebody merged by hand although this gate had not passed: the run is over, and says so."""
    live = await work.context.github.pulls.get(work.run.repo, number)
    text = "merged by hand while the quality gate was shut"
    summary = Summary(outcome="merged", text=text, merged_sha=live.merge_sha)
    return work.done(work.entry("summary", summary), ending="run_completed")


def _waiting(work: Work, head: str, verdict: Wait | Blocked) -> Commit:
    """Parked; what is waited for is said when it is new."""
    who = [person.login for person in verdict.eligible] if isinstance(verdict, Wait) else []
    need, why = (verdict.need, verdict.why) if isinstance(verdict, Wait) else ("", verdict.reason)
    data: dict[str, object] = {"gate": "quality", "head": head, "need": need, "who": who, "why": why}
    last = work.state.last("gate_opened")
    if last is not None and dict(last.data) == data:
        return work.parked()
    event = work.event("gate_opened", data)
    return work.parked(event.model_copy(update={"id": f"{event.id}:{work.state.position}"}))


async def _show(work: Work, head: str, verdict: Verdict, url: str) -> None:
    """The check run on the judged head says what the gate says."""
    checks, repo = work.context.github.checks, work.run.repo
    state = check_state(work.run.id, head, verdict, url, work.context.options.public_url)

    async def do() -> Receipt:
        return {"check": await checks.create(repo, state)}

    async def find() -> Receipt | None:
        known = [one for one in await checks.find(repo, head, CHECK) if one.external_id == state.external_id]
        return {"check": known[0].id} if known else None

    receipt = await work.publisher.once(Effect(f"check:quality:{head}", do, find))
    await checks.update(repo, int(str(receipt["check"])), state)


def check_state(run: str, head: str, verdict: Verdict, url: str, public_url: str | None) -> CheckState:
    """What the check run says for a verdict: anything but a pass needs action, and is never neutral."""
    text = check_message.render(_view(head, verdict, url))
    return CheckState(
        name=CHECK,
        head_sha=head,
        external_id=f"{run}:quality:{head}",
        conclusion="success" if isinstance(verdict, Pass) else "action_required",
        title=text.title,
        summary=text.summary,
        text=text.text,
        buttons=() if isinstance(verdict, Pass) else (AGAIN,),
        details_url=f"{public_url}/runs/{run}" if public_url else None,
    )


def _view(head: str, verdict: Verdict, url: str) -> QualityView:
    match verdict:
        case Pass():
            by = tuple(person.login for person in verdict.by)
            return QualityView(
                "approved", head, by=by, why=verdict.why, pull_url=url, alone="one person" in verdict.why
            )
        case Refuse():
            by = tuple(person.login for person in verdict.by)
            return QualityView("changes_requested", head, by=by, why=verdict.reason, pull_url=url)
        case Wait():
            who = tuple(person.login for person in verdict.eligible)
            return QualityView("waiting", head, need=verdict.need, who=who, why=verdict.why, pull_url=url)
        case Blocked():
            return QualityView("blocked", head, why=verdict.reason, pull_url=url)


async def _newest_request(work: Work, number: int, verdict: Refuse) -> ReviewFacts:
    """The newest review by which one of those who refuse requested changes."""
    ids = {person.id for person in verdict.by}
    asked = [
        review
        for review in await work.context.github.reviews.list(work.run.repo, number)
        if review.author is not None and review.author.id in ids and review.state.lower() == "changes_requested"
    ]
    return max(asked, key=lambda review: (review.submitted_at, review.id))


def _address(review: ReviewFacts) -> str:
    """What tells this review from others on the board."""
    return f"{review.url}#{review.id}"


def _answered(work: Work, review: ReviewFacts) -> bool:
    """Whether the review is on the board already, so that the present head is the answer to it."""
    return any(entry.value.get("url") == _address(review) for entry in work.state.entries("human_note"))


async def _back_to_the_developer(work: Work, number: int, review: ReviewFacts | None) -> Commit:
    """The request for changes becomes the person's note; the check stays shut until the next head."""
    if review is None or review.author is None:
        raise LookupError("changes were requested, but no review says so")
    comments = await work.context.github.reviews.line_comments(work.run.repo, number)
    mine = [comment for comment in comments if comment.review_id == review.id]
    note = HumanNote(
        text=strip_hidden(review.body),
        via="review",
        url=_address(review),
        inline=tuple(InlineNote(path=one.path, line=one.line, text=strip_hidden(one.body)) for one in mine),
    )
    person = Author(kind="person", name=review.author.login, id=review.author.id)
    return work.done(work.entry("human_note", note, author=person))
