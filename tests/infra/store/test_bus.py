"""INGEST and the consumer groups, on a real server."""

from __future__ import annotations

import asyncio

import pytest

from handlers.events import Event
from handlers.ports import Delivery
from infra.store.bus import RedisBus
from infra.store.health import look
from tests.fakes.store import RealStore as Store


def delivery(guid: str, body: str | None, name: str = "issue_created") -> Delivery:
    return Delivery(guid, body, (Event(id=guid, name=name),))


@pytest.mark.parametrize(
    ("second", "stored"),
    [
        pytest.param(delivery("g1", "b1"), False, id="the same delivery"),
        pytest.param(delivery("g2", "b1"), False, id="the same body under a new delivery id"),
        pytest.param(delivery("g1", "b2"), False, id="a known delivery id with another body"),
        pytest.param(delivery("g2", "b2"), True, id="something else"),
        pytest.param(delivery("g2", None), True, id="a button press, which repeats byte for byte"),
    ],
)
async def test_a_delivery_is_stored_once(store: Store, second: Delivery, stored: bool) -> None:
    assert await store.bus.ingest(delivery("g1", "b1")) is True
    assert await store.bus.ingest(second) is stored


async def test_two_button_presses_are_two(store: Store) -> None:
    assert await store.bus.ingest(delivery("g1", None)) is True
    assert await store.bus.ingest(delivery("g2", None)) is True


async def test_what_was_not_acknowledged_comes_again_after_a_restart(store: Store) -> None:
    await store.bus.ingest(delivery("g1", None))
    first = await store.bus.read("router", "w1", 10, 100)
    assert [event.id for _, event in first] == ["g1"]
    restarted = RedisBus(store.scripts)
    again = await restarted.read("router", "w1", 10, 100)
    assert again == first
    await restarted.ack("router", [again[0][0]])
    assert list(await RedisBus(store.scripts).read("router", "w1", 10, 50)) == []


async def test_a_late_group_reads_what_is_kept(store: Store) -> None:
    await store.bus.ingest(delivery("g1", None))
    (stream_id, _), *_ = await store.bus.read("router", "w1", 10, 100)
    await store.bus.ack("router", [stream_id])
    assert [event.id for _, event in await store.bus.read("late", "x", 10, 100)] == ["g1"]


async def test_a_poison_event_is_put_aside_and_does_not_block(store: Store) -> None:
    await store.bus.ingest(delivery("bad", None))
    await store.bus.ingest(delivery("good", None))
    (stream_id, event), (other, _) = await store.bus.read("router", "w1", 10, 100)
    await store.bus.park("router", stream_id, event, "cannot be handled")
    await store.bus.ack("router", [other])
    assert list(await RedisBus(store.scripts).read("router", "w1", 10, 50)) == []
    assert await store.client.xlen(store.scripts.key("parked", "router")) == 1
    assert (await look(store.scripts)).aside == 1, "`seconder doctor` says so"


async def test_trimming_never_drops_what_the_router_has_not_finished(store: Store) -> None:
    for n in range(5):
        await store.bus.ingest(delivery(f"g{n}", None))
    await store.bus.read("router", "w1", 2, 100)
    await store.bus.trim()
    assert await store.client.xlen(store.scripts.key("bus")) == 5


async def test_whose_turn_it_is_in_a_lane(store: Store) -> None:
    for number in range(4):
        await store.bus.ingest(delivery(f"g{number}", None))
    one, two, three, four = [stream_id for stream_id, _ in await store.bus.read("router", "w1", 10, 50)]
    assert await store.bus.first("router", "a", [three]) == three
    assert await store.bus.first("router", "a", [two, one]) == one
    assert await store.bus.first("router", "b", [four]) == four, "another lane"
    await store.bus.ack("router", [one])
    assert await store.bus.first("router", "a", [three]) == two
    await store.bus.ack("router", [three, two])
    assert await store.bus.first("router", "a", []) == "", "what is acknowledged holds up nobody"
    await store.client.xgroup_destroy(store.scripts.key("bus"), "router")
    assert await store.bus.first("router", "c", [four]) == four, "nor does a group that is gone"


async def test_a_dead_consumers_events_go_to_another(store: Store) -> None:
    await store.bus.ingest(delivery("g1", None))
    given = await store.bus.read("router", "dead", 10, 100)
    other = RedisBus(store.scripts, orphaned_ms=200)
    assert list(await other.read("router", "alive", 10, 50)) == []
    await asyncio.sleep(0.25)
    assert list(await other.read("router", "alive", 10, 50)) == list(given)


async def test_a_consumer_that_says_it_lives_keeps_its_events(store: Store) -> None:
    await store.bus.ingest(delivery("g1", None))
    await store.bus.read("router", "slow", 10, 100)
    other = RedisBus(store.scripts, orphaned_ms=400)
    for _ in range(6):
        await asyncio.sleep(0.1)
        await store.bus.keep("router", "slow")
        assert list(await other.read("router", "alive", 10, 1)) == []


async def test_saying_that_one_lives_takes_nothing_back(store: Store) -> None:
    await store.bus.ingest(delivery("g1", None))
    await store.bus.read("router", "frozen", 10, 100)
    other = RedisBus(store.scripts, orphaned_ms=1)
    await asyncio.sleep(0.01)
    [(stream_id, _)] = await other.read("router", "alive", 10, 50)
    await store.bus.keep("router", "frozen")
    [row] = await store.client.xpending_range(store.scripts.key("bus"), "router", "-", "+", 10)
    assert row["consumer"] == b"alive"
    await other.ack("router", [stream_id])
    await store.bus.keep("router", "frozen")
    assert await store.client.xpending_range(store.scripts.key("bus"), "router", "-", "+", 10) == []


