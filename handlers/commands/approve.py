"""`/approve`: open a gate."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handlers.ballots import Ballot, cast, facing, weigh
from handlers.commands.record import Command
from handlers.messages.replies import NothingOpen, Reply, Usage
from handlers.money import accept, micro_dollars
from handlers.orders import Order
from handlers.votes import RULES, SHORTEST_SHA, OpenGate, Spoken

COMMAND = Command(
    verb="approve",
    usage="/approve [gate] [commit] [+N]",
    summary="Open the gate that waits: the only one, or the one you name; at the cost gate with N dollars more.",
    who="write",
    examples=(
        "/approve",
        "/approve security 0123abc",
        "/approve cost +5",
        "/approve security 0123abc\nThe new token is read from the environment only.",
    ),
)

_SHA = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class Approval:
    """What stands behind the verb."""

    gate: str | None = None
    sha: str = ""
    amount: int = 0


async def run(order: Order) -> Reply | None:
    """A yes at the gate that is meant, bound to what its prompt shows; else the answer says what is open."""
    run = order.open_run
    if run is None:
        return NothingOpen("approve")
    asked = read(order.given.arguments)
    if isinstance(asked, str):
        return Usage(COMMAND.usage, COMMAND.examples[1], asked)
    found = await facing(order.context, run)
    gate = weigh(found, Spoken("yes", asked.gate, asked.sha, order.event.at), "approve")
    if not isinstance(gate, OpenGate):
        return gate
    words = f"{asked.sha}\n{order.given.words}".strip()
    ballot = Ballot(gate, "yes", words, "command", order.author, order.event.id, order.given.url)
    if gate.name == "cost":
        return await accept(order.context, run, ballot, asked.amount)
    await cast(order.context, run, ballot)
    return None


def read(text: str) -> Approval | str:
    """The arguments, in any order; or what is wrong with them, as a sentence."""
    gate, sha, amount = None, "", 0
    for word in text.lower().split():
        if word.startswith("+") and not amount:
            amount = micro_dollars(word) or 0
            if not amount:
                return f"I do not understand {word} here: it is no amount of dollars."
        elif word in RULES and gate is None:
            gate = word
        elif _SHA.fullmatch(word) and SHORTEST_SHA <= len(word) <= 64 and not sha:
            sha = word
        elif _SHA.fullmatch(word) and len(word) < SHORTEST_SHA:
            return f"A commit is named by at least {SHORTEST_SHA} digits; {word} could be another one tomorrow."
        else:
            known = ", ".join(RULES)
            return f"I do not understand {word} here. Gates are {known}; your own words go on the next line."
    if amount and gate not in (None, "cost"):
        return f"The {gate} gate takes no amount of dollars, only cost does."
    return Approval("cost" if amount else gate, sha, amount)
