"""Fetching single commits over HTTP into the host's own git directories."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from handlers.events import RepoRef
from handlers.ports import GitHubError, Later, Missing, Refused, TooBig
from infra.git.names import remote_for
from infra.git.repositories import GitLimits, Repositories
from infra.git.tree import TreeLimits
from tests.fakes.git_http import GitServer, Item, processes_showing, serving

REPO = RepoRef(id=42, full_name="acme/shop", installation=1)
TOKEN = "ghs_1234567_" + "eyJhbGciOi" * 40


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with serving(tmp_path / "served") as running:
        yield running


class Tokens:
    """Gives a token and remembers for whom."""

    def __init__(self, token: str = "") -> None:
        self.token = token
        self.asked: list[RepoRef] = []

    async def __call__(self, repo: RepoRef) -> str:
        self.asked.append(repo)
        return self.token


def made(tmp_path: Path, server: GitServer, token: str = "", limits: GitLimits | None = None) -> Repositories:
    return Repositories(tmp_path / "data" / "git", remote_for(f"{server.url}/api/v3"), Tokens(token), limits)


async def test_fetches_a_commit_by_its_id(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a.py": "x = 1\n", "d/run.sh": Item("#!/bin/sh\n", "100755")})
    repositories = made(tmp_path, server)
    git_dir = await repositories.fetch(REPO, sha)
    entries = await repositories.entries(git_dir, sha)
    assert [(entry.path, entry.mode, entry.size) for entry in entries] == [
        ("a.py", "100644", 6),
        ("d/run.sh", "100755", 10),
    ]
    assert stat.S_IMODE((tmp_path / "data" / "git").stat().st_mode) == 0o700


async def test_fetches_once_even_at_the_same_time(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    tokens = Tokens()
    repositories = Repositories(tmp_path / "git", remote_for(server.url), tokens)
    await asyncio.gather(*(repositories.fetch(REPO, sha) for _ in range(5)))
    await repositories.fetch(REPO, sha)
    assert tokens.asked == [REPO]


async def test_fetches_a_second_commit(tmp_path: Path, server: GitServer) -> None:
    first = server.repository("acme/shop", {"a": "1"})
    repositories = made(tmp_path, server)
    await repositories.fetch(REPO, first)
    second = server.repository("acme/shop", {"a": "2", "b": "3"})
    git_dir = await repositories.fetch(REPO, second)
    assert [entry.path for entry in await repositories.entries(git_dir, second)] == ["a", "b"]


async def test_token_goes_into_the_header_and_nowhere_else(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    server.token, server.delay_s = TOKEN, 0.3
    basic = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    repositories = made(tmp_path, server, TOKEN)
    fetching = asyncio.ensure_future(repositories.fetch(REPO, sha))
    shown: list[str] = []
    looks = 0
    while not fetching.done():
        shown += processes_showing(TOKEN) + processes_showing(basic)
        looks += len(processes_showing("no-write-fetch-head"))
        await asyncio.sleep(0.05)
    git_dir = await fetching
    assert looks > 0, "git was never seen running"
    assert shown == []
    assert server.seen
    assert all(header == f"Basic {basic}" for _, header in server.seen)
    assert TOKEN not in str([path for path, _ in server.seen])
    for file in (path for path in git_dir.rglob("*") if path.is_file()):
        raw = file.read_bytes()
        assert TOKEN.encode() not in raw, file
        assert basic.encode() not in raw, file
        assert b"127.0.0.1" not in raw, file


@pytest.mark.parametrize(
    ("name", "sha", "kind"),
    [
        pytest.param("acme/shop", "b" * 40, Missing, id="no-such-commit"),
        pytest.param("acme/none", "b" * 40, Missing, id="no-such-repository"),
        pytest.param("acme/shop", "main", Refused, id="branch-for-a-commit"),
        pytest.param("acme/shop", "--upload-pack=touch x", Refused, id="option-for-a-commit"),
        pytest.param("--upload-pack=x/y", "b" * 40, Refused, id="option-for-a-name"),
        pytest.param("acme/../x", "b" * 40, Refused, id="path-for-a-name"),
        pytest.param("acme/shop", "", Refused, id="empty-repository"),
    ],
)
async def test_what_cannot_be_fetched(
    tmp_path: Path, server: GitServer, name: str, sha: str, kind: type[GitHubError]
) -> None:
    server.repository("acme/shop", {"a": "a"})
    with pytest.raises(kind):
        await made(tmp_path, server).fetch(RepoRef(id=1, full_name=name, installation=1), sha)


async def test_a_tree_is_no_commit(tmp_path: Path, server: GitServer) -> None:
    server.repository("acme/shop", {"a": "a"})
    tree = server.git(server.root / "acme" / "shop.git", "rev-parse", "main^{tree}")
    with pytest.raises(GitHubError):
        await made(tmp_path, server).fetch(REPO, tree)


async def test_wrong_token_is_refused_and_not_shown(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    server.token = "another"
    with pytest.raises(Refused) as caught:
        await made(tmp_path, server, TOKEN).fetch(REPO, sha)
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_redirect_is_not_followed(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    with serving(tmp_path / "elsewhere") as other:
        server.redirect_to = other.url
        with pytest.raises(Refused, match="redirects are not followed"):
            await made(tmp_path, server, TOKEN).fetch(REPO, sha)
        assert other.seen == []


async def test_server_that_is_down_is_for_later(tmp_path: Path) -> None:
    async def token(repo: RepoRef) -> str:
        return ""

    repositories = Repositories(tmp_path / "git", remote_for("http://127.0.0.1:1"), token)
    with pytest.raises(Later):
        await repositories.fetch(REPO, "a" * 40)


async def test_slow_server_is_for_later(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"a": "a"})
    server.delay_s = 3
    with pytest.raises(Later, match="stopped after"):
        await made(tmp_path, server, limits=GitLimits(fetch_s=0.5)).fetch(REPO, sha)


LEFT_BEHIND = ("config.lock", "shallow.lock", "objects/pack/tmp_pack_ab12cd")


async def test_what_a_killed_git_left_behind_stops_no_later_fetch(tmp_path: Path, server: GitServer) -> None:
    first = server.repository("acme/shop", {"a": "1"})
    repositories = made(tmp_path, server)
    git_dir = await repositories.fetch(REPO, first)
    for name in LEFT_BEHIND:
        (git_dir / name).parent.mkdir(exist_ok=True)
        (git_dir / name).touch()
    second = server.repository("acme/shop", {"a": "2"})
    await repositories.fetch(REPO, second)
    assert [name for name in LEFT_BEHIND if (git_dir / name).exists()] == []


async def test_a_git_that_outlives_its_worker_is_left_in_peace(tmp_path: Path, server: GitServer) -> None:
    """Its lock files are not cleared away: it holds the directory through what it inherited."""
    first = server.repository("acme/shop", {"a": "1"})
    git_dir = await made(tmp_path, server).fetch(REPO, first)
    second = server.repository("acme/shop", {"a": "2"})
    with git_dir.with_suffix(".held").open("ab") as inherited:
        fcntl.flock(inherited, fcntl.LOCK_EX)
        orphan = await asyncio.create_subprocess_exec("sleep", "60", pass_fds=(inherited.fileno(),))
    (git_dir / "config.lock").touch()
    try:
        with pytest.raises(Later, match="another process"):
            await made(tmp_path, server, limits=GitLimits(fetch_s=0.3)).fetch(REPO, second)
        assert (git_dir / "config.lock").exists()
    finally:
        orphan.kill()
        await orphan.wait()
    await made(tmp_path, server).fetch(REPO, second)


async def test_two_workers_on_one_directory_fetch_at_once(tmp_path: Path, server: GitServer) -> None:
    shas = [server.repository("acme/shop", {"a": str(number)}) for number in range(6)]
    workers = [made(tmp_path, server) for _ in range(3)]
    await asyncio.gather(*(worker.fetch(REPO, sha) for worker in workers for sha in shas))


async def test_large_file_is_left_out_of_the_fetch_and_refused(tmp_path: Path, server: GitServer) -> None:
    sha = server.repository("acme/shop", {"big": b"x" * 200_000, "a": "a"})
    repositories = made(tmp_path, server, limits=GitLimits(tree=TreeLimits(blob_bytes=100_000)))
    git_dir = await repositories.fetch(REPO, sha)
    before = len(server.seen)
    with pytest.raises(TooBig, match="the file 'big' is over the limit of 100,000 bytes"):
        await repositories.entries(git_dir, sha)
    assert len(server.seen) == before, "git went to fetch the missing file"


async def test_tree_of_ten_million_paths_is_refused_quickly(tmp_path: Path, server: GitServer) -> None:
    server.repository("acme/shop", {"a": "a"})
    bare = server.root / "acme" / "shop.git"
    tree = server.git(bare, "mktree", stdin=f"100644 blob {server.blob(bare, 'a')}\ta".encode())
    for _ in range(7):
        rows = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        tree = server.git(bare, "mktree", stdin=rows.encode())
    sha = server.commit(bare, tree)
    repositories = made(tmp_path, server)
    git_dir = await repositories.fetch(REPO, sha)
    async with asyncio.timeout(20):
        with pytest.raises(TooBig, match="more than 100,000 files"):
            await repositories.entries(git_dir, sha)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(".git/config", id="git-directory"),
        pytest.param("a/.GIT/hooks/x", id="git-directory-case"),
        pytest.param("git~1/config", id="short-name"),
        pytest.param("a\nb", id="newline"),
        pytest.param("a\x1b[31m", id="escape"),
        pytest.param("a\udcff", id="not-utf8"),
        pytest.param("../up", id="up"),
        pytest.param("a\\..\\b", id="backslash"),
    ],
)
async def test_hostile_names_are_refused_before_checkout(tmp_path: Path, server: GitServer, path: str) -> None:
    sha = server.repository("acme/shop", {"a.txt": "a", path: "evil"})
    repositories = made(tmp_path, server)
    with pytest.raises((TooBig, Refused)):  # git's own checks refuse some at the fetch already
        await repositories.entries(await repositories.fetch(REPO, sha), sha)
