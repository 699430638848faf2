"""The worker's loops: one bad event, whatever it is, holds nobody up for long and ends no process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bot.routing import TRIES
from bot.worker import Engine, Pace, work
from handlers.events import CommandGiven, Event, GitHubEvent, IssueCreated
from handlers.ports import Delivery
from tests.fakes.store import RealStore
from tests.fakes.team import Team


@dataclass
class Site:
    """A worker at work on fakes, with an engine that runs nothing."""

    team: Team
    task: asyncio.Task[None]

    async def deliver(self, record: GitHubEvent, name: str) -> None:
        event = Event(id=name, name=record.NAME, data=record.model_dump(mode="json"))
        await self.team.store.bus.ingest(Delivery(name, name, (event,)))

    async def parked(self) -> list[str]:
        """Why events were put aside."""
        rows = await self.team.store.client.xrange(self.team.store.scripts.key("parked", "router"))
        return [values[b"why"].decode() for _, values in rows]

    async def started(self, within_s: float = 20.0) -> bool:
        """Whether the team's issue has a run; raises what ended the worker, if that is what happened."""
        for _ in range(int(within_s / 0.05)):
            if self.task.done():
                self.task.result()
            if await self.team.store.runs.find(self.team.repo, issue=self.team.issue) is not None:
                return True
            await asyncio.sleep(0.05)
        return False

    def filed(self) -> IssueCreated:
        team = self.team
        return IssueCreated(repo=team.repo, sender=team.rita, number=team.issue, author=team.rita)


@pytest.fixture
async def site(store: RealStore) -> AsyncIterator[Site]:
    team = Team(store)

    async def engine() -> None:
        await asyncio.Event().wait()

    made = work(team.context, store.bus, Engine(engine, store.bus.trim, (ConnectionError,)), Pace("w", 0.05))
    task = asyncio.create_task(made)
    yield Site(team, task)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_an_event_is_handled(site: Site) -> None:
    await site.deliver(site.filed(), "d1")
    assert await site.started()
    assert await site.parked() == []


async def order(site: Site) -> CommandGiven:
    """A `/steer` on the issue of a run that has begun."""
    team, number = site.team, site.team.issue
    await team.begin()
    return CommandGiven(
        repo=team.repo,
        sender=team.rita,
        author=team.rita,
        number=number,
        on_pull_request=False,
        where="issue",
        comment_id=team.world.add_comment(team.repo, number, team.rita, "/steer on"),
        body="/steer on",
        verb="steer",
        arguments="on",
    )


async def another_is_handled(site: Site) -> None:
    """Everybody else's events go on."""
    site.team.issue = site.team.world.add_issue(site.team.repo, site.team.rita, "Another", "Please.")
    await site.deliver(site.filed(), "d2")
    assert await site.started()


async def test_an_order_for_a_run_whose_log_is_damaged_is_put_aside(site: Site) -> None:
    given = await order(site)
    await site.team.store.client.xadd(
        site.team.store.scripts.key("log", site.team.run), {"t": "entry", "d": "{", "at": "1"}
    )
    await site.deliver(given, "d1")
    await another_is_handled(site)
    [why] = await site.parked()
    assert "cannot be read" in why


async def test_an_error_that_nobody_foresaw_is_tried_again_and_put_aside(site: Site) -> None:
    given = await order(site)
    site.team.world.fail("people.standing", ZeroDivisionError("nobody thought of this"), times=TRIES)
    await site.deliver(given, "d1")
    await another_is_handled(site)
    [why] = await site.parked()
    assert "unexpected ZeroDivisionError: nobody thought of this" in why


async def test_a_row_that_is_no_event_is_put_aside(site: Site) -> None:
    key = site.team.store.scripts.key("bus")
    for row in ("{", "[]", '{"id": 1}'):
        await site.team.store.client.xadd(key, {"e": row})
    await site.deliver(site.filed(), "d1")
    assert await site.started()
    assert len(await site.parked()) == 3
