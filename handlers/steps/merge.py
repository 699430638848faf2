"""The merge gate's step: merges the approved head when a maintainer asks for it, after judging everything once more."""

from __future__ import annotations

from agents.board import PullRequest, Summary
from gates import evaluate
from gates import merge as gate
from gates import quality as quality_gate
from gates.evidence import PullEvidence
from gates.verdict import Pass, Wait
from handlers.messages import pull as pull_message
from handlers.ports import Commit, Conflicted, PullFacts
from handlers.publisher import Effect, Receipt
from handlers.steps import security
from handlers.steps.evidence import current_pull, pull_evidence
from handlers.steps.pull_text import pull_view
from handlers.work import Work


async def run(work: Work) -> Commit:
    """Merge and end the run, wait for `/merge`, or give the decision back to the gate that does not pass any more."""
    pull = current_pull(work)
    live = await work.context.github.pulls.get(work.run.repo, pull.number)
    if live.merged:
        return await _merged_already(work, pull, live)
    evidence = await pull_evidence(work, pull.number)
    approved = evaluate(quality_gate.GATE, evidence)
    if not isinstance(approved, Pass):
        return _back(work, pull, live)
    if not await security.still_passes(work, pull.number):
        return security.voided(work)
    verdict = evaluate(gate.GATE, evidence)
    if isinstance(verdict, Pass) and isinstance(evidence, PullEvidence):
        return await _merge(work, pull, evidence.head, verdict)
    need = verdict.need if isinstance(verdict, Wait) else ""
    who = [person.login for person in verdict.eligible] if isinstance(verdict, Wait) else []
    data: dict[str, object] = {"gate": "merge", "head": live.head_sha, "need": need, "who": who}
    last = work.state.last("gate_opened")
    if last is not None and dict(last.data) == data:
        return work.parked()
    event = work.event("gate_opened", data)
    return work.parked(event.model_copy(update={"id": f"{event.id}:{work.state.position}"}))


def _back(work: Work, pull: PullRequest, live: PullFacts) -> Commit:
    """The approval no longer stands (a push, a dismissal): quality is asked again, for the head as it is now."""
    value = pull.model_copy(update={"action": "pushed", "head_sha": live.head_sha, "draft": live.draft})
    if live.head_sha != pull.head_sha:
        value = value.model_copy(update={"tree": ""})
    entry = work.entry("pull_request", value)
    data: dict[str, object] = {"voids": "quality", "entry": entry.id, "node": work.lease.node}
    return Commit("done", entries=(entry,), events=(work.event("gate_voided", data),))


async def _merged_already(work: Work, pull: PullRequest, live: PullFacts) -> Commit:
    """Merged before this look: by ourselves, if a worker died between its merge and its word about it, or by hand."""
    if f"merge:{live.head_sha}" in await work.context.store.effects.known(work.run.id):
        evidence = await pull_evidence(work, pull.number)
        if isinstance(evidence, PullEvidence):
            verdict = evaluate(gate.GATE, evidence.model_copy(update={"merged": False, "state": "open"}))
            if isinstance(verdict, Pass):
                return await _merge(work, pull, live.head_sha, verdict)
    return _merged(work, live.merge_sha or "", "merged by hand", [])


async def _merge(work: Work, pull: PullRequest, head: str, verdict: Pass) -> Commit:
    pulls, repo = work.context.github.pulls, work.run.repo
    view = pull_view(work)
    title = f"{pull_message.title(view.number, view.what)} (#{pull.number})"

    async def do() -> Receipt:
        try:
            return {"merge": await pulls.merge(repo, pull.number, head, title)}
        except Conflicted:
            # A worker that lost this step while it was frozen may have merged a moment before.
            there = await find()
            if there is None:
                raise
            return there

    async def find() -> Receipt | None:
        now = await pulls.get(repo, pull.number)
        return {"merge": now.merge_sha or ""} if now.merged else None

    try:
        receipt = await work.publisher.once(Effect(f"merge:{head}", do, find))
    except Conflicted:
        return _back(work, pull, await pulls.get(repo, pull.number))
    by = [person.login for person in verdict.by]
    return _merged(work, str(receipt["merge"]), f"merged at the word of {', '.join(by)}", by)


def _merged(work: Work, sha: str, text: str, by: list[str]) -> Commit:
    """The end. `by` are those at whose word this gate opened; nobody where it was merged by hand."""
    summary = Summary(outcome="merged", text=text, merged_sha=sha or None)
    resolved = (work.event("gate_resolved", {"gate": "merge", "by": by}),) if by else ()
    return work.done(work.entry("summary", summary), ending="run_completed", extra=resolved)
