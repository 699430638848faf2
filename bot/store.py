"""The store for a short look from the command line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot import wiring
from bot.settings import Settings


class NoStore(Exception):
    """There is no store to look into; the text says where one was looked for."""


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[wiring.Hub]:
    """The store of these settings: the one at REDIS_URL, else the data directory's own, which is started for as long
    where it does not run. Raises `NoStore`."""
    if settings.redis_url is not None:
        async with wiring.open_hub(wiring.address_of(settings), brief=True) as hub:
            yield hub
        return
    folder = settings.data_dir.resolve()
    if not (folder / "store").is_dir():
        raise NoStore(f"There is no store in {folder}. Set REDIS_URL or SECONDER_DATA_DIR to where the runs are.")
    server = wiring.start_embedded(folder, leashed=True)
    try:
        async with wiring.open_hub(server.address, brief=True) as hub:
            yield hub
    finally:
        if server.owned:
            server.stop()
