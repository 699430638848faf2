"""A whole worker and the web process while the store is away: refused, hanging, restarted, read-only, full."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agents.ports import Model, ModelRequest, Reply
from bot import wiring
from bot.serving import serve
from bot.worker import Engine, Pace, work
from handlers.advance import Advancer
from handlers.ending import end
from handlers.events import Event, IssueCreated
from handlers.github.translation import AppIdentity
from handlers.ports import Delivery
from infra.jobs.connection import connect as connect_jobs
from infra.jobs.engine import ArqEngine, ArqWake
from tests.bot.sent import SECRET, Sent
from tests.fakes.outages import HOW, Server
from tests.fakes.store import RealStore
from tests.fakes.team import Team

LEASE_S = 1.0
AWAY_S = 2.2  # longer than the lease


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "store")
    yield made
    made.close()


class Slow:
    """The team's model, which takes a moment as models do."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def reply(self, request: ModelRequest) -> Reply:
        await asyncio.sleep(0.25)
        return await self._model.reply(request)

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._model.count_tokens(request)


@asynccontextmanager
async def worker(server: Server, team: Team) -> AsyncIterator[asyncio.Task[None]]:
    """A worker with arq's engine on this server."""
    jobs = connect_jobs(None, server.address.socket, server.address.password)
    context = replace(team.context, wake=ArqWake(jobs), model=Slow(team.model))
    advancer = Advancer(context, team.steps, "w")
    engine = Engine(ArqEngine(jobs, advancer.advance, 4, LEASE_S).run, team.store.bus.trim, wiring.STORE_ERRORS)
    task = asyncio.create_task(work(context, team.store.bus, engine, Pace("w", 0.1)))
    try:
        yield task
    finally:
        await end(task)
        await jobs.aclose(close_connection_pool=True)


async def said(team: Team, name: str, working: asyncio.Task[None], within_s: float = 40.0) -> None:
    """Wait until the run says this; fails when the worker has ended."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if working.done():
            raise AssertionError(f"the worker has ended: {working.exception()!r}")
        if await team.store.runs.find(team.repo, issue=team.issue) is not None and name in await team.said():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{name} was not said: {await team.said()}")


@pytest.mark.parametrize("how", HOW)
async def test_the_worker_waits_and_goes_on(server: Server, how: str) -> None:
    """It is taken away while steps are at work; the run gets where it would have got, and no step is blamed."""
    store = RealStore(server.running, LEASE_S, prefix="{s}:")
    team = Team(store)
    filed = IssueCreated(repo=team.repo, sender=team.rita, number=team.issue, author=team.rita)
    event = Event(id="d1", name=filed.NAME, data=filed.model_dump(mode="json"))
    try:
        async with worker(server, team) as working:
            assert await store.bus.ingest(Delivery("d1", None, (event,)))
            await said(team, "design_ready", working)  # developer and tester are at work from here on
            server.away(how)
            await asyncio.sleep(AWAY_S)
            assert not working.done()
            server.back(how)
            await said(team, "gate_opened", working)
            records = await store.runs.read(team.run, 0)
    finally:
        await store.close()
    blamed = [record.data for record in records if record.data.get("outcome") in ("retry", "failed")]
    assert blamed == []
    names = [record.data["name"] for record in records if record.type == "event"]
    assert names.count("tests_passed") == names.count("pr_opened") == 1
    assert len(team.world.at(team.repo).pulls) == 1


@pytest.mark.parametrize("how", HOW)
async def test_the_web_process_says_503_within_ten_seconds_and_recovers(server: Server, how: str) -> None:
    async with wiring.open_hub(server.address, brief=True) as hub:
        application = wiring.web_app(hub, AppIdentity(77, None, "seconder"), (SECRET,))
        async with serve(application) as url, httpx.AsyncClient(base_url=url, timeout=30) as client:
            assert (await deliver(client, "d-1")).status_code == 202
            assert (await client.get("/readyz")).status_code == 200
            server.away(how)
            began = time.monotonic()
            answers = await asyncio.gather(*(deliver(client, f"d-{number}") for number in (2, 3, 4)))
            took = time.monotonic() - began
            assert [answer.status_code for answer in answers] == [503] * 3
            assert took < 10
            assert "Redeliver" in answers[0].json()["error"]
            began = time.monotonic()
            pages = await asyncio.gather(*(client.get(path) for path in ("/readyz", "/runs/1-1-1", "/healthz")))
            # A full or read-only store still answers who only reads.
            readable = how in ("read-only", "full")
            assert [page.status_code for page in pages] == ([200, 404, 200] if readable else [503, 503, 200])
            assert time.monotonic() - began < 10
            server.back(how)
            assert (await deliver(client, "d-2")).status_code == 202
            assert (await client.get("/readyz")).status_code == 200
    rows = await _bus(server)
    assert rows.count("d-2") == 1
    assert "d-1" in rows


async def deliver(client: httpx.AsyncClient, name: str) -> httpx.Response:
    """A comment with a command, as GitHub delivers it."""
    sent = Sent(delivery=name, body=Sent().body.replace(b'"id": 9', f'"id": {hash(name) % 10**6}'.encode()))
    return await client.post("/webhook", content=sent.body, headers=sent.head())


async def _bus(server: Server) -> list[str]:
    store = RealStore(server.running, LEASE_S, prefix="{s}:")
    try:
        rows = await store.client.xrange("{s}:bus")
        return [Event.model_validate_json(values[b"e"]).id for _, values in rows]
    finally:
        await store.close()
