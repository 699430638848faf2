"""Each repository's settings as they were last found to be good: `handlers.ports.Configs`."""

from __future__ import annotations

from handlers.events import RepoRef
from infra.store.connection import Scripts, text


class RedisConfigs:
    """One key per repository, by its id."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def get(self, repo: RepoRef) -> str | None:
        """The file's text; None when none was kept."""
        found = await self._scripts.command("GET", self._scripts.key("config", repo.id))
        return None if found is None else text(found)

    async def put(self, repo: RepoRef, content: str) -> None:
        """Keep a file's text; an empty one when the repository has none."""
        await self._scripts.command("SET", self._scripts.key("config", repo.id), content)
