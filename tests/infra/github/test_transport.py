from __future__ import annotations

import httpx
import pytest

from infra.github.transport import SharedTransport
from tests.infra.github.conftest import START, FakeTime


class Pool(httpx.AsyncBaseTransport):
    """Answers with the given headers; knows whether it was closed."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.closed = False
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=self._headers)

    async def aclose(self) -> None:
        self.closed = True


async def test_the_pool_outlives_its_clients() -> None:
    pool = Pool({})
    shared = SharedTransport(pool, FakeTime())
    for _ in range(2):
        async with httpx.AsyncClient(transport=shared) as client:
            await client.get("https://api.github.com/")
    assert not pool.closed
    await shared.close()
    assert pool.closed


@pytest.mark.parametrize(
    ("name", "sent", "seen"),
    [
        pytest.param("retry-after", "30", "30", id="a number"),
        pytest.param("retry-after", "1.2", "2", id="a fraction"),
        pytest.param("retry-after", "soon", "60", id="a word"),
        pytest.param("x-ratelimit-reset", "1800000090", "1800000090", id="a time"),
        pytest.param("x-ratelimit-reset", "-1", str(int(START) + 60), id="a negative time"),
        pytest.param("x-ratelimit-reset", "9" * 30, str(int(START) + 60), id="a time beyond all calendars"),
    ],
)
async def test_times_are_whole_numbers_for_githubkit(name: str, sent: str, seen: str) -> None:
    shared = SharedTransport(Pool({name: sent}), FakeTime())
    async with httpx.AsyncClient(transport=shared) as client:
        answer = await client.get("https://api.github.com/")
    assert answer.headers[name] == seen
    assert int(answer.headers[name]) > 0
