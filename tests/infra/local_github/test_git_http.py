"""Real git against the local GitHub: clone, fetch by id, push, and who may."""

from __future__ import annotations

import asyncio
import gzip
import os
from pathlib import Path

import httpx
import pytest

from infra.local_github import Protection
from tests.infra.local_github.scene import Scene


async def git(where: Path, *args: str) -> tuple[int, str]:
    """Run the real git; returns its exit status and all it printed."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(where),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    child = await asyncio.create_subprocess_exec(
        "git", *who, *args, cwd=where, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await asyncio.wait_for(child.communicate(), 30)
    return child.returncode or 0, out.decode()


def address(scene: Scene, token: str, suffix: str = ".git") -> str:
    host = scene.gh.url.removeprefix("http://")
    return f"http://x-access-token:{token}@{host}/acme/shop{suffix}"


async def committed(scene: Scene, where: Path, token: str, branch: str = "work") -> Path:
    code, said = await git(where, "clone", "-q", address(scene, token), "copy")
    assert code == 0, said
    copy = where / "copy"
    (copy / "new.txt").write_text("new\n")
    for args in (("checkout", "-q", "-B", branch), ("add", "."), ("commit", "-q", "-m", "Add new")):
        assert (await git(copy, *args))[0] == 0
    return copy


async def test_clone_push_and_what_follows(scene: Scene, tmp_path: Path) -> None:
    copy = await committed(scene, tmp_path, scene.tokens["bob"])
    assert await git(copy, "push", "-q", "origin", "work") == (0, "")
    number = (
        await scene.gh.act("bob", "POST", "/repos/acme/shop/pulls", {"title": "t", "head": "work", "base": "main"})
    )["number"]
    first = scene.repo.pulls[number].head_sha
    (copy / "more.txt").write_text("more\n")
    await git(copy, "add", ".")
    await git(copy, "commit", "-q", "-m", "Add more")
    assert (await git(copy, "push", "-q", "origin", "work"))[0] == 0
    assert scene.repo.pulls[number].head_sha != first
    assert (await git(copy, "push", "-q", "origin", ":work"))[0] == 0
    assert scene.repo.issues[number].state == "closed"


async def test_fetch_any_commit_by_id_shallow_and_filtered(scene: Scene, tmp_path: Path) -> None:
    sha = await scene.branch("side")
    await scene.gh.act("ada", "DELETE", "/repos/acme/shop/git/refs/heads/side")
    await git(tmp_path, "init", "-q", "--bare", "bare")
    args = ("--no-tags", "--depth=1", "--filter=blob:limit=16m", "--no-write-fetch-head")
    url = address(scene, await scene.token(permissions={"contents": "read"}), "")
    code, said = await git(tmp_path / "bare", "fetch", "-q", *args, url, sha)
    assert code == 0, said
    assert (await git(tmp_path / "bare", "cat-file", "-t", sha))[1].strip() == "commit"


@pytest.mark.parametrize(
    ("who", "clones", "pushes"),
    [
        pytest.param("ada", True, True, id="an admin"),
        pytest.param("bob", True, True, id="a writer"),
        pytest.param("eve", False, False, id="an outsider"),
        pytest.param("wrong", False, False, id="a wrong token"),
        pytest.param("contents:write", True, True, id="an installation that may write"),
        pytest.param("contents:read", True, False, id="an installation that may read"),
        pytest.param("issues:write", False, False, id="an installation without contents"),
    ],
)
async def test_who_may_clone_and_push(scene: Scene, tmp_path: Path, who: str, clones: bool, pushes: bool) -> None:
    name, _, level = who.partition(":")
    token = await scene.token(permissions={name: level}) if level else scene.tokens.get(who, "ghp_wrong")
    before = await scene.gh.world.git.refs(scene.repo.id)
    code, _ = await git(tmp_path, "clone", "-q", address(scene, token), "theirs")
    assert (code == 0) == clones
    copy = await committed(scene, tmp_path, scene.tokens["ada"])
    code, _ = await git(copy, "push", "-q", address(scene, token), "work")
    assert (code == 0) == pushes
    assert ("refs/heads/work" in await scene.gh.world.git.refs(scene.repo.id)) == pushes
    assert pushes or await scene.gh.world.git.refs(scene.repo.id) == before


async def test_protected_branches_and_pull_refs_are_not_pushed_to(scene: Scene, tmp_path: Path) -> None:
    scene.gh.world.protect("acme/shop", "main", Protection(approvals=1))
    copy = await committed(scene, tmp_path, scene.tokens["ada"], "main")
    before = await scene.gh.world.git.refs(scene.repo.id)
    for target in ("main:main", "main:refs/pull/9/head", "main:refs/heads/-x", ":main"):
        code, said = await git(copy, "push", "-q", "origin", target)
        assert code != 0, said
    assert await scene.gh.world.git.refs(scene.repo.id) == before


@pytest.mark.parametrize(
    ("method", "path", "headers", "content", "status"),
    [
        pytest.param("GET", "/info/refs?service=git-upload-pack", {}, b"", 200, id="smart"),
        pytest.param("GET", "/info/refs", {}, b"", 403, id="dumb protocol"),
        pytest.param("GET", "/info/refs?service=git-evil", {}, b"", 403, id="unknown service"),
        pytest.param("POST", "/git-upload-pack", {"content-encoding": "gzip"}, b"junk", 400, id="broken gzip"),
        pytest.param("POST", "/git-upload-pack", {"content-encoding": "br"}, b"junk", 415, id="another coding"),
        pytest.param("POST", "/git-upload-pack", {"content-encoding": "gzip"}, gzip.compress(b"0000"), 200, id="gzip"),
    ],
)
async def test_raw_requests(
    scene: Scene, method: str, path: str, headers: dict[str, str], content: bytes, status: int
) -> None:
    kind = {"content-type": "application/x-git-upload-pack-request"} if method == "POST" else {}
    async with httpx.AsyncClient(base_url=scene.gh.git_url("acme/shop"), auth=("x", scene.tokens["ada"])) as client:
        reply = await client.request(method, path, headers={**kind, **headers}, content=content)
    assert reply.status_code == status


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/acme/..%2f..%2fetc/info/refs?service=git-upload-pack", id="encoded climb"),
        pytest.param("/acme/nope.git/info/refs?service=git-upload-pack", id="no such repository"),
        pytest.param("/..//shop.git/info/refs?service=git-upload-pack", id="dots as owner"),
    ],
)
async def test_strange_addresses_find_nothing(scene: Scene, path: str) -> None:
    async with httpx.AsyncClient(base_url=scene.gh.url, auth=("x", scene.tokens["ada"])) as client:
        assert (await client.get(path)).status_code == 404
