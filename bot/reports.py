"""What `seconder runs` tells of a run, as plain data for the terminal and for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from bot.wiring import Hub
from handlers.checkpoints import BadCheckpoint, content_of, freeze, thaw
from handlers.ports import Checkpoint, LogRecord, LogUnreadable, RunFacts
from handlers.state import RunState
from handlers.telling import waits_in_words

Report = dict[str, object]
LOOKS = 5


class NoRun(LookupError):
    """There is no run with this id."""


async def listed(hub: Hub, limit: int) -> list[Report]:
    """The newest runs, newest first; one whose facts cannot be read is listed with what is wrong."""
    found: list[Report] = []
    for run in await hub.runs.recent(limit):
        try:
            facts = await hub.runs.facts(run)
        except LogUnreadable as error:
            found.append({"id": run, "status": "unreadable", "why": error.why})
            continue
        if facts is not None:
            found.append(_facts(facts))
    return found


async def shown(hub: Hub, run: str) -> Report:
    """A run's facts, steps, entries, cost and votes. Raises `NoRun` and `LogUnreadable`."""
    facts = await facts_of(hub, run)
    records = await hub.runs.read(run, 0)
    state = RunState().feed(records, run)
    return {
        **_facts(facts),
        "requester": facts.requester.login,
        "base": facts.base_sha,
        "pull": facts.pull,
        "branch": facts.branch,
        "records": state.position,
        "erased": state.erased,
        "waits": waits_in_words(facts, state),
        "steps": [
            {
                "node": step.node,
                "visit": step.visit,
                "state": step.state,
                "at": when(step.started_at),
                "seconds": (step.ended_at - step.started_at) / 1000 if step.ended_at else None,
                "error": step.error,
            }
            for step in state.steps.values()
        ],
        "entries": [_entry(record) for record in records if record.type == "entry"],
        "cost": [
            {"node": node, "calls": bill.calls, "tokens": bill.tokens_in + bill.tokens_out, "usd": bill.cost / 1e6}
            for node, bill in state.bills.items()
        ],
        "votes": [_vote(record) for record in records if record.type == "entry" and record.data.get("kind") == "vote"],
    }


async def rebuilt(hub: Hub, run: str) -> Report:
    """Fold the log alone, compare it with the stored checkpoint and the run's counters, and store the fold.

    Raises `NoRun` and `LogUnreadable`; then nothing is stored.
    """
    await facts_of(hub, run)
    state = RunState()
    for _ in range(LOOKS):  # a run at work goes on meanwhile
        state.feed(await hub.runs.read(run, state.position), run)
        facts = await facts_of(hub, run)
        if facts.length <= state.position:
            break
    stored = await hub.checkpoints.load(run)
    differs = [*_counters(facts, state)]
    if stored is not None:
        differs += await _against(hub, run, stored)
    if state.strange:
        differs += [f"not known to this version: {where}: {what}" for where, what in state.strange.items()]
    else:
        await hub.checkpoints.save(run, freeze(state))
    return {"id": run, "records": state.position, "checkpoint": stored is not None, "differs": differs}


def _counters(facts: RunFacts, state: RunState) -> list[str]:
    """Where the run's hash tells something else than its log."""
    ending = state.ending or ("cancelling" if state.cancelled is not None else "open")
    pairs: Mapping[str, tuple[object, object]] = {
        "length": (facts.length, state.position),
        "spent": (facts.spent, sum(bill.cost for bill in state.bills.values())),
        "status": (facts.status, ending),
    }
    return [f"{name}: the run says {told}, its log {found}" for name, (told, found) in pairs.items() if told != found]


async def _against(hub: Hub, run: str, stored: Checkpoint) -> list[str]:
    """Where the checkpoint tells something else than the log up to its position."""
    try:
        known = content_of(thaw(stored))
    except BadCheckpoint as error:
        return [f"checkpoint: {error}"]
    records = await hub.runs.read(run, 0)
    if stored.position > len(records):
        return [f"checkpoint: it is of record {stored.position}, the log ends at {len(records)}"]
    folded = content_of(RunState().feed(records[: stored.position], run))
    return [f"checkpoint: {name} is not what the log says" for name in folded if folded[name] != known[name]]


async def facts_of(hub: Hub, run: str) -> RunFacts:
    """The run's facts. Raises `NoRun`, `LogUnreadable`."""
    facts = await hub.runs.facts(run)
    if facts is None:
        raise NoRun(f"There is no run {run}. `seconder runs list` shows those that there are.")
    return facts


def when(ms: int) -> str:
    """A time as people and scripts read it: ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _facts(facts: RunFacts) -> Report:
    return {
        "id": facts.id,
        "status": facts.status,
        "repository": facts.repo.full_name,
        "issue": facts.issue,
        "attempt": facts.attempt,
        "started": when(facts.started_at),
        "spent_usd": facts.spent / 1e6,
        "unconfirmed_usd": facts.unconfirmed / 1e6,
        "budget_usd": facts.budget / 1e6,
    }


def _entry(record: LogRecord) -> Report:
    """An entry without its value: of an erased one nothing else is left."""
    data = record.data
    parents = data.get("derived_from")
    return {
        "id": data.get("id"),
        "kind": data.get("kind"),
        "author": _mapping(data.get("author")).get("name"),
        "parents": list(parents) if isinstance(parents, Sequence) else [],
        "supersedes": data.get("supersedes"),
        "at": when(record.at),
        "erased": record.erased,
    }


def _vote(record: LogRecord) -> Report:
    value = _mapping(record.data.get("value"))
    by = _mapping(record.data.get("author")).get("name")
    return {"by": by, **{name: value.get(name) for name in ("gate", "word", "digest")}, "at": when(record.at)}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
