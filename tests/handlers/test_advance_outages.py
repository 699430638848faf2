"""A step while the store is away: it ends without a commit, and the attempt is not counted against it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handlers.advance import Advancer
from handlers.ports import Commit, NewTask, StoreDown
from handlers.work import Work
from tests.fakes.team import Team

Act = Callable[[Work], Awaitable[Commit]]


async def due(team: Team) -> str:
    """A run whose survey is due; returns the task."""
    await team.begin()
    state = await team.state()
    task = NewTask("survey|1", "survey", ("issue.1",), ("repo_map",), 1)
    assert await team.store.tasks.activate(team.run, state.position, [task], [])
    return f"{team.run}/survey.1"


def acts(team: Team, act: Act) -> Advancer:
    """A worker whose survey step does this; it may do nothing else."""
    return Advancer(team.context, {**team.steps, "action:survey": act}, "w")


async def away(work: Work) -> Commit:
    raise StoreDown("no answer")


async def test_a_store_that_is_away_is_no_steps_fault(team: Team) -> None:
    """Nothing is committed, however often it happens; afterwards the step has all its attempts left."""
    team.with_options(max_attempts=2)
    task = await due(team)
    answers: list[Act] = [away, away, away, away, _done]

    async def act(work: Work) -> Commit:
        return await answers.pop(0)(work)

    advancer = acts(team, act)
    for _ in range(4):
        await advancer.advance(task)
        await team.store.client.zadd(team.store.scripts.key("due"), {task: 1})  # its lease has run out
    assert [record.type for record in await team.store.runs.read(team.run, 0) if record.data.get("outcome")] == []
    await advancer.advance(task)
    assert (await team.state()).steps[task].state == "done"


async def _done(work: Work) -> Commit:
    return work.done()


async def test_a_step_that_kills_its_worker_still_ends(team: Team) -> None:
    """Attempts without a word are counted, unlike those that the store ended."""
    team.with_options(max_attempts=2)
    task = await due(team)
    for _ in range(2):
        assert await team.store.tasks.claim(task, "dies") is not None
        await team.store.client.zadd(team.store.scripts.key("due"), {task: 1})
    await acts(team, _done).advance(task)
    assert (await team.state()).steps[task].state == "failed"
