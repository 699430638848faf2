"""One kill -9 at each kind of boundary: the next worker goes on, and everything is as if nothing had happened."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest

from tests.crash.crew import Crew, Member
from tests.crash.doom import Doom
from tests.crash.play import Ended, ended, script, through
from tests.e2e.house import House
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONGEST_RECOVERY_S = 15.0


@dataclass(frozen=True)
class Row:
    """A doom and what it may cost: `again` is the one call that may be asked twice, `unconfirmed` that it is shown.

    `lease_s` is short, so that the rows are; one has the default.
    """

    doom: Doom
    again: str = ""
    unconfirmed: bool = False
    lease_s: str = "4"


def before(verb: str, about: str = "", nth: int = 1, **cost: object) -> Row:
    """A kill before a call."""
    return Row(Doom(verb, "before", about, nth), **cost)  # type: ignore[arg-type]


def after(verb: str, about: str = "", nth: int = 1, **cost: object) -> Row:
    """A kill after a call has done its work, before its answer was used."""
    return Row(Doom(verb, "after", about, nth), **cost)  # type: ignore[arg-type]


DEVELOPER, BESIDE = "developer.1.1", "tester.1.1"
ROWS = {
    "issue read, run not started": before("runs.start"),
    "claim": after("tasks.claim", "/developer.1"),
    "claim, with the default lease": after("tasks.claim", "/survey.1", lease_s="8"),
    "money set aside": after("turns.reserve", "/developer.1", unconfirmed=True),
    "model asked, reply not stored": after("model.reply", "developer", again=DEVELOPER, unconfirmed=True),
    "reply stored, tools not run": after("turns.store", "/developer.1 reply"),
    "file written, results not stored": after("workspace.write"),
    "results stored": after("turns.store", "/developer.1 results"),
    "last reply stored, step not committed": before("tasks.commit", "/developer.1 done"),
    "step committed, nothing decided": after("tasks.commit", "/developer.1 done"),
    "decided": after("tasks.activate", nth=4),
    "tests run": after("workspace.run_suite"),
    "status booked, not posted": before("issues.comment"),
    "status posted, no receipt": after("issues.comment"),
    "pull request receipted": after("effects.receipt", "pull:"),
    "branch made, no receipt": after("repository.create_branch"),
    "pull request opened, no receipt": after("pulls.open"),
    "review booked, not posted": before("reviews.post"),
    "review posted, no receipt": after("reviews.post"),
    "people asked, no receipt": after("reviews.request"),
    "check made, no receipt": after("checks.create"),
    "gate opened, parked": after("tasks.commit", "/quality.1 parked"),
    "approved, not written down": before("runs.vote"),
    "approval written down, event not acknowledged": after("runs.vote"),
    "gate passed, not committed": before("tasks.commit", "/quality.1 done"),
    "merge booked, not done": before("pulls.merge"),
    "merged, no receipt": after("pulls.merge"),
    "merged, not committed": before("tasks.commit", "/merge.1 done"),
    "run ended, status not yet": after("tasks.commit", "/merge.1 done"),
}


@pytest.mark.parametrize(
    ("row", "number"), [pytest.param(row, n, id=name) for n, (name, row) in enumerate(ROWS.items(), 1)]
)
async def test_a_killed_worker_is_replaced(
    empty_house: House, crew: Crew, expected: Ended, row: Row, number: int
) -> None:
    scene = await Scene.open(empty_house, f"crash-{number:02}", script())
    scene.pause_s = 0.1
    with crew.telling():
        member = crew.start(row.doom, SECONDER_LEASE_S=row.lease_s)
        playing = asyncio.create_task(through(scene))
        died = await member.gone(40)
        heir = crew.start(SECONDER_LEASE_S=row.lease_s)
        await playing
    found = await ended(scene)
    assert found.board == expected.board
    assert found.github == expected.github
    assert found.events == expected.events
    assert_paid_once(found, expected, row, member)
    assert recovery(member, heir, died) <= LONGEST_RECOVERY_S


def assert_paid_once(found: Ended, expected: Ended, row: Row, dead: Member) -> None:
    """Every stored turn is on the bill once; the one call in flight may be asked again, and is shown."""
    again = found.bill.asked - expected.bill.asked
    # The tester works beside the developer: a kill can find its call in flight as well.
    beside = again.pop(BESIDE, 0)
    assert beside <= 1
    assert dict(again) == ({row.again: 1} if row.again else {})
    assert expected.bill.asked - found.bill.asked == {}
    assert found.bill.stored == expected.bill.stored
    assert set(found.bill.stored.values()) == {1}
    assert found.bill.spent == found.bill.costs
    assert found.bill.reserved == 0
    shown = found.bill.unconfirmed > 0
    assert shown or not (row.unconfirmed or beside)
    # Killed after setting money aside and before asking: too much is shown, never too little.
    assert not shown or row.unconfirmed or beside or any("/tester." in task for task in dead.diary.held())


def recovery(dead: Member, heir: Member, died: float) -> float:
    """Seconds from a kill to the claims of everything that the dead surely held; without any, to the heir's first."""
    claims = [line for line in heir.diary.lines() if line.what == "claim" and line.at >= died]
    held = dead.diary.held(sure=True)
    first = {task: next(line.at for line in claims if line.task == task) for task in held}
    taken = max(first.values()) if first else next((line.at for line in claims), time.monotonic())
    return taken - died