async def test_a_consumer_that_lost_what_it_was_given_gets_it_again(store: Store) -> None:
    """Its connection broke while it was at work; nobody else waits until the events count as orphans."""
    for name in ("g1", "g2"):
        await store.bus.ingest(delivery(name, None))
    first = await store.bus.read("router", "w1", 10, 100)
    await store.bus.ack("router", [first[0][0]])
    assert [event.id for _, event in await store.bus.read("router", "w1", 10, 50)] == ["g2"]
    await store.bus.ack("router", [first[1][0]])
    await store.bus.ingest(delivery("g3", None))
    assert [event.id for _, event in await store.bus.read("router", "w1", 10, 100)] == ["g3"]


async def test_what_is_held_is_not_given_again_and_hides_nothing(store: Store) -> None:
    """A consumer that puts events off goes on reading; after a loss it gets what it lost, and only that."""
    for number in range(7):
        await store.bus.ingest(delivery(f"g{number}", None))
    first = await store.bus.read("router", "w1", 4, 50)
    held = [stream_id for stream_id, _ in first]
    assert [event.id for _, event in await store.bus.read("router", "w1", 2, 50, held)] == ["g4", "g5"]
    assert [event.id for _, event in await store.bus.read("router", "w1", 2, 50, held)] == ["g4", "g5"], "it lost these"
    restarted = RedisBus(store.scripts)
    assert [event.id for _, event in await restarted.read("router", "w1", 2, 50, held[:3])] == ["g3"]
    assert [event.id for _, event in await restarted.read("router", "w1", 2, 50, held)] == ["g4", "g5"]


async def test_a_page_of_rows_that_are_no_events_hides_nothing(store: Store) -> None:
    key = store.scripts.key("bus")
    rows = [await store.client.xadd(key, {"e": "{"}) for _ in range(3)]
    await store.bus.ingest(delivery("good", None))
    await store.client.xgroup_create(key, "router", id="0")
    assert len(await store.client.xreadgroup("router", "w1", {key: ">"})) == 1  # taken, and the process died
    assert [event.id for _, event in await store.bus.read("router", "w1", 2, 50)] == ["good"]
    assert await store.client.xlen(store.scripts.key("parked", "router")) == len(rows)


async def test_a_life_sign_covers_more_than_a_page(store: Store) -> None:
    for number in range(1_100):
        await store.client.xadd(store.scripts.key("bus"), {"e": Event(id=str(number), name="x").model_dump_json()})
    assert len(await store.bus.read("router", "slow", 2_000, 50)) == 1_100
    await asyncio.sleep(0.3)
    await store.bus.keep("router", "slow")
    assert list(await RedisBus(store.scripts, orphaned_ms=250).read("router", "alive", 10, 1)) == []


async def test_what_the_router_has_finished_goes_after_a_day(store: Store) -> None:
    """Other groups have a window of time; the router's is kept however old it is."""
    key, now = store.scripts.key("bus"), (await store.client.time())[0] * 1000
    day = 24 * 3600 * 1000
    row = Event(id="x", name="x").model_dump_json()
    for at in [*range(now - 2 * day, now - 2 * day + 300), now - day // 2]:
        await store.client.xadd(key, {"e": row}, id=f"{at}-0")
    taken = await store.bus.read("router", "w1", 250, 50)
    await store.bus.ack("router", [stream_id for stream_id, _ in taken[:200]])
    await store.bus.trim()
    left = [stream_id.decode() for stream_id, _ in await store.client.xrange(key)]
    assert len(left) < 301, "something went"
    assert taken[200][0] in left
    rest = [stream_id for stream_id, _ in await store.bus.read("router", "w1", 500, 50, [i for i, _ in taken[200:]])]
    await store.bus.ack("router", [*(stream_id for stream_id, _ in taken[200:]), *rest])
    await store.bus.trim()
    left = [stream_id.decode() for stream_id, _ in await store.client.xrange(key)]
    assert f"{now - day // 2}-0" in left, "a late group may still want it"
    assert len(left) <= 101, "approximately: nodes of a hundred go whole"


async def test_more_than_one_batch_left_behind_comes_again_first(store: Store) -> None:
    for number in range(5):
        await store.bus.ingest(delivery(f"g{number}", None))
    await store.bus.read("router", "w1", 5, 100)
    restarted = RedisBus(store.scripts)
    seen: list[str] = []
    await store.bus.ingest(delivery("new", None))
    while len(seen) < 6:
        events = await restarted.read("router", "w1", 2, 50)
        seen += [event.id for _, event in events]
        await restarted.ack("router", [stream_id for stream_id, _ in events])
    assert seen == ["g0", "g1", "g2", "g3", "g4", "new"]


async def test_only_a_silent_consumer_that_holds_nothing_is_forgotten(store: Store) -> None:
    assert await store.bus.tidy("router", 0) == 0  # there is no bus yet
    await store.bus.ingest(delivery("g1", None))
    assert len(await store.bus.read("router", "holds", 10, 10)) == 1
    await store.bus.read("router", "empty", 10, 10)
    assert await store.bus.tidy("router", 60_000) == 0
    await asyncio.sleep(0.01)
    assert await store.bus.tidy("router", 1) == 1
    known = await store.client.xinfo_consumers(store.scripts.key("bus"), "router")
    assert [one["name"] for one in known] == [b"holds"]
    again = RedisBus(store.scripts)  # it was not lost with the consumer
    assert [event.id for _, event in await again.read("router", "holds", 10, 10)] == ["g1"]
