"""A worker that is frozen past its lease: another takes over, and what wakes up commits nothing and doubles nothing."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tests.crash.crew import Crew, Member
from tests.crash.doom import Doom
from tests.crash.play import Ended, ended, script, through
from tests.e2e.house import House
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

FROZEN = {
    "with a reply that is not stored": Doom("turns.store", "before", "/developer.1 reply", signal=signal.SIGSTOP),
    "before a commit": Doom("tasks.commit", "before", "/run_tests.1 done", signal=signal.SIGSTOP),
    "between posting and the receipt": Doom("issues.comment", "after", signal=signal.SIGSTOP),
    "between looking at its lease and posting": Doom("issues.comment", "before", signal=signal.SIGSTOP),
    "between looking at its lease and opening": Doom("pulls.open", "before", signal=signal.SIGSTOP),
    "between looking at its lease and merging": Doom("pulls.merge", "before", signal=signal.SIGSTOP),
}


@pytest.mark.parametrize(
    ("doom", "number"), [pytest.param(doom, n, id=name) for n, (name, doom) in enumerate(FROZEN.items(), 50)]
)
async def test_a_frozen_worker_wakes_up_too_late(
    empty_house: House, crew: Crew, expected: Ended, doom: Doom, number: int
) -> None:
    scene = await Scene.open(empty_house, f"crash-{number}", script())
    with crew.telling():
        sleeper = crew.start(doom)
        playing = asyncio.create_task(through(scene))
        await sleeper.stands_still(60)
        held = sleeper.diary.held()
        assert held
        heir = crew.start()
        for task in held:
            await claimed(heir, task)
        await committed(heir, held)
        sleeper.send(signal.SIGCONT)
        await playing
    found = await ended(scene)
    assert found.board == expected.board
    assert found.github == expected.github
    assert found.events == expected.events
    assert found.bill.stored == expected.bill.stored
    assert found.bill.spent == found.bill.costs
    assert not await doubled(scene)


async def claimed(member: Member, task: str) -> None:
    """Wait until this worker has taken the step."""
    for _ in range(1500):
        if any(line.what == "claim" and line.task == task for line in member.diary.lines()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{task} was never taken over")


async def committed(member: Member, tasks: set[str]) -> None:
    """Wait until this worker has committed each step."""
    for _ in range(1500):
        done = {line.task for line in member.diary.lines() if line.what == "commit"}
        if tasks <= done:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"never committed: {tasks - done}")


async def doubled(scene: Scene) -> bool:
    """Whether there is a second comment for long: the late one is removed by whoever posted it."""
    for _ in range(100):
        if len(await scene.statuses()) == 1:
            return False
        await asyncio.sleep(0.05)
    return True


async def test_two_workers_at_once_make_one_of_everything(empty_house: House, crew: Crew, expected: Ended) -> None:
    """Both are hinted at the same steps; one claims each, and what both see is the same."""
    scene = await Scene.open(empty_house, "crash-60", script())
    with crew.telling():
        first, second = crew.start(), crew.start()
        await through(scene)
    found = await ended(scene)
    assert (found.board, found.github, found.events) == (expected.board, expected.github, expected.events)
    assert found.bill.asked == expected.bill.asked
    taken = [line.task for member in (first, second) for line in member.diary.lines() if line.what == "claim"]
    once = [task for task in taken if not task.endswith(("/status.1", "/quality.1", "/merge.1"))]
    assert sorted(once) == sorted(set(once))


WORDS = {
    "steered while frozen": "/steer Say what you changed.",
    "stopped while frozen": "/stop",
}


@pytest.mark.parametrize(
    ("word", "number"), [pytest.param(word, n, id=name) for n, (name, word) in enumerate(WORDS.items(), 61)]
)
async def test_a_persons_word_while_the_worker_is_frozen(
    empty_house: House, crew: Crew, word: str, number: int
) -> None:
    scene = await Scene.open(empty_house, f"crash-{number}", script())
    with crew.telling():
        sleeper = crew.start(Doom("turns.store", "before", "/developer.1 reply", signal=signal.SIGSTOP))
        await scene.begin()
        await sleeper.stands_still(60)
        crew.start()
        await scene.say("maintainer", word)
        if word == "/stop":
            await scene.ended("run_cancelled")
        else:
            await scene.event("steered")
        sleeper.send(signal.SIGCONT)
        if word != "/stop":
            await scene.event("gate_opened", gate="quality")
            assert any("Say what you changed." in seen.request.model_dump_json() for seen in scene.model.seen)
            return
        length = await scene.position()
        await asyncio.sleep(1.5)
    assert await scene.position() == length, "nothing is written to a run that has ended"
    assert len(await scene.statuses()) == 1
    assert await scene.pulls() == []
