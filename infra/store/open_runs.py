"""The runs that have not ended: `handlers.ports.OpenRuns`."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.events import RepoRef
from infra.store.connection import Scripts, text


class RedisOpenRuns:
    """One sorted set, kept by START and by whatever ends a run."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def open(self) -> Sequence[str]:
        """Ids of the runs that have not ended, oldest first."""
        found = await self._scripts.command("ZRANGE", self._scripts.key("open-runs"), 0, -1)
        return [text(run) for run in found]

    async def moved(self, repo: RepoRef) -> int:
        """Note a repository's new name or installation in its open runs; returns in how many it was news."""
        return int(await self._scripts.run("moved", repo.id, repo.model_dump_json()))
