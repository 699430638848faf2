from __future__ import annotations

import httpx
import pytest

from handlers.ports import Later
from infra.github.limits import Cooldowns, Pace, limited_for, retry_after
from tests.infra.github.conftest import START, FakeTime


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        pytest.param("30", 30.0, id="a number"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param("0", 1.0, id="zero: a moment all the same"),
        pytest.param("-5", 1.0, id="negative"),
        pytest.param("999999999", 3600.0, id="for ever: an hour"),
        pytest.param("inf", 3600.0, id="infinity"),
        pytest.param("nan", 60.0, id="no number"),
        pytest.param("soon", 60.0, id="a word"),
        pytest.param("", 60.0, id="nothing"),
        pytest.param("Fri, 15 Jan 2027 08:00:45 GMT", 45.0, id="a date"),
        pytest.param("Fri, 15 Jan 2027 07:00:00 GMT", 1.0, id="a date gone by"),
    ],
)
def test_retry_after(value: str, seconds: float) -> None:
    assert retry_after(value, START) == seconds


@pytest.mark.parametrize(
    ("status", "headers", "text", "seconds"),
    [
        pytest.param(403, {}, "Resource not accessible by integration", None, id="a permission is no limit"),
        pytest.param(404, {"x-ratelimit-remaining": "0"}, "Not Found", None, id="not found with nothing left"),
        pytest.param(500, {"retry-after": "9"}, "", None, id="a server error is no limit"),
        pytest.param(429, {}, "", 60.0, id="bare 429"),
        pytest.param(429, {"retry-after": "7"}, "", 7.0, id="429 that says how long"),
        pytest.param(403, {"retry-after": "7"}, "", 7.0, id="403 that says how long"),
        pytest.param(403, {"retry-after": "wait"}, "", 60.0, id="403 that says it unreadably"),
        pytest.param(403, {}, "You have exceeded a secondary rate limit.", 60.0, id="secondary without a header"),
        pytest.param(
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(START) + 90)},
            "API rate limit exceeded",
            90.0,
            id="primary",
        ),
        pytest.param(
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "later"},
            "API rate limit exceeded",
            60.0,
            id="primary, reset unreadable",
        ),
        pytest.param(
            403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "12"}, "", 1.0, id="primary, reset gone by"
        ),
        pytest.param(
            429,
            {"retry-after": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(START) + 90)},
            "",
            5.0,
            id="retry-after comes first",
        ),
    ],
)
def test_what_is_a_limit(status: int, headers: dict[str, str], text: str, seconds: float | None) -> None:
    assert limited_for(status, httpx.Headers(headers), text, START) == seconds


async def test_a_cool_down_holds_its_installation_only_and_ends() -> None:
    time = FakeTime()
    cooldowns = Cooldowns(time)
    cooldowns.start(9, 30.0)
    cooldowns.start(9, 10.0)
    cooldowns.check(8)
    with pytest.raises(Later) as held:
        cooldowns.check(9)
    assert held.value.seconds == 30.0
    await time.sleep(30.0)
    cooldowns.check(9)


async def test_writes_keep_their_distance() -> None:
    time = FakeTime()
    pace = Pace(time, 1.0)
    for _ in range(3):
        await pace.wait(9)
    await pace.wait(8)
    assert time.pauses == [1.0, 1.0]


async def test_a_long_queue_of_writes_is_later() -> None:
    time = FakeTime()
    pace = Pace(time, 30.0)
    await pace.wait(9)
    with pytest.raises(Later) as full:
        await pace.wait(9)
    assert full.value.seconds == 30.0
    assert time.pauses == []
