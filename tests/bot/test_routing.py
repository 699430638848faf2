"""The router's lanes: what has to wait holds up nobody else, and nothing overtakes within a repository."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from bot.routing import TRIES, Lanes, Router, lane_of
from handlers.ending import end
from handlers.events import CommandGiven, Event, GitHubEvent, IssueCreated
from handlers.ports import Delivery, GitHubError, Later, Unknown
from handlers.router import GROUP
from infra.store.bus import RedisBus
from tests.fakes.store import RealStore
from tests.fakes.team import FILES, Team


@pytest.mark.parametrize(
    ("data", "run", "lane"),
    [
        pytest.param({"repo": {"id": 7}, "number": 1}, None, "repository 7", id="an issue"),
        pytest.param({"repo": {"id": 7}, "number": 9}, None, "repository 7", id="its pull request"),
        pytest.param({"installation": 3, "repositories": [{"id": 7}]}, None, "installation 3", id="an installation"),
        pytest.param({"entry": "code.1"}, "7-1-1", "run 7-1-1", id="the team's own"),
        pytest.param({"repo": "octo/calc"}, None, "run None", id="no repository"),
        pytest.param({}, None, "run None", id="nothing"),
    ],
)
def test_what_is_handled_in_order(data: dict[str, object], run: str | None, lane: str) -> None:
    assert lane_of(Event(id="x", name="x", data=data, run=run)) == lane


def test_lanes_give_the_oldest_that_is_due() -> None:
    lanes = Lanes()
    for stream_id, repo in (("5-0", 1), ("10-0", 2), ("9-1", 1), ("9-0", 3)):
        lanes.add(stream_id, Event(id=stream_id, name="x", data={"repo": {"id": repo}}))
    lanes.add("5-0", Event(id="again", name="x", data={"repo": {"id": 1}}))
    first = lanes.next()
    assert first is not None
    assert (first.stream_id, first.event.id, sorted(lanes.held)) == ("5-0", "5-0", ["10-0", "5-0", "9-0", "9-1"])
    lanes.put_off(first, 60)
    order = []
    while (waiting := lanes.next()) is not None:
        order.append(waiting.stream_id)
        lanes.done(waiting)
    assert order == ["9-0", "10-0"], "9-1 stays behind 5-0"
    assert lanes.quiet_ms(1_000) == 1_000
    lanes.put_off(first, 0)
    assert lanes.quiet_ms(1_000) == 1
    lanes.done(first)
    second = lanes.next()
    assert second is not None
    assert second.stream_id == "9-1", "it is due as soon as what was in front of it is done"


def test_what_a_dead_worker_left_goes_before_what_waits_for_it() -> None:
    lanes = Lanes()
    newer = Event(id="newer", name="x", data={"repo": {"id": 1}})
    lanes.add("9-0", newer)
    waiting = lanes.next()
    assert waiting is not None
    lanes.put_off(waiting, 60)
    lanes.add("5-0", Event(id="left", name="x", data={"repo": {"id": 1}}))
    lanes.add("7-0", Event(id="left too", name="x", data={"repo": {"id": 1}}))
    order = []
    while (waiting := lanes.next()) is not None:
        order.append(waiting.stream_id)
        lanes.done(waiting)
    assert order == ["5-0", "7-0", "9-0"]


@dataclass
class Post:
    """A router at work on a real bus; `deliver` hands in what GitHub says."""

    team: Team
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self, name: str = "w", **options: object) -> None:
        bus = RedisBus(self.team.store.scripts)
        router = Router(self.team.context, bus, name, (ConnectionError,), **options)  # type: ignore[arg-type]
        self.tasks.append(asyncio.create_task(router.run()))

    async def kill(self) -> None:
        await end(*self.tasks)

    async def deliver(self, name: str, record: GitHubEvent) -> None:
        event = Event(id=name, name=record.NAME, data=record.model_dump(mode="json"))
        await self.team.store.bus.ingest(Delivery(name, None, (event,)))

    async def steer(self, *words: str) -> None:
        """Orders on the team's issue, one after the other."""
        team = self.team
        for word in words:
            comment = team.world.add_comment(team.repo, team.issue, team.rita, f"/steer {word}")
            given = CommandGiven(
                repo=team.repo,
                sender=team.rita,
                author=team.rita,
                number=team.issue,
                on_pull_request=False,
                where="issue",
                comment_id=comment,
                body=f"/steer {word}",
                verb="steer",
                arguments=word,
            )
            await self.deliver(word, given)

    async def heard(self) -> list[str]:
        """What people said to the run, oldest first."""
        return [str(entry.value["text"]) for entry in (await self.team.state()).entries("human_note")]

    async def parked(self) -> list[str]:
        rows = await self.team.store.client.xrange(self.team.store.scripts.key("parked", GROUP))
        return [values[b"why"].decode() for _, values in rows]

    async def pending(self) -> int:
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()  # what ended the router, where that is why nothing happens
        found = await self.team.store.client.xpending(self.team.store.scripts.key("bus"), GROUP)
        return int(found["pending"])


