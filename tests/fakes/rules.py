"""What the fake GitHub asks of pull requests."""

from __future__ import annotations

from collections.abc import Sequence

from handlers.events import Actor, RepoRef
from handlers.ports import MOST_FILES, BranchRules, ChangedFile
from tests.fakes.github_world import FakeWorld


class FakeRules:
    """`handlers.ports.Rules`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def of_branch(self, repo: RepoRef, branch: str) -> BranchRules:
        return await self._world.do("rules.of_branch", lambda: self._world.at(repo).rules.get(branch, BranchRules()))

    async def changed(self, repo: RepoRef, number: int) -> Sequence[ChangedFile]:
        return await self._world.do("rules.changed", lambda: self._changed(repo, number)[:MOST_FILES])

    async def file(self, repo: RepoRef, ref: str, path: str) -> bytes | None:
        def look() -> bytes | None:
            state = self._world.at(repo)
            commit = state.commits.get(state.branches.get(ref, ref))
            found = commit.files.get(path) if commit else None
            return found[1] if found else None

        return await self._world.do("rules.file", look)

    async def team(self, repo: RepoRef, organisation: str, slug: str) -> Sequence[Actor] | None:
        def look() -> list[Actor] | None:
            found = self._world.at(repo).teams.get(f"{organisation}/{slug}".casefold())
            if found is None or found[0] not in ("write", "maintain", "admin"):
                return None
            return [self._world.accounts[number] for number in found[1]]

        return await self._world.do("rules.team", look)

    def _changed(self, repo: RepoRef, number: int) -> list[ChangedFile]:
        """By content: a file that is gone here and new there with the same bytes was renamed."""
        world, pull = self._world, self._world.pull(repo, number)
        head = self._world.head_of(repo, number)
        theirs = world.behind(repo, world.at(repo).branches[pull.base])
        fork = next((sha for sha in world.newest_first(repo, head) if sha in theirs), None)
        old, new = (world.commit(repo, fork).files if fork else {}), world.commit(repo, head).files
        gone = {content: path for path, (_, content) in old.items() if path not in new}
        return [
            ChangedFile(path, None if path in old else gone.pop(new[path][1], None))
            for path in sorted(new)
            if old.get(path) != new[path]
        ] + [ChangedFile(path) for path in sorted(gone.values())]
