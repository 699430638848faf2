"""One real Valkey server per test session; every test that asks for `store` gets an empty one with a short lease."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from infra.store import embedded
from tests.fakes.store import RealStore


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.EmbeddedServer]:
    running = embedded.start(tmp_path_factory.mktemp("valkey"))
    yield running
    running.stop()


@pytest.fixture
async def store(valkey: embedded.EmbeddedServer) -> AsyncIterator[RealStore]:
    made = RealStore(valkey, lease_s=0.6)
    yield made
    await made.close()
