"""What each verb does in each state of a run: one table, with every cell written out."""

from __future__ import annotations

import pytest

from agents.board import Questions
from handlers.commands import COMMANDS
from handlers.events import Event
from handlers.ports import Commit
from tests.fakes.team import Team
from tests.handlers.orders_scene import command, pull_of_ours, reactions, replies
from tests.handlers.values import DESIGN

GIVEN = {
    "start": "/start",
    "status": "/status",
    "steer": "/steer use the parser",
    "stop": "/stop",
    "retry": "/retry",
    "approve": "/approve",
    "reject": "/reject not so",
    "modify": "/modify design\nKeep one parser.",
    "budget": "/budget +5",
    "merge": "/merge",
    "why": "/why",
    "help": "/help",
}
NONE, ALREADY, QUIET = "No work is open here", "already", "nothing to try again"
NO_PULL, SHUT, REVIEW, COMMANDS_SHOWN = "no open pull request", "No gate is open", "Request changes", "| command |"
BACK = "goes back to the issue"
DONE = ""
ORDER = ("none", "working", "asking", "gate", "quality", "stuck", "stopping", "ended")
TABLE = {
    #           none      working   asking    gate      quality   stuck     stopping  ended
    "start":   (DONE,     ALREADY,  ALREADY,  ALREADY,  ALREADY,  ALREADY,  ALREADY,  DONE),
    "status":  (NONE,     DONE,     DONE,     DONE,     DONE,     DONE,     NONE,     NONE),
    "steer":   (NONE,     DONE,     DONE,     DONE,     DONE,     DONE,     NONE,     NONE),
    "stop":    (NONE,     DONE,     DONE,     DONE,     DONE,     DONE,     NONE,     NONE),
    "retry":   (NONE,     QUIET,    QUIET,    QUIET,    QUIET,    DONE,     NONE,     NONE),
    "approve": (NONE,     SHUT,     SHUT,     DONE,     REVIEW,   SHUT,     NONE,     NONE),
    "reject":  (NONE,     SHUT,     SHUT,     DONE,     REVIEW,   SHUT,     NONE,     NONE),
    "modify":  (NONE,     DONE,     DONE,     DONE,     DONE,     DONE,     NONE,     NONE),
    "budget":  (NONE,     DONE,     DONE,     DONE,     DONE,     DONE,     NONE,     NONE),
    "merge":   (NO_PULL,  NO_PULL,  NO_PULL,  NO_PULL,  DONE,     NO_PULL,  NO_PULL,  NO_PULL),
    "why":     (NONE,     BACK,     BACK,     BACK,     BACK,     BACK,     BACK,     BACK),
    "help":    (COMMANDS_SHOWN,) * 8,
}  # fmt: skip
CELLS = [
    pytest.param(verb, state, said, id=f"{verb} while {state}")
    for verb, row in TABLE.items()
    for state, said in zip(ORDER, row, strict=True)
]


def test_every_verb_is_in_the_table() -> None:
    assert set(TABLE) == set(GIVEN) == {one.verb for one in COMMANDS}


async def bring_to(team: Team, state: str) -> None:
    """Bring a run on the issue into this state."""
    if state == "none":
        return
    await team.begin()
    await team.put(team.entry("design", DESIGN, "architect"))
    match state:
        case "working":
            await team.work("product_manager")
        case "asking":
            await team.put(team.entry("questions", Questions(questions=("Which?",)), "product_manager"))
            await team.work("ask")
        case "gate":
            await team.say("gate_opened", gate="cost", digest="run:5")
        case "quality":
            head, _ = await pull_of_ours(team)
            await team.work("quality")
            await team.say("gate_opened", gate="quality", head=head)
        case "stuck":
            work = await team.work("product_manager")
            failed = Event(id="f1", name="step_failed", run=team.run, data={"node": "product_manager"})
            await team.store.tasks.commit(work.lease, Commit("failed", events=(failed,), error="bad key"))
        case "stopping" | "ended":
            await team.store.runs.cancel(team.run, "d99", "stopped")
    if state == "ended":
        await team.idle()


@pytest.mark.parametrize(("verb", "state", "said"), CELLS)
async def test_what_a_verb_does_in_a_state(team: Team, verb: str, state: str, said: str) -> None:
    await bring_to(team, state)
    run = await team.store.runs.find(team.repo, issue=team.issue)
    before = (await team.facts()).length if run else 0
    old = len(replies(team))
    await command(team, GIVEN[verb], team.max, at=9_999_999_999_999)
    answers = replies(team)[old:]
    assert len(answers) == (0 if said == DONE else 1), answers
    assert all(said in answer for answer in answers)
    assert ("+1" in reactions(team)) is (said == DONE)
    if said != DONE and run:
        assert (await team.facts()).length == before
    if said == DONE and verb not in ("status", "start"):
        assert (await team.facts()).length > before
