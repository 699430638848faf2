"""The shell's own copy of the work tree: what is taken over from it, and what never is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.ports import CommandReport, ToolError
from handlers.events import RepoRef
from infra.git.names import path_problem
from infra.workspace import takeover
from infra.workspace.files import Files
from infra.workspace.local import LocalWorkspaces
from tests.fakes.git_http import GitServer, Item

FILES: dict[str, Item | bytes | str] = {
    "a.py": "a = 1\n",
    "run.sh": Item("#!/bin/sh\necho run\n", "100755"),
    "gone.txt": "x\n",
    "data.bin": b"\x00\xff",
    "link": Item("/etc/passwd", "120000"),
    "sub": Item("1" * 40, "160000"),
}


async def shell(workspaces: LocalWorkspaces, repo: RepoRef, sha: str, command: str) -> tuple[CommandReport, set[str]]:
    async with workspaces.open(repo, sha, None, ()) as workspace:
        report = await workspace.shell(command, 20.0)
        return report, {change.path for change in (await workspace.snapshot()).files}


async def test_what_a_command_changes_is_taken_over_and_nothing_else(
    server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    sha = server.repository("acme/shop", FILES)
    command = """
        echo 'a = 2' > a.py; rm gone.txt; mkdir -p new/deep; printf '\\000b' > new/deep/b.bin
        printf '#!/bin/sh\\n' > tool.sh; chmod +x tool.sh
        ln -s /etc/passwd stolen; ln -s /etc new/etc; mkfifo pipe; mkdir .git; echo x > .git/config; echo y > link
        ./run.sh; cat /etc/shadow; env | grep -c KEY; id -u
        (exec 3<>/dev/tcp/127.0.0.1/1) 2>/dev/null; echo done; exit 3
    """
    async with testing_workspaces.open(repo, sha, None, ()) as workspace:
        report = await workspace.shell(command, 20.0)
        snapshot = await workspace.snapshot()
        assert (await workspace.read("a.py")).text == "a = 2\n"
        with pytest.raises(ToolError, match="there is no stolen"):
            await workspace.read("stolen")
    assert (report.exit_code, report.reason) == (3, "exit"), report.output
    assert report.output.startswith("run\n")
    assert "root:" not in report.output
    modes = {change.path: (change.status, change.new_mode) for change in snapshot.files}
    assert modes == {
        "a.py": ("M", "100644"),
        "gone.txt": ("D", "000000"),
        "new/deep/b.bin": ("A", "100644"),
        "tool.sh": ("A", "100755"),
    }
    assert set(report.changed) == modes.keys() - {"gone.txt"}
    assert report.deleted == ("gone.txt",)
    left = " ".join(report.left)
    for name in ("stolen", "new/etc", "pipe", ".git/config", "link"):
        assert name in left


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param("echo hello", "exit", id="only printing"),
        pytest.param("sleep 60", "timeout", id="too long"),
        pytest.param("chmod 000 . a.py; mkdir -p x/y; chmod 000 x", "exit", id="odd modes"),
    ],
)
async def test_nothing_changes_where_nothing_was_changed(
    server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef, command: str, reason: str
) -> None:
    sha = server.repository("acme/shop", FILES)
    async with testing_workspaces.open(repo, sha, None, ()) as workspace:
        report = await workspace.shell(command, 1.0)
        assert report.reason == reason
        assert (await workspace.snapshot()).files == ()
        again = await workspace.shell("cat a.py", 5.0)
        assert again.output == "a = 1\n"


async def test_a_command_that_replaces_its_own_directory_takes_nothing_along(
    server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    sha = server.repository("acme/shop", FILES)
    async with testing_workspaces.open(repo, sha, None, ()) as workspace:
        with pytest.raises(ToolError, match="replaced its own directory"):
            await workspace.shell("cd ..; mv tree old; ln -s /etc tree", 10.0)
        with pytest.raises(ToolError, match="could not be started"):
            await workspace.shell("cd ..; rm -rf tree ready", 10.0)
        assert (await workspace.snapshot()).files == ()


def test_too_many_files_are_refused_before_one_is_written(tmp_path: Path) -> None:
    tree, copy = tmp_path / "tree", tmp_path / "copy"
    for place in (tree, copy):
        place.mkdir()
        (place / "a").write_text("a")
    for number in range(takeover.MAX_FILES + 1):
        (copy / f"n{number}").touch()
    files = Files(tree, path_problem, frozenset())
    with pytest.raises(ToolError, match="nothing was taken over"):
        takeover.plan(copy, tree, files)
    assert os.listdir(tree) == ["a"]


def test_a_large_file_stays_behind(tmp_path: Path) -> None:
    tree, copy = tmp_path / "tree", tmp_path / "copy"
    tree.mkdir()
    copy.mkdir()
    with (copy / "core").open("wb") as file:
        file.truncate(takeover.MAX_FILE + 1)
    found = takeover.plan(copy, tree, Files(tree, path_problem, frozenset()))
    assert found.written == {}
    assert found.left == [f"core ({takeover.MAX_FILE + 1:,} bytes are too many)"]