async def until(look: Callable[[], object], within_s: float = 10.0) -> None:
    latest = time.monotonic() + within_s
    while not await look():  # type: ignore[misc]
        assert time.monotonic() < latest, "it did not happen"
        await asyncio.sleep(0.02)


@pytest.fixture
async def post(store: RealStore) -> AsyncIterator[Post]:
    team = Team(store)
    await team.begin()
    said = await store.bus.read(GROUP, "w", 100, 50)  # the group is there, and what the beginning said is done
    await store.bus.ack(GROUP, [stream_id for stream_id, _ in said])
    made = Post(team)
    yield made
    await made.kill()


def fails(post: Post, error: GitHubError, times: int) -> None:
    """Whose order it is cannot be looked up for a while."""
    post.team.world.fail("people.standing", error, times=times)


async def another(post: Post) -> Callable[[], object]:
    """An issue filed in another repository; returns a look at whether its run was started."""
    team = post.team
    repo = team.world.add_repo("octo/other", FILES)
    mia = team.world.add_person(repo, "mia", "write")
    number = team.world.add_issue(repo, mia, "Another", "Please.")
    await post.deliver("other", IssueCreated(repo=repo, sender=mia, number=number, author=mia))
    return lambda: team.store.runs.find(repo, issue=number)


async def test_a_rate_limit_of_one_repository_holds_up_no_other(post: Post) -> None:
    fails(post, Later("rate limit", 1800.0), times=1)
    await post.steer("one", "two")
    started = await another(post)
    post.start()
    await until(started)
    await until(lambda: _of(post.pending, 2))
    assert (await post.heard(), await post.parked()) == ([], [])


async def test_what_waits_comes_back_and_keeps_its_order(post: Post) -> None:
    fails(post, Later("rate limit", 0.3), times=2)
    await post.steer("one", "two", "three")
    post.start()
    await until(lambda: is_empty(post))
    assert await post.heard() == ["one", "two", "three"]
    assert await post.parked() == []


async def is_empty(post: Post) -> bool:
    return await post.pending() == 0 and len(await post.heard()) == 3


async def test_a_wait_that_github_asks_for_counts_against_nobody(post: Post) -> None:
    fails(post, Later("rate limit", 0.01), times=TRIES + 1)
    await post.steer("one")
    post.start()
    await until(lambda: _of(post.heard, ["one"]), within_s=40)
    assert await post.parked() == []


async def _tried(post: Post) -> bool:
    return post.team.world.count("people.standing") > 0


async def _of(look: Callable[[], object], wanted: object) -> bool:
    return await look() == wanted  # type: ignore[misc,no-any-return]


async def test_a_wait_without_end_is_put_aside_and_what_is_behind_it_goes_on(post: Post) -> None:
    fails(post, Later("no answer", 0.2), times=3)
    await post.steer("one", "two")
    post.start(patience_s=0.3)
    await until(lambda: _of(post.heard, ["two"]))
    [why] = await post.parked()
    assert "gave up after" in why
    assert "no answer" in why


async def test_who_dies_with_events_in_hand_loses_none(post: Post) -> None:
    fails(post, Later("rate limit", 3600.0), times=1)
    await post.steer("one", "two", "three")
    post.start()
    await until(lambda: _tried(post))
    await until(lambda: _of(post.pending, 3))
    await post.kill()
    post.start()
    await until(lambda: is_empty(post))
    assert await post.heard() == ["one", "two", "three"]


async def test_what_another_worker_has_put_off_is_not_overtaken(post: Post) -> None:
    bus = RedisBus(post.team.store.scripts)
    await post.steer("one")
    [(held, event)] = await bus.read(GROUP, "other", 10, 50)
    await bus.first(GROUP, lane_of(event), [held])
    await post.steer("two", "three")
    started = await another(post)
    post.start()
    await until(started)
    await asyncio.sleep(0.3)
    assert (await post.heard(), await post.pending()) == ([], 3)
    await bus.ack(GROUP, [held])
    await until(lambda: _of(post.heard, ["two", "three"]))


@pytest.mark.parametrize("error", [Later("limit", 1800.0), Unknown("broken line")])
async def test_more_comes_in_while_many_wait(post: Post, error: GitHubError) -> None:
    """More than a batch is in hand, and reading goes on behind it."""
    fails(post, error, times=1)
    await post.steer(*(f"w{number}" for number in range(30)))
    started = await another(post)
    post.start()
    await until(started)
    assert await post.parked() == []
