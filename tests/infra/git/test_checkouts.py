"""People's repositories in all their shapes: looked at, copied, given one branch, and otherwise left as they are."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.git.checkouts import CannotUse, Changes, Checkouts, NewBranch

WANTED = "seconder/issue-1-fix"


def git(folder: Path, *words: str, stdin: str = "") -> str:
    """Run git as the repository's owner would, with nobody else's settings."""
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
    who |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", *words], cwd=folder, env=env, input=stdin, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(folder: Path, branch: str = "main") -> Path:
    """Two commits, a stash, a staged and an unstaged change, an untracked and an ignored file."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    (folder / "a.py").write_text("x = 1\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.py").write_text("y = 1\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    (folder / "a.py").write_text("x = 2\n")
    git(folder, "commit", "-qam", "Second")
    (folder / "a.py").write_text("x = 3\n")
    git(folder, "stash", "-q")
    (folder / "a.py").write_text("x = 4\n")
    (folder / "sub" / "b.py").write_text("y = 2\n")
    git(folder, "add", "sub/b.py")
    (folder / "new.py").write_text("")
    (folder / "run.log").write_text("")
    return folder


def everything(folder: Path, but: str = "") -> dict[str, str]:
    """Every file below a folder with its content's digest and its time, without objects and without one path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        inside = "/objects/" in f"/{name}" or name == but or but.startswith(f"{name}/")
        if not inside and path.is_file():
            found[name] = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
    return found


async def solved(checkouts: Checkouts, path: Path, work: Path) -> tuple[str, str]:
    """Copy, commit in the copy as the publisher does, take; returns the new branch's name and commit."""
    checkout = await checkouts.look(path)
    await checkouts.changes(checkout)
    copy = work / "copy.git"
    await checkouts.copy(checkout, copy)
    blob = git(copy, "hash-object", "-w", "--stdin", stdin="x = 5\n")
    tree = git(copy, "mktree", stdin=f"100644 blob {blob}\ta.py\n")
    sha = git(copy, "commit-tree", tree, "-p", checkout.head, "-m", "Fix")
    git(copy, "update-ref", f"refs/heads/{WANTED}", sha)
    return await checkouts.take(checkout, NewBranch(copy, WANTED, sha, checkout.head)), sha


def plain(folder: Path) -> Path:
    return repository(folder / "shop")


def other_branch(folder: Path) -> Path:
    return repository(folder / "shop", "work/ünïcode")


def detached(folder: Path) -> Path:
    path = repository(folder / "shop")
    git(path, "stash", "drop", "-q")
    git(path, "checkout", "-q", "--detach", "HEAD")
    return path


def subfolder(folder: Path) -> Path:
    return repository(folder / "shop") / "sub"


def bare(folder: Path) -> Path:
    git(folder, "clone", "-q", "--bare", str(repository(folder / "shop")), "bare.git")
    return folder / "bare.git"


def worktree(folder: Path) -> Path:
    git(repository(folder / "shop"), "worktree", "add", "-q", "-b", "other", str(folder / "linked"))
    return folder / "linked"


def shallow(folder: Path) -> Path:
    git(folder, "clone", "-q", "--depth=1", f"file://{repository(folder / 'shop')}", "shallow")
    return folder / "shallow"


def packed(folder: Path) -> Path:
    path = repository(folder / "shop")
    git(path, "gc", "-q")
    return path


def borrowing(folder: Path) -> Path:
    git(folder, "clone", "-q", "--shared", str(repository(folder / "shop")), "borrowing")
    return folder / "borrowing"


def inside_git(folder: Path) -> Path:
    return repository(folder / "shop") / ".git" / "refs"


