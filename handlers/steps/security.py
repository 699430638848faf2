"""The security gate's step: what was found in the change waits for people, and passes by itself where nothing was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agents.board import Summary
from gates import evaluate
from gates import security as gate
from gates.rules import Finding, digest
from gates.security import SecurityEvidence
from gates.verdict import Blocked, Pass, Refuse, Verdict, Wait
from handlers.messages import security as message
from handlers.messages.hidden import strip_hidden
from handlers.messages.security import Found, SecurityView
from handlers.ports import Annotation, CheckState, Commit, Word
from handlers.publisher import Effect, Receipt
from handlers.steps.quality import AGAIN
from handlers.steps.security_facts import GATE, decided_by, pull_of, security_facts
from handlers.work import Work

CHECK = "seconder/security"
MOST_ANNOTATIONS = 50
"""What GitHub takes at once (REST, "Create a check run")."""


async def run(work: Work) -> Commit:
    """Pass with `gate_resolved`, wait for people, or stop the run where one of them said no.

    A head of which nobody has approved the review yet is left alone: its review wakes this node again.
    """
    pull = pull_of(work)
    evidence = await security_facts(work, pull.number)
    facts = evidence if isinstance(evidence, SecurityEvidence) else None
    if facts is not None and facts.merged:
        return await _merged_past(work, pull.number)
    if facts is not None and facts.judged != facts.head and not facts.unknown_pusher:
        return work.done()
    verdict = evaluate(gate.GATE, evidence)
    head = facts.head if facts is not None else pull.head_sha
    found = facts.findings if facts is not None else ()
    await _show(work, check_state(work, head, verdict, found))
    match verdict:
        case Pass():
            data: dict[str, object] = {
                "gate": GATE,
                "head": head,
                "by": decided_by(verdict.by),
                "digest": digest(found),
            }
            return work.done(extra=(work.event("gate_resolved", data),))
        case Refuse() if verdict.by:
            return await _stopped(work, verdict)
        case Wait():
            view = _view(head, verdict, found, pull.url)
            await work.publisher.comment(pull.number, f"security-{digest(found)[:12]}-{head[:7]}", message.prompt(view))
            return _waiting(work, head, verdict, found)
        case _:
            return _waiting(work, head, verdict, found)


async def still_passes(work: Work, number: int) -> bool:
    """Whether the gate passes at this moment, right before an effect that it guards. A workflow that was stored in its
    run before there was this gate has no node for it, and is not asked."""
    if not any(node.gate == GATE for node in work.workflow.nodes.values()):
        return True
    return isinstance(evaluate(gate.GATE, await security_facts(work, number)), Pass)


def voided(work: Work) -> Commit:
    """The gate's node is due again; what it guards waits for it."""
    return work.done(extra=(work.event("gate_voided", {"voids": GATE, "node": work.lease.node}),))


async def _stopped(work: Work, verdict: Refuse) -> Commit:
    """A person said no, by whatever way: the run ends with their reason, if it has not ended by that already. This very
    step is fenced by that, like every other."""
    ids = {one.id for one in verdict.by}
    said = [entry for entry in work.state.entries("vote") if entry.author.id in ids and entry.value["gate"] == GATE]
    words = str(said[-1].value.get("words", ""))[:500] if said else ""
    reason = verdict.reason + (f": {words}" if words else "")
    data: dict[str, object] = {"gate": GATE, "word": "no", "by": decided_by(verdict.by)}
    cause = f"{work.lease.task}:refused"
    word = Word(cause, events=(work.event("gate_resolved", data),), halt=reason)
    await work.context.store.runs.vote(work.run.id, word)
    return work.parked()


async def _merged_past(work: Work, number: int) -> Commit:
    """Somebody merged by hand although this gate had not passed: the run is over, and says so."""
    live = await work.context.github.pulls.get(work.run.repo, number)
    summary = Summary(
        outcome="merged", text="merged by hand while the security gate was shut", merged_sha=live.merge_sha
    )
    return work.done(work.entry("summary", summary), ending="run_completed")


def _waiting(work: Work, head: str, verdict: Verdict, found: tuple[Finding, ...]) -> Commit:
    """Parked; what is waited for is said when it is new. Votes are bound to the `digest` that is said here."""
    who = decided_by(verdict.eligible) if isinstance(verdict, Wait) else []
    need = verdict.need if isinstance(verdict, Wait) else ""
    why = verdict.why if isinstance(verdict, Wait | Pass) else verdict.reason
    data: dict[str, object] = {
        "gate": GATE,
        "head": head,
        "need": need,
        "who": who,
        "why": why,
        "digest": digest(found),
    }
    last = next((said for said in reversed(work.state.heard("gate_opened")) if said.data.get("gate") == GATE), None)
    if last is not None and dict(last.data) == data:
        return work.parked()
    event = work.event("gate_opened", data)
    return work.parked(event.model_copy(update={"id": f"{event.id}:{work.state.position}"}))


async def _show(work: Work, state: CheckState) -> None:
    """The check run on the judged head says what the gate says."""
    checks, repo, head = work.context.github.checks, work.run.repo, state.head_sha
    fresh = False

    async def do() -> Receipt:
        nonlocal fresh
        made = await checks.create(repo, state)
        fresh = True
        return {"check": made}

    async def find() -> Receipt | None:
        known = [one for one in await checks.find(repo, head, CHECK) if one.external_id == state.external_id]
        return {"check": known[0].id} if known else None

    receipt = await work.publisher.once(Effect(f"check:security:{head}", do, find))
    if not fresh:
        await checks.update(repo, int(str(receipt["check"])), state)


def check_state(work: Work, head: str, verdict: Verdict, found: tuple[Finding, ...]) -> CheckState:
    """What the check run says for a verdict: anything but a pass needs action, and is never neutral."""
    options, run = work.context.options, work.run.id
    text = message.render(_view(head, verdict, found, ""))
    return CheckState(
        name=CHECK,
        head_sha=head,
        external_id=f"{run}:security:{head}",
        conclusion="success" if isinstance(verdict, Pass) else "action_required",
        title=text.title,
        summary=text.summary,
        text=text.text,
        buttons=() if isinstance(verdict, Pass) else (AGAIN,),
        details_url=f"{options.public_url}/runs/{run}" if options.public_url else None,
        annotations=tuple(_annotation(one) for one in found[:MOST_ANNOTATIONS]),
    )


ANNOTATED: Mapping[str, Literal["notice", "warning", "failure"]] = {
    "note": "notice",
    "approve": "warning",
    "block": "failure",
}


def _annotation(found: Finding) -> Annotation:
    return Annotation(found.path, found.line or 1, ANNOTATED[found.level], found.rule, strip_hidden(found.why)[:2_000])


def _view(head: str, verdict: Verdict, found: tuple[Finding, ...], url: str) -> SecurityView:
    shown = tuple(Found(one.rule, one.level, one.path, one.line, one.why) for one in found)
    match verdict:
        case Pass():
            alone = verdict.why.startswith("one person")
            return SecurityView("passed", head, shown, by=tuple(decided_by(verdict.by)), pull_url=url, alone=alone)
        case Wait():
            who = tuple(decided_by(verdict.eligible))
            return SecurityView("waiting", head, shown, who=who, why=verdict.why, pull_url=url)
        case Refuse():
            by = tuple(decided_by(verdict.by))
            return SecurityView("refused", head, shown, by=by, why=verdict.reason, pull_url=url)
        case Blocked():
            return SecurityView("blocked", head, shown, why=verdict.reason, pull_url=url)
