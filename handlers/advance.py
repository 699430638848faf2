"""One wake-up: decide what is due in a run, or run one step to its commit. Safe to call twice, late, or for nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

import structlog

from agents.ports import Fenced, ModelError, ToolError
from handlers.context import Context
from handlers.control import Decision, decide
from handlers.ending import end
from handlers.events import ENDINGS, Event
from handlers.migration import (
    NEEDED,
    RESOLVED,
    SYSTEM_STEPS,
    UNKNOWN,
    NeedsMigration,
    function_of,
    readable,
    waits_for,
)
from handlers.ports import Commit, GitHubError, Later, Lease, LogUnreadable, RunFacts, StoreDown, TooBig, Unknown
from handlers.publisher import Unsettled
from handlers.state import RunState
from handlers.work import Step, Work
from handlers.workflow import WorkflowError

log = structlog.get_logger("seconder.advance")

CONTROL = "control:"
STATUS = "status"
ROUNDS = 20
LONGEST_WAIT_S = 300.0


class Advancer:
    """Runs what is due. `steps` maps `role`, `action:<name>`, `gate:<name>`, `status`, `close` to functions."""

    def __init__(self, context: Context, steps: Mapping[str, Step], worker: str) -> None:
        self._context = context
        self._steps = steps
        self._worker = worker
        self._spared: Counter[str] = Counter()  # attempts of a step that the store's absence ended

    async def advance(self, member: str) -> None:
        """Do what a member of `Tasks.due` asks for. While the store is away nothing is done, and no step is blamed."""
        try:
            await self._advance(member)
        except StoreDown as error:
            log.warning("store_down", member=member, why=str(error)[:200])

    async def _advance(self, member: str) -> None:
        if member.startswith(CONTROL):
            await self._decide(member.removeprefix(CONTROL))
            await self._hint()
            return
        lease = await self._context.store.tasks.claim(member, self._worker)
        if lease is None:
            return
        try:
            await self._step(lease)
        except Fenced as error:
            log.info("step_fenced", task=lease.task, why=str(error))
        except StoreDown:
            self._spared[lease.task] += 1
            raise
        else:
            del self._spared[lease.task]
        finally:
            # A step that ended without a commit, whatever the reason, has to be due again.
            await self._context.store.tasks.let_go(lease)
        await self._hint()

    async def _hint(self) -> None:
        await self._context.wake.wake(await self._context.store.tasks.due(50))

    async def _decide(self, run: str) -> None:
        """Decide what is due. A log that cannot be read decides nothing: it is said, and looked at again later."""
        try:
            await self._activate(run)
        except LogUnreadable as error:
            log.error("log_unreadable", run=run, position=error.position, why=error.why)
            await self._context.store.runs.later(run, self._context.options.look_again_ms)

    async def _activate(self, run: str) -> None:
        for _ in range(ROUNDS):
            facts = await self._context.store.runs.facts(run)
            if facts is None:
                log.warning("run_missing", run=run)
                return
            decision = self._decision(facts, await self._state(facts))
            if decision is None:
                await self._context.store.runs.later(run, self._context.options.look_again_ms, facts.length)
                break
            if await self._context.store.tasks.activate(run, decision.length, decision.tasks, decision.events):
                break

    def _decision(self, facts: RunFacts, state: RunState) -> Decision | None:
        """What is due, or what has to be said; None while the run waits for another version of Seconder."""
        waits = waits_for(state)
        try:
            workflow = readable(facts, state, self._steps)
        except NeedsMigration as error:
            log.error("needs_migration", run=facts.id, why=str(error))
            return None if waits == str(error) else _says(facts.id, state, NEEDED, str(error))
        if waits is not None:
            return _says(facts.id, state, RESOLVED, "this version knows all of it")
        return decide(facts.id, workflow, state)

    async def _state(self, facts: RunFacts) -> RunState:
        """The run's state, at least up to where `facts` saw the log end. Raises `LogUnreadable`."""
        state = await self._context.states.of(facts.id, self._context.store.runs)
        if state.position < facts.length:
            raise LogUnreadable(facts.id, state.position + 1, f"the log should have {facts.length} records")
        return state

    async def _step(self, lease: Lease) -> None:
        store = self._context.store
        try:
            facts = await store.runs.facts(lease.run)
            if facts is None:
                log.warning("run_missing", run=lease.run, task=lease.task)
                return
            commit = await self._commit(lease, facts, await self._state(facts))
        except LogUnreadable as error:
            log.error("log_unreadable", run=lease.run, position=error.position, why=error.why, task=lease.task)
            commit = Commit("parked", retry_in_ms=self._context.options.look_again_ms)
        await store.tasks.commit(lease, commit)
        log.info("step_committed", task=lease.task, outcome=commit.outcome, error=commit.error or None)
        if lease.node != STATUS:
            await self._decide(lease.run)

    async def _commit(self, lease: Lease, facts: RunFacts, state: RunState) -> Commit:
        """What came of the step; one of a run that this version does not know is left for a version that does."""
        log.info("step_claimed", task=lease.task, token=lease.token, attempt=lease.attempts)
        try:
            workflow = readable(facts, state, self._steps)
        except NeedsMigration as error:
            if lease.node not in SYSTEM_STEPS:
                log.error("needs_migration", run=facts.id, task=lease.task, why=str(error))
                said = waits_for(state) == str(error)
                events = () if said else _says(facts.id, state, NEEDED, str(error)).events
                return Commit("parked", events=events, retry_in_ms=self._context.options.look_again_ms)
            workflow = UNKNOWN
        return await self._while_held(Work(self._context, lease, facts, state, workflow))

    async def _while_held(self, work: Work) -> Commit:
        """Run the step as long as its lease holds. When it is lost the step is cancelled: raises `StoreDown` when the
        store did not answer for so long, `Fenced` otherwise."""
        step = asyncio.create_task(self._outcome(work))
        lost = asyncio.create_task(self._context.store.tasks.lost(work.lease))
        try:
            await asyncio.wait({step, lost}, return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                return step.result()
            if lost.result() == "unreachable":
                raise StoreDown(f"{work.lease.task}: the lease ran out while the store did not answer")
            raise Fenced(f"{work.lease.task}: cancelled, or taken over by another worker")
        finally:
            await end(step, lost)

    async def _outcome(self, work: Work) -> Commit:
        """Run the step and turn whatever went wrong into a commit."""
        lease, options = work.lease, self._context.options
        if lease.attempts - self._spared[lease.task] > options.max_attempts and lease.node != STATUS:
            mine = [note for note in work.state.notes if note.startswith(f"{lease.node}: ")]
            last = mine[-1] if mine else "it never came to an end"
            return _failed(work, f"gave up after {options.max_attempts} tries; the last said: {last}")
        try:
            return await self._function(work)(work)
        except (Fenced, StoreDown):
            raise
        except ModelError as error:
            if not error.heals:
                return _failed(work, f"the model's endpoint refused the request ({error.kind}): {error}")
            return _retry(_wait_ms(work, error.retry_after_s), f"model {error.kind}: {error}")
        except Unsettled as error:
            return _retry(error.wait_ms, str(error))
        except Later as error:
            return _retry(_wait_ms(work, error.seconds), str(error))
        except Unknown as error:
            return _retry(options.settle_ms, str(error))
        except (GitHubError, TooBig, ToolError, WorkflowError) as error:
            return _failed(work, str(error))
        except Exception as error:  # the edge of a step: what was not foreseen is retried, then said
            log.exception("step_crashed", task=lease.task)
            if lease.attempts > options.max_attempts:
                return _failed(work, f"unexpected {type(error).__name__}: {error}")
            return _retry(_wait_ms(work, None), f"unexpected {type(error).__name__}: {error}")

    def _function(self, work: Work) -> Step:
        name = function_of(work.lease.node, work.node)
        function = self._steps.get(name)
        if function is None:
            raise WorkflowError(f"this version of Seconder cannot run the step {name!r} (needs-migration)")
        return function


def _says(run: str, state: RunState, name: str, why: str) -> Decision:
    """A decision that makes nothing due and says one thing."""
    event = Event(id=f"{run}:{name}:{state.position}", name=name, run=run, data={"why": why[:500]})
    return Decision(state.position, events=(event,))


def _wait_ms(work: Work, asked_s: float | None) -> int:
    """What the other side asked for, at most five minutes; else doubling from the base."""
    if asked_s is not None:
        return int(min(max(asked_s, 0.05), LONGEST_WAIT_S) * 1000)
    return int(min(work.context.options.backoff_base_ms * 2 ** (work.lease.attempts - 1), 60_000))


def _retry(wait_ms: int, error: str) -> Commit:
    return Commit("retry", retry_in_ms=max(1, wait_ms), error=error[:500])


def _failed(work: Work, error: str) -> Commit:
    if work.lease.node == STATUS and work.run.status not in ENDINGS:
        # The run's only voice may not fall silent for good: the next news are told, or tried to be.
        return Commit("parked", retry_in_ms=work.context.options.status_gap_ms, error=error[:500])
    event = work.event("step_failed", {"node": work.lease.node, "error": error[:500]})
    # A run that cannot be closed tidily is over all the same: nobody could stop it, or begin again, otherwise.
    ending = "run_cancelled" if work.lease.node == "close" else None
    return Commit("failed", events=(event,), error=error[:500], ending=ending)
