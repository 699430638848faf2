"""One house without workers per session; each row starts and loses its own."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot import wiring
from tests.crash.crew import Crew
from tests.crash.play import Ended, undisturbed
from tests.e2e.house import House, open_house


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def empty_house() -> AsyncIterator[House]:
    async with open_house() as opened:
        await opened.stop_workers()
        yield opened


@pytest.fixture
def crew(empty_house: House) -> Iterator[Crew]:
    with employed(empty_house) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def expected(empty_house: House) -> Ended:
    with employed(empty_house) as crew:
        return await undisturbed(empty_house, crew)


@contextlib.contextmanager
def employed(house: House) -> Iterator[Crew]:
    """A crew whose leases and waits are short; all are gone at the end."""
    with tempfile.TemporaryDirectory(prefix="seconder-crash-") as folder:
        made = Crew(
            {
                **house.env,
                "REDIS_URL": wiring.url_of(house.hub.address),
                "SECONDER_PUBLIC_URL": house.web,
                "SECONDER_LEASE_S": "4",
                "SECONDER_SWEEP_S": "0.2",
                "SECONDER_SETTLE_S": "0.5",
            },
            Path(folder),
        )
        try:
            yield made
        finally:
            made.stop()
