"""Refs, trees and commits: GitHub's errors, and ids that equal real git's."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.infra.local_github.scene import Scene

GIT = "/repos/acme/shop/git"


async def call(scene: Scene, method: str, path: str, body: object = None) -> httpx.Response:
    async with scene.http("ada") as client:
        return await client.request(method, GIT + path, json=body)


async def heads(scene: Scene) -> dict[str, str]:
    return await scene.gh.world.git.refs(scene.repo.id, "refs/heads/")


REF_ERRORS = [
    pytest.param("POST", "/refs", {"ref": "refs/heads/taken"}, 422, "Reference already exists", id="taken"),
    pytest.param(
        "POST", "/refs", {"ref": "refs/heads/taken/deep"}, 422, "Reference update failed", id="below a branch"
    ),
    pytest.param("POST", "/refs", {"ref": "refs/heads/dir"}, 422, "Reference update failed", id="above a branch"),
    pytest.param("POST", "/refs", {"ref": "heads/x"}, 422, "is not a valid ref name", id="no refs/"),
    pytest.param("POST", "/refs", {"ref": "refs/x"}, 422, "is not a valid ref name", id="one slash"),
    pytest.param("POST", "/refs", {"ref": "refs/heads/-x"}, 422, "is not a valid ref name", id="leading dash"),
    pytest.param("POST", "/refs", {"ref": "refs/heads/a..b"}, 422, "is not a valid ref name", id="dots"),
    pytest.param("POST", "/refs", {"ref": "refs/heads/a b"}, 422, "is not a valid ref name", id="space"),
    pytest.param("POST", "/refs", {"ref": "refs/heads/a\nb"}, 422, "is not a valid ref name", id="newline"),
    pytest.param("POST", "/refs", {"ref": "refs/heads/a.lock"}, 422, "is not a valid ref name", id="lock"),
    pytest.param("POST", "/refs", {"ref": "refs/pull/1/head"}, 422, "is not a valid ref name", id="pull refs are ours"),
    pytest.param(
        "POST", "/refs", {"ref": "refs/heads/n", "sha": "0" * 40}, 422, "Object does not exist", id="no object"
    ),
    pytest.param("POST", "/refs", {"ref": "refs/heads/n", "sha": "main"}, 422, "40 characters", id="no id"),
    pytest.param("POST", "/refs", {"sha": "0" * 40}, 422, "Validation Failed", id="no name"),
    pytest.param("PATCH", "/refs/heads/nope", {}, 422, "Reference does not exist", id="move what is not there"),
    pytest.param("PATCH", "/refs/heads/ahead", {}, 422, "Update is not a fast forward", id="move back"),
    pytest.param("DELETE", "/refs/heads/nope", None, 422, "Reference does not exist", id="delete what is not there"),
    pytest.param("DELETE", "/refs/heads/main", None, 422, "Cannot delete the default branch", id="delete main"),
    pytest.param("GET", "/ref/heads/nope", None, 404, "Not Found", id="read what is not there"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "said"), REF_ERRORS)
async def test_ref_errors(
    scene: Scene, method: str, path: str, body: dict[str, str] | None, status: int, said: str
) -> None:
    main = (await heads(scene))["refs/heads/main"]
    await scene.branch("taken")
    await scene.branch("ahead")
    await scene.branch("dir/below")
    before = await heads(scene)
    full = {"sha": main, **body} if body is not None and "sha" not in (body or {}) else body
    reply = await call(scene, method, path, full)
    assert (reply.status_code, said in reply.json()["message"]) == (status, True), reply.text
    assert await heads(scene) == before


async def test_forced_moves_and_deletions(scene: Scene) -> None:
    main = (await heads(scene))["refs/heads/main"]
    await scene.branch("work")
    moved = await call(scene, "PATCH", "/refs/heads/work", {"sha": main, "force": True})
    assert moved.json()["object"]["sha"] == main
    assert (await call(scene, "DELETE", "/refs/heads/work")).status_code == 204
    assert "refs/heads/work" not in await heads(scene)


async def test_an_empty_repository_says_so_until_a_file_is_put(scene: Scene) -> None:
    await scene.gh.world.add_repo("acme/empty")
    scene.gh.world.collaborate("acme/empty", "ada", "admin")
    async with scene.http("ada") as client:
        base = "/repos/acme/empty"
        for method, path in (("GET", "/git/ref/heads/main"), ("POST", "/git/blobs"), ("POST", "/git/trees")):
            reply = await client.request(method, base + path, json={} if method == "POST" else None)
            assert (reply.status_code, reply.json()["message"]) == (409, "Git Repository is empty.")
        put = await client.put(f"{base}/contents/README.md", json={"message": "Begin", "content": "aGk="})
        assert put.status_code == 201
        assert (await client.get(f"{base}/git/ref/heads/main")).status_code == 200


async def test_commit_ids_equal_real_git(scene: Scene, tmp_path: Path) -> None:
    main = (await heads(scene))["refs/heads/main"]
    tree = (await call(scene, "GET", f"/commits/{main}")).json()["tree"]["sha"]
    ada = {"name": "Ada Ünal", "email": "ada@example.org", "date": "2026-03-04T05:06:07Z"}
    bot = {"name": "bot", "email": "b@example.org", "date": "2026-03-04T07:06:07+02:00"}
    message = "Subject\n\nBody with ünïcode"
    body = {"message": message, "tree": tree, "parents": [main], "author": ada, "committer": bot}
    made = [(await call(scene, "POST", "/commits", body)).json()["sha"] for _ in range(2)]
    raw = (
        f"tree {tree}\nparent {main}\nauthor Ada Ünal <ada@example.org> 1772600767 +0000\n"
        f"committer bot <b@example.org> 1772600767 +0200\n\n{message}"
    )
    assert made == [await _hash(raw.encode(), tmp_path)] * 2


async def _hash(raw: bytes, where: Path) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
    args = ("hash-object", "-t", "commit", "--stdin")
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec("git", *args, cwd=where, env=env, stdin=pipe, stdout=pipe)
    return (await child.communicate(raw))[0].decode().strip()


def item(path: str, mode: str = "100644", **more: Any) -> dict[str, Any]:
    return {"path": path, "mode": mode, "type": "blob", **(more or {"content": "x"})}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(item("../up"), id="up"),
        pytest.param(item("/root"), id="absolute"),
        pytest.param(item("a//b"), id="empty part"),
        pytest.param(item("a/./b"), id="dot part"),
        pytest.param(item(".git/config"), id="git directory"),
        pytest.param(item("a/.GIT/hooks/x"), id="git directory in capitals"),
        pytest.param(item("git~1/x"), id="git directory's short name"),
        pytest.param(item("a\0b"), id="null byte"),
        pytest.param(item("x", mode="100777"), id="unknown mode"),
        pytest.param(item("x", sha="0" * 40), id="unknown blob"),
        pytest.param(item("nope", sha=None), id="delete what is not there"),
        pytest.param({"path": "x", "mode": "100644"}, id="neither content nor id"),
        pytest.param("x", id="no object"),
    ],
)
async def test_hostile_trees_are_refused(scene: Scene, entry: object) -> None:
    base = (await heads(scene))["refs/heads/main"]
    reply = await call(scene, "POST", "/trees", {"base_tree": base, "tree": [entry]})
    assert reply.status_code == 422, reply.text


async def test_trees_take_every_kind_of_entry(scene: Scene) -> None:
    base = (await heads(scene))["refs/heads/main"]
    odd = 'od"d näme\t*.txt'
    entries = [
        item(odd),
        item("run.sh", mode="100755"),
        item("link", mode="120000", content="README.md"),
        item("vendor", mode="160000", sha="1" * 40),
        item("src/shop.py", sha=None),
        item("README.md/now-a-directory"),
    ]
    made = (await call(scene, "POST", "/trees", {"base_tree": base, "tree": entries})).json()["sha"]
    listed = (await call(scene, "GET", f"/trees/{made}?recursive=1")).json()["tree"]
    modes = {entry["path"]: entry["mode"] for entry in listed}
    assert modes == {
        "README.md": "040000",
        "README.md/now-a-directory": "100644",
        odd: "100644",
        "run.sh": "100755",
        "link": "120000",
        "vendor": "160000",
    }


async def test_files_need_the_blob_they_replace(scene: Scene) -> None:
    async with scene.http("ada") as client:
        path = "/repos/acme/shop/contents/README.md"
        old = (await client.get(path)).json()["sha"]
        body = {"message": "m", "content": "aGk="}
        assert (await client.put(path, json=body)).status_code == 422
        assert (await client.put(path, json={**body, "sha": "1" * 40})).status_code == 409
        assert (await client.put(path, json={**body, "sha": old})).status_code == 200
