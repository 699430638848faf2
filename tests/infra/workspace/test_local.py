"""Work trees on disk: hostile repositories, hostile changes, and tests that try to change what is published."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from agents.ports import ToolError
from handlers.events import RepoRef
from handlers.ports import GitHubError, Refused, TooBig
from infra.git.repositories import Repositories
from infra.sandbox.bubblewrap import Sandbox
from infra.workspace.local import LocalWorkspaces, WorkspaceSettings
from tests.fakes.git_http import GitServer, Item

EVIL_ATTRIBUTES = "* filter=evil diff=evil merge=evil text=auto eol=crlf ident\n*.bin -diff\nx.py binary\n"


async def test_bytes_stay_as_they_are(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef, tmp_path: Path
) -> None:
    """Line ends, ident, filters, LFS pointers: the work tree holds what the repository holds; no change shows."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    contents = {
        ".gitattributes": EVIL_ATTRIBUTES + "*.psd filter=lfs diff=lfs merge=lfs -text\n",
        "crlf.txt": "a\r\nb\r\n",
        "lf.txt": "a\nb\n",
        "mixed.txt": "a\r\nb\n$Id$\n",
        "x.psd": pointer,
    }
    sha = server.repository("acme/shop", dict(contents))
    async with workspaces.open(repo, sha, None, ()) as workspace:
        for path, text in contents.items():
            assert (await workspace.read(path)).text == text
        assert (await workspace.snapshot()).files == ()
        await workspace.write("crlf.txt", "a\r\nc\r\n")
        snapshot = await workspace.snapshot()
    assert [file.path for file in snapshot.files] == ["crlf.txt"]
    edits = await workspaces.contents(repo, sha, snapshot.tree, [snapshot.pack])
    assert edits[0].content == b"a\r\nc\r\n"


async def test_attributes_cannot_hide_a_change(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {".gitattributes": "* -diff\nx.py binary\n", "x.py": "a\n"})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("x.py", "b\n")
        snapshot = await workspace.snapshot()
    assert "-a\n+b\n" in snapshot.diff
    assert snapshot.files[0].additions == 1


