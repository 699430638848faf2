"""What a work tree hands to whoever makes environments: the manifests as they stand, and no way out of the tree."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handlers.events import RepoRef
from infra.git.repositories import Repositories
from infra.sandbox.bubblewrap import Sandbox
from infra.workspace.local import LocalWorkspaces, WorkspaceSettings
from infra.workspace.needs import Manifests
from tests.fakes.git_http import GitServer, Item


@dataclass(frozen=True)
class Nothing:
    """No environment, with the reason."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    refused: tuple[str, ...] = ("requirements.txt: --pre (an option)",)
    blocked: tuple[str, ...] = ()
    problem: str = "its packages could not be fetched"


@dataclass
class Noting:
    """Notes what it is asked with."""

    seen: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def provided(self, kind: str, tree: Manifests) -> AsyncIterator[Nothing]:
        self.seen.append((kind, {path: tree.read(path) for path in sorted(tree.paths)}))
        yield Nothing()


async def test_manifests_are_those_of_the_tree_as_it_stands(
    server: GitServer, repositories: Repositories, repo: RepoRef, tmp_path: Path, testing_workspaces: LocalWorkspaces
) -> None:
    items: dict[str, Item | bytes | str] = {
        "requirements.txt": "a\n",
        "test_a.py": "def test_a(): pass\n",
        "setup.py": b"\xff\x00",
        "tox.ini": Item("/etc/passwd", "120000"),
    }
    sha = server.repository("acme/shop", items)
    noting = Noting()
    spaces = LocalWorkspaces(WorkspaceSettings(tmp_path / "data"), repositories, Sandbox(), None, noting)
    async with spaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("requirements.txt", "a\nb\n")
        report = await workspace.run_tests(())
    assert (report.outcome, report.reason) == ("not_run", "its packages could not be fetched")
    assert report.refused == ("requirements.txt: --pre (an option)",)
    assert noting.seen[0] == (
        "pytest",
        {"requirements.txt": "a\nb\n", "setup.py": None, "test_a.py": "def test_a(): pass\n", "tox.ini": "/etc/passwd"},
    )
