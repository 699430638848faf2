"""Buttons on our checks: a press is a vote like any other, bound to the commit and to the question that it stood under.

Whoever has write can press (GitHub REST, "Check runs", `requested_action`), so who it was is looked up like everywhere.
"""

from __future__ import annotations

import structlog

from agents.board import Author
from handlers.ballots import Ballot, cast, facing, lines_of
from handlers.context import Context
from handlers.events import Event, GateButtonPressed
from handlers.lateness import comes_late
from handlers.messages.replies import AskReason, HeadMoved, Reply, WhatIsOpen
from handlers.money import accept
from handlers.ports import Button, RunFacts, Word
from handlers.pulls import say
from handlers.replies import reply_once
from handlers.votes import RULES, OpenGate

log = structlog.get_logger("seconder.buttons")

SHOWN_DIGITS = 12
"""GitHub takes identifiers of at most 20 characters, the verb included."""


def decide_buttons(digest: str) -> tuple[Button, ...]:
    """The two buttons of a gate that is decided by a word: they say yes and no to what has this digest."""
    return (
        Button("Accept", "Open the gate for this commit", f"approve:{digest[:SHOWN_DIGITS]}"),
        Button("Refuse", "Say no; you are asked for the reason", f"reject:{digest[:SHOWN_DIGITS]}"),
    )


async def pressed(context: Context, event: Event) -> None:
    """`Look again` may be pressed by anybody, it decides nothing; the others vote."""
    press = GateButtonPressed.model_validate(event.data)
    run_id, _, rest = (press.external_id or "").partition(":")
    run = await context.store.runs.facts(run_id) if run_id else None
    if run is None or run.repo.id != press.repo.id or run.status != "open":
        log.info("button_of_no_run", button=press.button, external_id=press.external_id, repo=press.repo.full_name)
        return
    name, verb = rest.partition(":")[0], press.button.partition(":")[0]
    if verb not in ("approve", "reject"):
        await say(context, run.id, Word(event.id))
        return
    rule = RULES.get(name)
    standing = await context.github.people.standing(press.repo, press.sender)
    if rule is None or rule.said_by != "command" or not standing.at_least(rule.who) or comes_late(event.at, run):
        log.info("button_denied", gate=name, by=press.sender.login, has=standing.permission, run=run.id)
        return
    reply = await _decide(context, event, press, run, name)
    log.info("button_done", gate=name, verb=verb, by=press.sender.login, refused=reply is not None, run=run.id)
    if reply is not None:
        await reply_once(context, run.repo, run.pull or run.issue, event.id, reply)


async def _decide(context: Context, event: Event, press: GateButtonPressed, run: RunFacts, name: str) -> Reply | None:
    """Cast the vote; or the answer where the button stood under something else than what is asked now."""
    verb, _, shown = press.button.partition(":")
    found = await facing(context, run)
    gate = next((one for one in found.gates if one.name == name), None)
    if found.head is not None and press.head != found.head:
        return HeadMoved(verb, press.head, found.head)
    if gate is None or not _under(gate, press.head, shown):
        problem = f"The button stood under another question than the {name} gate asks now."
        return WhatIsOpen(verb, problem, lines_of(found.gates))
    if verb == "reject":
        return AskReason(name, press.sender.login)
    by = Author(kind="person", name=press.sender.login, id=press.sender.id)
    ballot = Ballot(gate, "yes", "", "button", by, event.id)
    if gate.name == "cost":
        return await accept(context, run, ballot)
    await cast(context, run, ballot)
    return None


def _under(gate: OpenGate, head: str, shown: str) -> bool:
    """Whether a button was shown under what the gate asks now."""
    return gate.head == head and len(shown) >= min(SHOWN_DIGITS, len(gate.digest)) and gate.digest.startswith(shown)
