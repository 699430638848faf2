"""A whole worker on fakes, with a lease that a busy machine does not lose."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from infra.store import embedded
from tests.fakes.store import RealStore
from tests.fakes.team import Team


@pytest.fixture
async def calm_store(valkey: embedded.EmbeddedServer) -> AsyncIterator[RealStore]:
    made = RealStore(valkey, lease_s=8.0)
    yield made
    await made.close()


@pytest.fixture
def team(calm_store: RealStore) -> Team:
    return Team(calm_store)
