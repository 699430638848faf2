"""What every `Workspaces` promises: the same cases on the fake and on real git work trees."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from agents.ports import SearchHit, ToolError
from handlers.events import RepoRef
from handlers.ports import GitHubError, TreeEdit, Workspaces
from infra.git.names import remote_for
from infra.git.repositories import Repositories
from infra.sandbox.bubblewrap import Sandbox
from infra.workspace.local import LocalWorkspaces, WorkspaceSettings
from tests.fakes.git_http import GitServer, serving
from tests.fakes.git_objects import object_sha
from tests.fakes.workspaces import FakeWorkspaces, tree_id

REPO = RepoRef(id=7, full_name="acme/shop", installation=1)
FILES = {
    "AGENTS.md": "Be kind.\n",
    "pytest.ini": "[pytest]\n",
    "src/a.py": "def value():\n    return 1\n",
    "src/b.py": "b = 2\n",
}


class Stage(Protocol):
    """Workspaces, and a way to put a commit where they find it."""

    @property
    def workspaces(self) -> Workspaces: ...

    def commit(self, files: Mapping[str, str]) -> str: ...


@dataclass(frozen=True)
class Real:
    """Git over HTTP and work trees on disk."""

    server: GitServer
    workspaces: LocalWorkspaces

    def commit(self, files: Mapping[str, str]) -> str:
        return self.server.repository(REPO.full_name, dict(files))


@dataclass(frozen=True)
class Fake:
    """Everything in dicts."""

    workspaces: FakeWorkspaces

    def commit(self, files: Mapping[str, str]) -> str:
        sha = tree_id(files)[:40]
        self.workspaces.commits[sha] = dict(files)
        return sha


async def _no_token(repo: RepoRef) -> str:
    return ""


@pytest.fixture(params=["fake", "real"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    if request.param == "fake":
        yield Fake(FakeWorkspaces({}))
        return
    with serving(tmp_path / "served") as server:
        repositories = Repositories(tmp_path / "git", remote_for(server.url), _no_token)
        yield Real(server, LocalWorkspaces(WorkspaceSettings(tmp_path), repositories, Sandbox()))


async def test_survey(stage: Stage) -> None:
    found = await stage.workspaces.survey(REPO, stage.commit(FILES))
    assert found.paths == tuple(sorted(FILES))
    assert found.files == 4
    assert found.guidance == (("AGENTS.md", "Be kind.\n"),)
    assert found.test_command == ("python", "-m", "pytest", "-q")
    assert found.test_command_source


async def test_reading(stage: Stage) -> None:
    async with stage.workspaces.open(REPO, stage.commit(FILES), None, ()) as workspace:
        assert (await workspace.read("src/a.py")).text == FILES["src/a.py"]
        assert (await workspace.read("src/a.py")).lines == 2
        assert await workspace.listing("") == ("AGENTS.md", "pytest.ini", "src/")
        assert await workspace.listing("src") == ("a.py", "b.py")
        assert await workspace.search(r"return \d", ".", 5) == (SearchHit("src/a.py", 2, "    return 1"),)
        assert await workspace.search("nothing like it", "", 5) == ()
        assert len(await workspace.search(".", "src", 2)) == 2


@pytest.mark.parametrize("path", ["no-such", "../x", "/etc/passwd", ".git/config", "src/.GIT/x", "a\0b"])
async def test_bad_paths(stage: Stage, path: str) -> None:
    async with stage.workspaces.open(REPO, stage.commit(FILES), None, ()) as workspace:
        with pytest.raises(ToolError):
            await workspace.read(path)
        with pytest.raises(ToolError):
            await workspace.delete(path)


async def test_untouched_tree_is_the_base(stage: Stage) -> None:
    async with stage.workspaces.open(REPO, stage.commit(FILES), None, ()) as workspace:
        snapshot = await workspace.snapshot()
        assert (snapshot.files, snapshot.pack, snapshot.diff) == ((), b"", "")
        assert await workspace.diff() == ""


async def test_changes_survive_in_tree_and_pack(stage: Stage) -> None:
    sha = stage.commit(FILES)
    async with stage.workspaces.open(REPO, sha, None, ()) as workspace:
        await workspace.write("src/a.py", "def value():\n    return 2\n")
        await workspace.write("new/c.py", "c = 3\n")
        await workspace.delete("src/b.py")
        snapshot = await workspace.snapshot()
        assert (await workspace.snapshot()).tree == snapshot.tree
    changed = [(file.path, file.status, file.additions, file.deletions) for file in snapshot.files]
    assert changed == [("new/c.py", "A", 1, 0), ("src/a.py", "M", 1, 1), ("src/b.py", "D", 0, 1)]
    assert "-    return 1\n+    return 2\n" in snapshot.diff
    async with stage.workspaces.open(REPO, sha, snapshot.tree, [snapshot.pack]) as again:
        assert (await again.read("new/c.py")).text == "c = 3\n"
        assert await again.listing("src") == ("a.py",)
        repeated = await again.snapshot()
        assert (repeated.tree, repeated.files) == (snapshot.tree, snapshot.files)
    edits = await stage.workspaces.contents(REPO, sha, snapshot.tree, [snapshot.pack])
    assert list(edits) == [
        TreeEdit("new/c.py", b"c = 3\n"),
        TreeEdit("src/a.py", b"def value():\n    return 2\n"),
        TreeEdit("src/b.py", None),
    ]


async def test_both_sides_of_a_change(stage: Stage) -> None:
    sha = stage.commit(FILES)
    async with stage.workspaces.open(REPO, sha, None, ()) as workspace:
        await workspace.write("new/c.py", "c = 3\n")
        await workspace.write("src/a.py", "a\n")
        await workspace.delete("src/b.py")
        fixed = await workspace.snapshot()
    found = await stage.workspaces.compare(REPO, sha, fixed.tree, [fixed.pack])
    assert [(one.path, one.old_mode, one.new_mode, one.old, one.new) for one in found] == [
        ("new/c.py", "000000", "100644", None, b"c = 3\n"),
        ("src/a.py", "100644", "100644", FILES["src/a.py"].encode(), b"a\n"),
        ("src/b.py", "100644", "000000", FILES["src/b.py"].encode(), None),
    ]
    assert [one.new_oid for one in found] == [
        object_sha("blob", b"c = 3\n"),
        object_sha("blob", b"a\n"),
        "0" * 40,
    ]
    assert [one.old_oid == "0" * 40 for one in found] == [True, False, False]
    assert not await stage.workspaces.compare(REPO, sha, tree_id(FILES), ())


async def test_trees_depend_on_the_files_alone(stage: Stage) -> None:
    sha = stage.commit(FILES)
    trees = set()
    for order in (("x", "y"), ("y", "x")):
        async with stage.workspaces.open(REPO, sha, None, ()) as workspace:
            for name in order:
                await workspace.write(name, name)
            trees.add((await workspace.snapshot()).tree)
    assert len(trees) == 1


async def test_work_trees_do_not_meet(stage: Stage) -> None:
    sha = stage.commit(FILES)
    async with (
        stage.workspaces.open(REPO, sha, None, ()) as one,
        stage.workspaces.open(REPO, sha, None, ()) as other,
    ):
        await one.write("src/a.py", "one")
        assert (await other.read("src/a.py")).text == FILES["src/a.py"]


async def test_what_is_not_there(stage: Stage) -> None:
    sha = stage.commit(FILES)
    with pytest.raises(GitHubError):
        async with stage.workspaces.open(REPO, "0" * 40, None, ()):
            pass
    with pytest.raises(GitHubError):
        async with stage.workspaces.open(REPO, sha, "0" * 40, ()):
            pass
    with pytest.raises(GitHubError):
        await stage.workspaces.survey(REPO, "0" * 40)
