"""How git is started: nothing of the surroundings gets in, nothing unbounded comes out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handlers.ports import GitHubError, TooBig
from infra.git.runner import Bounds, Command, Git, GitFailed, GitTimedOut, OutputTooLong, Place, Secret


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    git_dir = tmp_path / "x.git"
    git_dir.mkdir()
    tree = tmp_path / "tree"
    tree.mkdir()
    git = Git(tmp_path / "home")
    await git.run(Command(("init", "--quiet", "--bare", "--template="), Place(git_dir)))
    return Place(git_dir, tree, tmp_path / "index")


def marker_script(tmp_path: Path) -> tuple[Path, Path]:
    marker = tmp_path / "fired"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho fired >> {marker}\n")
    script.chmod(0o755)
    return script, marker


async def test_variables_of_the_surroundings_do_not_reach_git(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, marker = marker_script(tmp_path)
    templates = tmp_path / "templates" / "hooks"
    templates.mkdir(parents=True)
    (templates / "post-index-change").symlink_to(script)
    for name, value in {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(script),
        "GIT_TEMPLATE_DIR": str(tmp_path / "templates"),
        "GIT_EXTERNAL_DIFF": str(script),
        "GIT_DIR": str(tmp_path),
        "GIT_SSH_COMMAND": str(script),
    }.items():
        monkeypatch.setenv(name, value)
    assert place.work_tree is not None
    (place.work_tree / "a").write_text("a")
    git = Git(tmp_path / "home")
    await git.run(Command(("add", "--all"), place))
    await git.run(Command(("status", "--short"), place))
    fresh = tmp_path / "fresh.git"
    fresh.mkdir()
    await git.run(Command(("init", "--quiet", "--bare"), Place(fresh)))
    assert not (fresh / "hooks").exists()
    assert not marker.exists()


async def test_settings_in_the_git_directory_do_not_run_programs(tmp_path: Path, place: Place) -> None:
    script, marker = marker_script(tmp_path)
    assert place.work_tree is not None
    hooks = place.git_dir / "hooks"
    hooks.mkdir()
    (hooks / "post-index-change").symlink_to(script)
    with (place.git_dir / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {script}\n\thooksPath = {hooks}\n\tpager = {script}\n")
        config.write(f"[diff]\n\texternal = {script}\n[gpg]\n\tprogram = {script}\n")
    (place.work_tree / "a").write_text("a")
    git = Git(tmp_path / "home")
    for words in (("add", "--all"), ("status",), ("diff", "--cached", "--no-ext-diff"), ("write-tree",)):
        await git.run(Command(words, place))
    assert not marker.exists()


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("ext::sh -c touch% fired", id="ext"),
        pytest.param("file:///tmp", id="file"),
        pytest.param("/tmp", id="path"),
        pytest.param("ssh://-oProxyCommand=touch/x", id="ssh-option"),
        pytest.param("git@127.0.0.1:o/r.git", id="ssh"),
        pytest.param("git://127.0.0.1/o/r.git", id="git"),
        pytest.param("http://127.0.0.1:1/o/r.git", id="http"),
    ],
)
async def test_only_the_named_protocol_is_spoken(tmp_path: Path, place: Place, url: str) -> None:
    with (place.git_dir / "config").open("a") as config:
        config.write('[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n')
    command = Command(("fetch", "--", url, "a" * 40), place, bounds=Bounds(10, protocol="https"))
    with pytest.raises(GitFailed, match=r"not allowed|blocked|does not appear"):
        await Git(tmp_path / "home").run(command)
    assert not (tmp_path / "home" / "fired").exists()


async def test_errors_hold_no_secret_and_no_escapes(tmp_path: Path, place: Place) -> None:
    secret = Secret("http.https://x.test/.extraHeader", "Authorization: Basic c2VjcmV0", ("c2VjcmV0", "tok-123"))
    words = ("cat-file", "-t", "tok-123 c2VjcmV0 \x1b[31mred")
    with pytest.raises(GitFailed) as caught:
        await Git(tmp_path / "home").run(Command(words, place, secret=secret))
    text = str(caught.value) + caught.value.stderr
    assert "tok-123" not in text
    assert "c2VjcmV0" not in text
    assert "\x1b" not in text
    assert isinstance(caught.value, GitHubError)


async def test_time_is_bounded(tmp_path: Path, place: Place) -> None:
    # hash-object waits for the end of a FIFO that nobody writes to.
    fifo = tmp_path / "fifo"
    assert (await asyncio.create_subprocess_exec("mkfifo", str(fifo))) is not None
    await asyncio.sleep(0.2)
    with pytest.raises(GitTimedOut):
        await Git(tmp_path / "home").run(Command(("hash-object", str(fifo)), place, bounds=Bounds(0.4)))


async def test_output_is_bounded(tmp_path: Path, place: Place) -> None:
    git = Git(tmp_path / "home")
    oid = (await git.run(Command(("hash-object", "-w", "--stdin"), place, stdin=b"x" * 3_000_000))).decode().strip()
    with pytest.raises(OutputTooLong) as caught:
        await git.run(Command(("cat-file", "blob", oid), place, bounds=Bounds(10, 100_000)))
    assert isinstance(caught.value, TooBig)
    assert len(await git.run(Command(("cat-file", "blob", oid), place))) == 3_000_000


async def test_an_embedded_bare_repository_is_plain_files(tmp_path: Path, place: Place) -> None:
    script, marker = marker_script(tmp_path)
    assert place.work_tree is not None
    bare = place.work_tree / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = {script}\n\tworktree = ..\n")
    git = Git(tmp_path / "home")
    await git.run(Command(("add", "--all"), place))
    listed = await git.run(Command(("ls-files",), place))
    assert listed.split() == [b"bare/HEAD", b"bare/config"]
    assert not marker.exists()
