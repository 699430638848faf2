"""One house per session and settings; every test has its own repository in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.e2e.house import House, open_house


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house() -> AsyncIterator[House]:
    async with open_house() as opened:
        yield opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def poor_house() -> AsyncIterator[House]:
    """A run may spend twelve cents there before it has to ask."""
    async with open_house(SECONDER_BUDGET_USD="0.12") as opened:
        yield opened