async def test_links_and_submodules_are_kept_and_not_followed(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    items: dict[str, Item | bytes | str] = {
        "a.py": "a\n",
        "passwd": Item("/etc/passwd", "120000"),
        "docs/up": Item("../../../etc", "120000"),
        "sub": Item("1" * 40, "160000"),
        "deep/sub": Item("2" * 40, "160000"),
    }
    sha = server.repository("acme/shop", items)
    assert (await workspaces.survey(repo, sha)).paths == ("a.py",)
    async with workspaces.open(repo, sha, None, ()) as workspace:
        assert (await workspace.snapshot()).files == ()
        for path in ("passwd", "docs/up", "docs/up/passwd", "sub/x"):
            with pytest.raises(ToolError):
                await workspace.read(path)
            with pytest.raises(ToolError):
                await workspace.write(path, "x")
            with pytest.raises(ToolError):
                await workspace.delete(path)
        await workspace.write("a.py", "b\n")
        snapshot = await workspace.snapshot()
    assert [file.path for file in snapshot.files] == ["a.py"]


def tree_of(workspaces: LocalWorkspaces) -> Path:
    """The one open work tree, as something that got around the file tools would find it."""
    (home,) = (workspaces.settings.data_dir / "work").iterdir()
    return home / "tree"


async def test_odd_modes_are_named(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {"a": "a", "link": Item("a", "120000"), "sub": Item("1" * 40, "160000")})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        (tree_of(workspaces) / "evil").symlink_to("/etc/passwd")
        with pytest.raises(ToolError, match="evil"):
            await workspace.snapshot()
        (tree_of(workspaces) / "evil").unlink()
        (tree_of(workspaces) / "link").write_text("/etc/passwd")
        with pytest.raises(ToolError, match="link"):
            await workspace.snapshot()
        (tree_of(workspaces) / "link").unlink()
        with pytest.raises(ToolError, match="link"):
            await workspace.snapshot()


async def test_a_tampered_work_tree_runs_nothing(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef, tmp_path: Path
) -> None:
    """`.git` directories, hooks, filters and embedded repositories in the work tree itself: git never reads them."""
    marker = tmp_path / "fired"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho $0 >> {marker}\ncat\n")
    script.chmod(0o755)
    sha = server.repository("acme/shop", {"a": "a\n", ".gitattributes": EVIL_ATTRIBUTES})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        tree = tree_of(workspaces)
        settings = (
            f"[core]\n\tfsmonitor = {script}\n\thooksPath = {tree}/.git/hooks\n\tpager = {script}\n"
            f'[filter "evil"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n\trequired = true\n'
            f'[diff "evil"]\n\tcommand = {script}\n\ttextconv = {script}\n[diff]\n\texternal = {script}\n'
            '[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://127.0.0.1\n'
        )
        for home in (tree / ".git", tree / "nested.git"):
            (home / "hooks").mkdir(parents=True)
            (home / "objects").mkdir()
            (home / "refs").mkdir()
            (home / "HEAD").write_text("ref: refs/heads/main\n")
            (home / "config").write_text(settings)
            for name in ("post-index-change", "pre-commit", "reference-transaction", "post-checkout"):
                (home / "hooks" / name).symlink_to(script)
        await workspace.write("a", "b\n")
        assert "+b" in await workspace.diff()
        for hook in (tree / "nested.git" / "hooks").iterdir():
            hook.unlink()  # links would be refused by the snapshot, for another good reason
        snapshot = await workspace.snapshot()
    paths = [file.path for file in snapshot.files]
    assert paths == ["a", "nested.git/HEAD", "nested.git/config"]
    later = server.repository("acme/shop", {"a": "c\n"})
    async with workspaces.open(repo, later, None, ()):  # still fetched from where it should be
        pass
    assert not marker.exists()


async def test_ignored_files_are_left_out_by_the_repositorys_own_rules(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    sha = server.repository("acme/shop", {".gitignore": "build/\n", "a": "a"})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("build/out", "x")
        await workspace.write("kept.log", "x")
        assert [file.path for file in (await workspace.snapshot()).files] == ["kept.log"]


async def test_names_that_collide_are_refused(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {"README.md": "a"})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("readme.md", "b")
        with pytest.raises(ToolError, match="differ only in case"):
            await workspace.snapshot()


async def test_modes(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {"run.sh": Item("#!/bin/sh\n", "100755"), "a": "a"})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("run.sh", "#!/bin/sh\necho\n")
        await workspace.write("new.sh", "#!/bin/sh\n")
        snapshot = await workspace.snapshot()
    assert [(file.path, file.new_mode) for file in snapshot.files] == [("new.sh", "100644"), ("run.sh", "100755")]
    edits = await workspaces.contents(repo, sha, snapshot.tree, [snapshot.pack])
    assert [(edit.path, edit.mode) for edit in edits] == [("new.sh", "100644"), ("run.sh", "100755")]


async def test_work_tree_is_private_and_gone_at_the_end(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    root = workspaces.settings.data_dir / "work"
    async with workspaces.open(repo, sha, None, ()):
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        assert not (tree_of(workspaces) / ".git").exists()
        assert len(list(root.iterdir())) == 1
    assert list(root.iterdir()) == []
    with pytest.raises(RuntimeError, match="planned"):
        async with workspaces.open(repo, sha, None, ()):
            raise RuntimeError("planned")
    with pytest.raises(GitHubError):
        async with workspaces.open(repo, sha, "f" * 40, ()):
            pass
    assert list(root.iterdir()) == []


async def test_new_objects_do_not_stay_with_the_host(
    server: GitServer, workspaces: LocalWorkspaces, repositories: Repositories, repo: RepoRef
) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    git_dir = await repositories.fetch(repo, sha)
    before = sorted(path.relative_to(git_dir) for path in git_dir.rglob("*"))
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("b", "b")
        snapshot = await workspace.snapshot()
    async with workspaces.open(repo, sha, snapshot.tree, [snapshot.pack]):
        pass
    assert sorted(path.relative_to(git_dir) for path in git_dir.rglob("*")) == before


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(b"not a pack", id="garbage"),
        pytest.param(b"PACK\0\0\0\2\0\0\0\1", id="cut"),
    ],
)
async def test_broken_packs(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef, pack: bytes) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    with pytest.raises(GitHubError):
        async with workspaces.open(repo, sha, None, [pack]):
            pass
    with pytest.raises(TooBig, match="over the limit"):
        async with workspaces.open(repo, sha, None, [b"x" * (9 << 20)]):
            pass


async def test_pack_with_a_hostile_tree_is_refused(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    """A pack comes from the store; even so its trees are judged like a repository's."""
    sha = server.repository("acme/shop", {"a": "a"})
    bare = server.root / "acme" / "shop.git"
    link = server.git(bare, "mktree", stdin=f"120000 blob {server.blob(bare, '/etc/passwd')}\tlink".encode())
    blob = server.git(bare, "rev-parse", f"{link}:link")
    done = _pack(server, bare, (link, blob))
    with pytest.raises(Refused, match="link"):
        await workspaces.contents(repo, sha, link, [done])
    git_directory = server.git(bare, "mktree", stdin=f"100644 blob {blob}\t.git".encode())
    with pytest.raises((GitHubError, TooBig)):
        await workspaces.contents(repo, sha, git_directory, [_pack(server, bare, (git_directory, blob))])


def _pack(server: GitServer, bare: Path, oids: tuple[str, ...]) -> bytes:
    name = server.git(bare, "pack-objects", "-q", str(bare / "made"), stdin="\n".join(oids).encode() + b"\n")
    return (bare / f"made-{name}.pack").read_bytes()


async def test_change_that_is_too_large(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    async with workspaces.open(repo, sha, None, ()) as workspace:
        for number in range(10):
            (tree_of(workspaces) / f"noise{number}").write_bytes(os.urandom(1 << 20))
        with pytest.raises(ToolError, match="too large"):
            await workspace.snapshot()


async def test_survey(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    files: dict[str, Item | bytes | str] = {f"d/f{number:04}": "" for number in range(2_100)}
    guides: dict[str, Item | bytes | str] = {
        "AGENTS.md": "x" * 20_000,
        "CLAUDE.md": b"caf\xe9",
        "Contributing.md": "c",
        ".github/PULL_REQUEST_TEMPLATE.md": "p",
        "docs/AGENTS.md": "not at the root",
        "Makefile": "test:\n\ttrue\n",
    }
    found = await workspaces.survey(repo, server.repository("acme/shop", {**files, **guides}))
    assert (len(found.paths), found.files) == (2_000, 2_106)
    assert list(found.paths) == sorted(found.paths)
    read = dict(found.guidance)
    assert sorted(read) == [".github/PULL_REQUEST_TEMPLATE.md", "AGENTS.md", "CLAUDE.md", "Contributing.md"]
    assert read["AGENTS.md"].endswith("[cut after 16,384 bytes]")
    assert read["CLAUDE.md"] == "caf\ufffd"
    assert (found.test_command, found.test_command_source) == (("make", "test"), "Makefile, target test")


async def test_configured_command_comes_first(
    server: GitServer, repositories: Repositories, repo: RepoRef, tmp_path: Path
) -> None:
    settings = WorkspaceSettings(tmp_path / "data", test_command=("./check", "all"))
    found = await LocalWorkspaces(settings, repositories, Sandbox()).survey(
        repo, server.repository("acme/shop", {"pytest.ini": ""})
    )
    assert (found.test_command, found.test_command_source) == (("./check", "all"), "configuration")


async def test_empty_tree(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {})
    assert (await workspaces.survey(repo, sha)).files == 0
    async with workspaces.open(repo, sha, None, ()) as workspace:
        assert await workspace.listing("") == ()
        assert (await workspace.run_tests(())).outcome == "not_run"
        await workspace.write("a", "a")
        assert len((await workspace.snapshot()).files) == 1


async def test_sweep(workspaces: LocalWorkspaces) -> None:
    root = workspaces.settings.data_dir / "work"
    for name, age in (("old", 100_000), ("young", 10)):
        (root / name / "tree").mkdir(parents=True)
        now = (root / name).stat().st_mtime
        os.utime(root / name, (now - age, now - age))
    assert await workspaces.sweep() == 1
    assert [path.name for path in root.iterdir()] == ["young"]


HOSTILE_TEST = """
import os, pathlib, subprocess, sys
import pytest

def test_tampers():
    root = pathlib.Path.cwd()
    (root / ".git" / "hooks").mkdir(parents=True, exist_ok=True)
    (root / ".git" / "config").write_text("[core]\\n\\tfsmonitor = touch fired\\n")
    (root / "shop.py").write_text("OWNED = True\\n")
    (root / "link").symlink_to("/etc/passwd")
    (root / "new.py").write_text("new\\n")
    for path in ("/seconder/src/shop.py", "/seconder/src/x"):
        with pytest.raises(OSError):
            open(path, "w")
    assert not [name for name in os.environ if "TOKEN" in name or "KEY" in name]

def test_imports():
    import shop, inner
    assert inner.x == 1

def test_fails():
    assert False

@pytest.mark.skip
def test_skipped(): ...
"""


async def test_tests_change_nothing(
    server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary")
    files = {"shop.py": "price = 1\n", "src/inner.py": "x = 1\n", "tests/test_shop.py": HOSTILE_TEST}
    sha = server.repository("acme/shop", dict(files))
    async with testing_workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.write("shop.py", "price = 2\n")
        before = await workspace.snapshot()
        report = await workspace.run_tests(())
        after = await workspace.snapshot()
        assert (await workspace.read("shop.py")).text == "price = 2\n"
        one = await workspace.run_tests(("tests/test_shop.py::test_imports",))
    assert after == before
    assert (report.outcome, report.exit_code, report.reason) == ("passed", 1, "exit"), report.output
    assert report.known == ("tests/test_shop.py::test_fails",), "it fails on the base commit as well"
    assert (report.passed, report.failed, report.skipped) == (2, 1, 1)
    assert report.isolation == "bubblewrap, no network"
    assert report.command == ("python", "-m", "pytest", "-q")
    assert (one.outcome, one.passed, one.failed) == ("passed", 1, 0), one.output


async def test_unittest_repository(server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    files = {
        "shop/__init__.py": "x = 1\n",
        "tests/__init__.py": "",
        "tests/test_shop.py": "import unittest, shop\n\nclass T(unittest.TestCase):\n"
        "    def test_x(self):\n        self.assertEqual(shop.x, 1)\n",
    }
    async with testing_workspaces.open(repo, server.repository("acme/shop", dict(files)), None, ()) as workspace:
        report = await workspace.run_tests(())
        one = await workspace.run_tests(("tests/test_shop.py::T::test_x",))
    assert (report.outcome, report.passed) == ("passed", 1), report.output
    assert (one.outcome, one.passed) == ("passed", 1), one.output


async def test_python_is_the_environments(
    server: GitServer, testing_workspaces: LocalWorkspaces, repo: RepoRef
) -> None:
    files = {"test_it.py": f"import sys\ndef test_it():\n    assert sys.prefix == {sys.prefix!r}\n"}
    async with testing_workspaces.open(repo, server.repository("acme/shop", dict(files)), None, ()) as workspace:
        report = await workspace.run_tests(())
    assert report.outcome == "passed", report.output