@pytest.mark.parametrize(
    ("make", "branch", "base", "changes"),
    [
        pytest.param(plain, "main", "main", Changes(2, 1), id="plain"),
        pytest.param(other_branch, "work/ünïcode", "base-", Changes(2, 1), id="a branch that GitHub's copy renames"),
        pytest.param(detached, None, "base-", Changes(2, 1), id="detached HEAD"),
        pytest.param(subfolder, "main", "main", Changes(2, 1), id="a subfolder"),
        pytest.param(bare, "main", "main", Changes(), id="bare"),
        pytest.param(worktree, "other", "other", Changes(), id="a linked work tree"),
        pytest.param(shallow, "main", "main", Changes(), id="shallow"),
        pytest.param(packed, "main", "main", Changes(2, 1), id="packed"),
        pytest.param(borrowing, "main", "main", Changes(), id="objects borrowed from another"),
        pytest.param(inside_git, "main", "main", Changes(2, 1), id="inside .git"),
    ],
)
async def test_a_branch_comes_over_and_nothing_else_changes(
    tmp_path: Path, make: Callable[[Path], Path], branch: str | None, base: str, changes: Changes
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    path = make(theirs)
    checkouts = Checkouts(tmp_path / "ours")
    checkout = await checkouts.look(path)
    assert checkout.branch == branch
    assert checkout.base.startswith(base)
    assert await checkouts.changes(checkout) == changes
    ref = (checkout.common / "refs" / "heads" / WANTED).relative_to(theirs).as_posix()
    before = everything(theirs)
    assert (await solved(checkouts, path, tmp_path / "ours"))[0] == WANTED
    assert everything(theirs, but=ref) == before
    assert git(checkout.common, "log", "-1", "--format=%s %P", WANTED) == f"Fix {checkout.head}"
    assert git(checkout.common, "fsck", "--no-dangling", "--connectivity-only") == ""


POISON = """
[core]
	fsmonitor = touch {marker}
	hooksPath = {hooks}
	alternateRefsCommand = touch {marker}
	pager = touch {marker}
	editor = touch {marker}
	sshCommand = touch {marker}
	gitProxy = touch {marker}
	logAllRefUpdates = always
	excludesFile = {hooks}/none
[filter "evil"]
	clean = touch {marker}
	smudge = touch {marker}
	required = true
[diff]
	external = touch {marker}
[diff "evil"]
	textconv = touch {marker}
[extensions]
	partialClone = evil
[remote "evil"]
	url = "ext::touch {marker}"
	promisor = true
	uploadpack = touch {marker}
[url "ext::touch {marker} "]
	insteadOf = /
[fetch]
	prune = true
[gc]
	auto = 1
[maintenance]
	auto = true
"""


async def test_a_poisoned_repository_runs_nothing(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    path, marker, hooks = repository(theirs / "shop"), tmp_path / "marker", theirs / "hooks"
    (path / ".gitattributes").write_text("* filter=evil diff=evil\n")
    hooks.mkdir()
    for folder in (hooks, path / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("reference-transaction", "post-checkout", "post-index-change", "fsmonitor-watchman", "pre-push"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
            (folder / name).chmod(0o755)
    with (path / ".git" / "config").open("a") as config:
        config.write(POISON.format(marker=marker, hooks=hooks))
    os.utime(path / "sub" / "b.py", (1, 1))
    before = everything(theirs)
    assert (await solved(Checkouts(tmp_path / "ours"), path, tmp_path / "ours"))[0] == WANTED
    assert everything(theirs, but=f"shop/.git/refs/heads/{WANTED}") == before
    assert not marker.exists()
    git(path, "status")
    assert marker.exists(), "the poison works"


def no_commit(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    return folder


def broken_head(folder: Path) -> Path:
    path = repository(folder / "shop")
    (path / ".git" / "HEAD").write_text("1" * 40 + "\n")
    return path


def lost_worktree(folder: Path) -> Path:
    (folder / ".git").write_text("gitdir: /nowhere/.git/worktrees/x\n")
    return folder


def newer_format(folder: Path) -> Path:
    path = repository(folder / "shop")
    git(path, "config", "core.repositoryFormatVersion", "7")
    return path


def sha256(folder: Path) -> Path:
    git(folder, "init", "-q", "--object-format=sha256")
    git(folder, "commit", "-q", "--allow-empty", "-m", "First")
    return folder


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda folder: folder / "nothing", "does not exist", id="no such path"),
        pytest.param(lambda folder: Path(__file__), "is a file", id="a file"),
        pytest.param(lambda folder: folder, "is no git repository, and in none", id="no repository"),
        pytest.param(no_commit, "has no commit on main yet", id="no commit"),
        pytest.param(broken_head, "HEAD names a commit that is not there", id="HEAD leads nowhere"),
        pytest.param(lost_worktree, "leads to no git directory any more", id="a work tree whose repository is gone"),
        pytest.param(newer_format, "git cannot read this repository", id="a format of the future"),
        pytest.param(sha256, "by SHA-256", id="SHA-256"),
    ],
)
async def test_what_cannot_be_used_is_said(tmp_path: Path, make: Callable[[Path], Path], why: str) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    path = make(theirs)
    with pytest.raises(CannotUse, match=why):
        await Checkouts(tmp_path / "ours").look(path)


async def test_a_repository_without_all_its_objects_is_not_copied(tmp_path: Path) -> None:
    path = repository(tmp_path / "shop")
    blob = git(path, "rev-parse", "HEAD:sub/b.py")
    (path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    checkouts = Checkouts(tmp_path / "ours")
    with pytest.raises(CannotUse, match="cannot be copied"):
        await checkouts.copy(await checkouts.look(path), tmp_path / "copy.git")


@pytest.mark.parametrize(
    ("there", "name"),
    [
        pytest.param([], WANTED, id="free"),
        pytest.param([WANTED], f"{WANTED}-2", id="taken"),
        pytest.param([WANTED, f"{WANTED}-2"], f"{WANTED}-3", id="taken twice"),
        pytest.param(["seconder"], WANTED.replace("/", "-"), id="a branch is called like our folder"),
        pytest.param([f"{WANTED}/x"], f"{WANTED}-2", id="our name is a folder"),
    ],
)
async def test_no_branch_is_ever_overwritten(tmp_path: Path, there: list[str], name: str) -> None:
    path = repository(tmp_path / "theirs")
    for branch in there:
        git(path, "branch", branch)
    before = git(path, "for-each-ref", "refs/heads")
    checkouts = Checkouts(tmp_path / "ours")
    taken, sha = await solved(checkouts, path, tmp_path / "ours")
    assert taken == name
    after = git(path, "for-each-ref", "refs/heads")
    assert set(before.splitlines()) < set(after.splitlines())
    copy = NewBranch(tmp_path / "ours" / "copy.git", WANTED, sha, git(path, "rev-parse", "main"))
    assert await checkouts.take(await checkouts.look(path), copy) == name, "a second time it is known"


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        pytest.param(
            '[hook "x"]\n\tcommand = true\n\tevent = reference-transaction\n', "run when a branch", id="hooks"
        ),
        pytest.param("[broken\n", "bad config", id="settings that cannot be read"),
    ],
)
async def test_a_branch_that_cannot_be_made_is_said(tmp_path: Path, break_it: str, why: str) -> None:
    path = repository(tmp_path / "theirs")
    checkouts = Checkouts(tmp_path / "ours")
    checkout = await checkouts.look(path)
    await checkouts.copy(checkout, tmp_path / "copy.git")
    with (path / ".git" / "config").open("a") as config:
        config.write(break_it)
    with pytest.raises(CannotUse, match=why):
        await checkouts.take(checkout, NewBranch(tmp_path / "copy.git", WANTED, checkout.head, checkout.head))
