"""`/modify`: a person's words replace what the team wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agents.board import Design, Entry, Requirement, Requirements, Value, value_of
from handlers.ballots import Ballot, Facing, facing, word_of
from handlers.commands.record import Command
from handlers.events import Event
from handlers.messages.hidden import strip_hidden
from handlers.messages.replies import Failed, NothingOpen, Reply, Usage
from handlers.orders import Order
from handlers.outcomes import event_of
from handlers.ports import Word
from handlers.pulls import say

COMMAND = Command(
    verb="modify",
    usage="/modify requirements or design, then your text below",
    summary="Your text replaces the team's requirements or design, and the work goes on from there.",
    who="write",
    examples=(
        "/modify design\nKeep one parser, and read the flag there.",
        "/modify requirements\nA flag for JSON output.\n- `--json` prints one object a line\n- errors stay on stderr",
    ),
)
LONGEST_TEXT = 16_000
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<text>\S.*)")


async def run(order: Order) -> Reply | None:
    """The text becomes an entry by this person that supersedes the team's. A gate that asks about it hears of it."""
    run = order.open_run
    if run is None:
        return NothingOpen("modify")
    kind, _, rest = order.given.arguments.strip().partition(" ")
    kind, text = kind.lower(), strip_hidden(f"{rest}\n{order.given.words}".strip())
    if kind not in WRITTEN_ANEW:
        return Usage(COMMAND.usage, COMMAND.examples[0], f"What can be replaced: {' and '.join(WRITTEN_ANEW)}.")
    if not text or len(text) > LONGEST_TEXT:
        problem = f"Your text goes below the command, in at most {LONGEST_TEXT:,} characters."
        return Usage(COMMAND.usage, COMMAND.examples[0], problem)
    found = await facing(order.context, run)
    before = found.state.board.live(kind)
    if before is None:
        return Failed(f"replace the {kind}", "The team has not written any yet. `/steer` reaches it now.")
    await say(order.context, run.id, _word(order, found, before, text))
    return None


def _word(order: Order, found: Facing, before: Entry, text: str) -> Word:
    cause, at = order.event.id, order.context.clock.now_ms()
    entry = Entry(
        id=f"{before.kind}.{cause}",
        kind=before.kind,
        value=WRITTEN_ANEW[before.kind](before, text).model_dump(mode="json"),
        author=order.author,
        derived_from=(before.id,),
        supersedes=before.id,
        at=at,
    )
    name = event_of(entry) or ""
    data: dict[str, object] = {"entry": entry.id, "node": "person"}
    event = Event(id=f"{cause}:{name}", name=name, run=found.run.id, cause=cause, data=data)
    votes: tuple[Entry, ...] = ()
    for gate in found.gates:
        if gate.name == "plan":
            ballot = Ballot(gate, "modify", text, "command", order.author, cause, order.given.url)
            votes = word_of(ballot, at).entries
    return Word(cause, entries=(entry, *votes), events=(event,))


def _requirements(before: Entry, text: str) -> Value:
    """Listed lines are the requirements, the rest is their summary; without a list the whole is one requirement."""
    items = [match["text"] for line in text.split("\n") if (match := _ITEM.fullmatch(line))]
    plain = " ".join(line.strip() for line in text.split("\n") if line.strip() and not _ITEM.fullmatch(line))
    known = value_of(before, Requirements)
    written = tuple(Requirement(id=f"R{number}", text=item) for number, item in enumerate(items or [plain], 1))
    return known.model_copy(update={"summary": plain or known.summary, "items": written})


def _design(before: Entry, text: str) -> Value:
    """The text is the whole approach. What the old design would commit in money stays: only its gate decides that."""
    return Design(approach=text, monthly_usd=value_of(before, Design).monthly_usd)


WRITTEN_ANEW: Mapping[str, Callable[[Entry, str], Value]] = {"requirements": _requirements, "design": _design}
