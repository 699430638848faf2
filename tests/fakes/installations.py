"""The App's installations in memory, as the fake GitHub's world has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handlers.events import RepoRef
from handlers.ports import InstallationFacts, Installations, Refused
from tests.fakes.github_world import FakeWorld


class FakeInstallations:
    """`handlers.ports.Installations`. `forgotten` lists what was forgotten."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world
        self.forgotten: list[int] = []

    async def all(self) -> Sequence[InstallationFacts]:
        return await self._world.listing("installations.all", lambda: list(self._world.installed.values()))

    async def repositories(self, installation: int) -> Sequence[RepoRef]:
        def reach() -> list[RepoRef]:
            if self._world.installed[installation].suspended:
                raise Refused("GitHub: 403 This installation has been suspended")
            return [repo.ref for repo in self._world.repos.values() if repo.ref.installation == installation]

        return await self._world.do("installations.repositories", reach)

    def forget(self, installation: int) -> None:
        self.forgotten.append(installation)


def suspend(world: FakeWorld, installation: int = 500) -> None:
    """Its owner suspends the App."""
    world.installed[installation] = replace(world.installed[installation], suspended=True)


def move(world: FakeWorld, repo: RepoRef, full_name: str, installation: int = 500) -> RepoRef:
    """The repository is renamed, or transferred to where another installation of the App is; returns how it is now."""
    world.installed.setdefault(installation, InstallationFacts(installation, full_name.partition("/")[0], False))
    moved = RepoRef(id=repo.id, full_name=full_name, installation=installation)
    world.repos[repo.id].ref = moved
    return moved


_CHECK: type[Installations] = FakeInstallations
