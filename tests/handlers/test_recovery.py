"""Deliveries that failed while nobody listened: each is asked for again once, by one worker, and given time."""

from __future__ import annotations

import asyncio

import pytest

from handlers.ports import Asked, FailedDelivery, GitHubError, Later, Missing, Refused, Unknown
from handlers.recovery import CHORE, MOST_TIMES, OVERLAP_MS, WINDOW_MS, Recovered, begin_of, judge, recover
from tests.fakes.clock import FakeClock
from tests.fakes.deliveries import FakeDeliveries
from tests.fakes.store import RealStore

MINUTE = 60_000


@pytest.mark.parametrize(
    ("attempts", "asked", "verdict"),
    [
        pytest.param(1, Asked(0, 0), "ask", id="never asked for"),
        pytest.param(3, Asked(0, 0), "ask", id="somebody else asked, in vain"),
        pytest.param(1, Asked(1, 9 * MINUTE), "wait", id="asked for, not come yet"),
        pytest.param(1, Asked(1, 10 * MINUTE), "ask", id="asked for, never came"),
        pytest.param(2, Asked(1, 5 * MINUTE - 1), "wait", id="came back failed a moment ago"),
        pytest.param(2, Asked(1, 5 * MINUTE), "ask", id="came back failed five minutes ago"),
        pytest.param(3, Asked(2, 5 * MINUTE), "wait", id="the second pause is longer"),
        pytest.param(3, Asked(2, 10 * MINUTE), "ask", id="the second pause is over"),
        pytest.param(13, Asked(12, 60 * MINUTE), "ask", id="no pause is longer than an hour"),
        pytest.param(99, Asked(MOST_TIMES, 99 * 60 * MINUTE), "give_up", id="often enough"),
    ],
)
def test_whether_a_delivery_is_asked_for(attempts: int, asked: Asked, verdict: str) -> None:
    assert judge(FailedDelivery(9, "g", attempts, 0, 0), asked) == verdict


@pytest.mark.parametrize(
    ("mark", "begin"),
    [
        pytest.param(None, 5 * WINDOW_MS - WINDOW_MS, id="first look: all that GitHub keeps"),
        pytest.param(1, 4 * WINDOW_MS, id="never further back"),
        pytest.param(5 * WINDOW_MS - 1_000, 5 * WINDOW_MS - 1_000, id="from where all is settled"),
    ],
)
def test_since_when_is_looked(mark: int | None, begin: int) -> None:
    assert begin_of(5 * WINDOW_MS, mark) == begin


class Post:
    """GitHub's record, a clock and the store's marks; `look` is one worker's look."""

    def __init__(self, store: RealStore) -> None:
        self.store = store
        self.clock = FakeClock()
        self.github = FakeDeliveries(now_ms=self.clock.now)

    def fail(self, *guids: str) -> None:
        """These are delivered while nobody answers."""
        self.github.working = False
        for guid in guids:
            self.github.deliver(guid)
        self.github.working = True

    async def look(self) -> Recovered:
        return await recover(self.github, self.store.chores, self.clock)

    async def wait(self, guid: str, ms: int) -> None:
        """As if the delivery had been asked for so much earlier."""
        key = self.store.scripts.key("again", guid)
        at = int(await self.store.scripts.command("HGET", key, "at"))
        await self.store.scripts.command("HSET", key, "at", at - ms)


@pytest.fixture
def post(store: RealStore) -> Post:
    return Post(store)


async def test_each_that_failed_is_asked_for_once(post: Post) -> None:
    post.github.deliver("fine")
    post.fail("a", "b", "a")
    assert await post.look() == Recovered(asked=2)
    assert sorted(post.github.asked) == ["a", "b"]
    for _ in range(3):
        assert await post.look() == Recovered()
    assert len(post.github.asked) == 2


async def test_one_of_many_workers_asks(post: Post) -> None:
    post.fail(*(f"g{number}" for number in range(20)))
    post.github.slow = True
    await asyncio.gather(*(post.look() for _ in range(5)))
    assert sorted(post.github.asked) == sorted(f"g{number}" for number in range(20))


async def test_what_fails_again_is_asked_for_later_and_not_forgotten(post: Post) -> None:
    post.fail("a")
    post.github.working = False  # the web process is still down
    assert await post.look() == Recovered(asked=1)
    assert await post.look() == Recovered(waiting=1)
    await post.wait("a", 5 * MINUTE)
    post.github.working = True
    assert await post.look() == Recovered(asked=1)
    assert await post.look() == Recovered()
    assert post.github.asked == ["a", "a"]


async def test_a_worker_that_dies_between_booking_and_asking_costs_a_wait(post: Post) -> None:
    post.fail("a")
    assert await post.store.chores.ask("a", 0)
    assert await post.look() == Recovered(waiting=1)
    await post.wait("a", 10 * MINUTE)
    assert await post.look() == Recovered(asked=1)


@pytest.mark.parametrize(
    ("error", "then"),
    [
        pytest.param(Later("limit", 60.0), Recovered(waiting=2), id="a limit: nothing more now"),
        pytest.param(Unknown("broken line"), Recovered(asked=1, waiting=1), id="an unknown outcome: the next"),
        pytest.param(Missing("404 too old"), Recovered(asked=1, given_up=1), id="not kept any more: the next"),
        pytest.param(Refused("422 no"), Recovered(asked=1, given_up=1), id="refused: the next"),
    ],
)
async def test_an_ask_that_goes_wrong(post: Post, error: GitHubError, then: Recovered) -> None:
    post.fail("a", "b")
    post.github.errors = [error]
    assert await post.look() == then


async def test_the_mark_stays_in_front_of_what_is_not_settled(post: Post) -> None:
    post.github.now_ms -= 3 * 60 * MINUTE
    post.fail("old")
    first = post.github.now_ms
    post.github.now_ms = post.clock.now
    post.github.slow = True
    await post.look()
    assert await post.store.chores.mark(CHORE) == first
    post.github.arrive()
    await post.look()
    mark = await post.store.chores.mark(CHORE)
    assert mark is not None
    assert post.clock.now - OVERLAP_MS - 100 < mark <= post.clock.now - OVERLAP_MS
    await post.look()
    assert post.github.looks == [post.github.looks[0], first, mark]


async def test_a_record_that_cannot_be_read_moves_no_mark(post: Post) -> None:
    post.github.broken = Later("GitHub: 503", 15.0)
    with pytest.raises(Later):
        await post.look()
    assert await post.store.chores.mark(CHORE) is None
