"""More money for a run: by a yes at the cost gate, or by raising the limit before it waits. Never past the ceiling."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from handlers.ballots import Ballot, word_of
from handlers.context import Context
from handlers.events import Event
from handlers.messages.replies import Failed, Reply
from handlers.ports import RunFacts, Word
from handlers.pulls import say
from handlers.votes import OpenGate

_AMOUNT = re.compile(r"\+?\$?([0-9]{1,7}(?:\.[0-9]{1,6})?)")


def micro_dollars(text: str) -> int | None:
    """`+5`, `2.50` or `$3` as micro-dollars; None for anything else, for less than a cent and for more than $1,000."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    amount = Decimal(match[1])
    if not Decimal("0.01") <= amount <= 1_000:
        return None
    return int(amount * 1_000_000)


async def accept(context: Context, run: RunFacts, ballot: Ballot, amount: int = 0) -> Reply | None:
    """A yes at the cost gate: the vote, the money and the end of the waiting are one word. Without an amount it gives
    what the prompt named. The answer says why it could not be."""
    gate = ballot.gate
    if gate.operator:
        return _only_operator(gate)
    word = word_of(ballot, context.clock.now_ms())
    data: dict[str, object] = {"gate": gate.name, "by": [ballot.by.name]}
    resolved = Event(id=f"{ballot.cause}:resolved", name="gate_resolved", run=run.id, cause=ballot.cause, data=data)
    return await _give(context, run, replace(word, events=(resolved,)), amount or gate.suggested)


async def raise_limit(context: Context, run: RunFacts, cause: str, amount: int) -> Reply | None:
    """More for a run that does not wait for it."""
    return await _give(context, run, Word(cause), amount)


async def _give(context: Context, run: RunFacts, word: Word, amount: int) -> Reply | None:
    ceiling = context.options.ceiling
    if amount and run.budget + amount > ceiling:
        return _too_much(run.budget + amount, ceiling)
    data: dict[str, object] = {"budget": amount}
    resumed = Event(id=f"{word.cause}:resumed", name="run_resumed", run=run.id, cause=word.cause, data=data)
    # A bound counts only for what adds something: a run may stand above it, whose operator has lowered it since.
    given = replace(word, events=(*word.events, resumed), budget=amount, ceiling=ceiling if amount else 0)
    if not await say(context, run.id, given):
        # Known already, over, or somebody else raised it in this very moment.
        now = await context.store.runs.facts(run.id)
        if now is not None and now.status == "open" and amount and now.budget + amount > ceiling:
            return _too_much(now.budget + amount, ceiling)
    return None


def _too_much(asked: int, ceiling: int) -> Reply:
    limit = f"whoever hosts me lets one run have at most ${ceiling / 1_000_000:,.2f}"
    return Failed("raise the limit that far", f"It would come to ${asked / 1_000_000:,.2f}, and {limit}.")


def _only_operator(gate: OpenGate) -> Reply:
    way_out = "Only whoever hosts me can raise that; it goes on by itself when the time is over."
    return Failed("spend more now", f"{gate.why[:1].upper()}{gate.why[1:]}. {way_out}")
