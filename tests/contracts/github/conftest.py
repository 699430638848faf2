"""The stage that every contract case plays on: once the fake, once the real adapters."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.contracts.github.stage import FakeStage, LocalServer, Stage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalServer]:
    async with LocalServer.start(tmp_path_factory.mktemp("github")) as running:
        yield running


@pytest_asyncio.fixture(params=["fake", "local"], loop_scope="module")
async def stage(request: pytest.FixtureRequest, server: LocalServer) -> AsyncIterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
    else:
        async with server.stage() as local:
            yield local
