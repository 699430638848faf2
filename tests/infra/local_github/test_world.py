"""Setting up a world, keeping it over a restart, and the planned faults."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import httpx
import pytest

from infra.local_github import AppSpec, Fault, LocalGitHub, World
from tests.infra.local_github.scene import Scene

COMMENTS = "/repos/acme/shop/issues/1/comments"


async def test_everything_survives_a_restart(tmp_path: Path, app_key: str) -> None:
    data = tmp_path / "data"
    spec = AppSpec("seconder", {"issues": "write"}, ["issues"], "http://127.0.0.1:1/", "s", private_key_pem=app_key)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a\n")
    async with LocalGitHub.start(data) as gh:
        gh.world.add_user("acme")
        await gh.world.add_repo_from_files("acme/shop", tmp_path / "files")
        gh.world.add_app("acme", spec)
        gh.world.install("seconder", ["acme/shop"])
        await gh.act("acme", "POST", "/repos/acme/shop/issues", {"title": "kept"})
        await gh.webhooks_idle()
        before, port = gh.world.state.model_copy(deep=True), gh.port
        attempts = {d.id: d.status for d in gh.world.deliveries.values()}
    assert (data / "state.json").stat().st_mode & 0o077 == 0
    async with LocalGitHub.start(data, port=port) as gh:
        assert gh.world.state == before
        assert {d.id: d.status for d in gh.world.deliveries.values()} == attempts
        assert (await gh.act("acme", "GET", "/repos/acme/shop/git/ref/heads/main"))["object"]["type"] == "commit"
        assert (await gh.act("acme", "POST", "/repos/acme/shop/issues", {"title": "next"}))["number"] == 2


async def test_webhooks_left_over_go_out_after_the_restart(tmp_path: Path) -> None:
    world = World.load(tmp_path)
    world.add_user("acme")
    await world.add_repo("acme/shop")
    world.add_app("acme", AppSpec("seconder", {}, [], "http://127.0.0.1:1/", "s"))
    world.install("seconder", ["acme/shop"])
    assert [d.event for d in World.load(tmp_path).outbox] == ["ping", "installation"]
    async with LocalGitHub.start(tmp_path) as gh:
        await gh.webhooks_idle()
        assert {d.status for d in gh.world.deliveries.values()} == {"failed to connect to host"}
    assert World.load(tmp_path).outbox == []


async def test_a_clone_shares_nothing_with_its_source(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("a\n")
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for args in (("init", "-q", "-b", "trunk"), ("add", "."), ("commit", "-q", "-m", "m")):
        child = await asyncio.create_subprocess_exec("git", *who, *args, cwd=source, env=env)
        assert await child.wait() == 0
    (source / ".git" / "hooks" / "post-receive").write_text("#!/bin/sh\ntouch ran\n")
    world = World.load(tmp_path / "data")
    world.add_user("acme")
    repo = await world.add_repo_from_git("acme/copy", source)
    assert repo.default_branch == "trunk"
    assert not (world.git.path(repo.id) / "hooks").exists()
    assert not (world.git.path(repo.id) / "objects" / "info" / "alternates").exists()
    assert all(f.stat().st_nlink == 1 for f in world.git.path(repo.id).rglob("*") if f.is_file())
    assert b"source" not in (world.git.path(repo.id) / "config").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("acme", id="no owner"),
        pytest.param("acme/..", id="dots"),
        pytest.param("acme/a b", id="space"),
        pytest.param("acme/a/b", id="two slashes"),
        pytest.param("acme/SHOP", id="taken in other letters"),
        pytest.param("acme/a\n", id="newline"),
        pytest.param("nobody/x", id="unknown owner"),
    ],
)
async def test_names_of_repositories(scene: Scene, name: str) -> None:
    with pytest.raises(ValueError, match=r"repository|no user"):
        await scene.gh.world.add_repo(name)


@pytest.mark.parametrize("login", ["", "a b", "-a", "a--b", "a/b", "repos", "API", "ada", "a\n", "x" * 40])
async def test_names_of_users(scene: Scene, login: str) -> None:
    with pytest.raises(ValueError, match=r"login"):
        scene.gh.world.add_user(login)


async def test_only_loopback(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="loopback"):
        async with LocalGitHub.start(tmp_path, host="0.0.0.0"):
            pass


async def comment(scene: Scene) -> int:
    """The status of one attempt to comment; 0 when the connection broke."""
    async with scene.http("bob") as client:
        try:
            return (await client.post(COMMENTS, json={"body": "once"})).status_code
        except httpx.RemoteProtocolError:
            return 0


@pytest.mark.parametrize(
    ("fault", "status", "kept"),
    [
        pytest.param(Fault("drop_after", "POST", "/repos/*/comments"), 0, 1, id="the reply is lost after the work"),
        pytest.param(Fault("drop_before", "POST", COMMENTS), 0, 0, id="the request is lost"),
        pytest.param(Fault("status", "POST", "*", status=502), 502, 0, id="502"),
        pytest.param(Fault("status", status=429, headers={"Retry-After": "7"}), 429, 0, id="429"),
        pytest.param(Fault("status", "GET"), 201, 1, id="another method"),
        pytest.param(Fault("drop_after", path="/repos/*/labels"), 201, 1, id="another path"),
    ],
)
async def test_faults(scene: Scene, fault: Fault, status: int, kept: int) -> None:
    await scene.gh.act("bob", "POST", "/repos/acme/shop/issues", {"title": "t"})
    scene.gh.world.faults.plan(fault)
    assert await comment(scene) == status
    assert len(scene.repo.comments) == kept
    struck = status != 201
    assert bool(scene.gh.world.faults.seen) == struck
    if struck:
        assert await comment(scene) == 201


async def test_delays_and_lagging_lists(scene: Scene) -> None:
    await scene.gh.act("bob", "POST", "/repos/acme/shop/issues", {"title": "t"})
    for body in ("one", "two"):
        await scene.gh.act("bob", "POST", COMMENTS, {"body": body})
    scene.gh.world.faults.plan(Fault("lag", "GET", COMMENTS))
    scene.gh.world.faults.plan(Fault("delay", "GET", COMMENTS, seconds=0.2))
    async with scene.http("bob") as client:
        began = time.monotonic()
        first = [c["body"] for c in (await client.get(COMMENTS)).json()]
        assert time.monotonic() - began >= 0.2
        second = [c["body"] for c in (await client.get(COMMENTS)).json()]
    assert (first, second) == (["one"], ["one", "two"])


async def test_a_list_that_lags_for_a_while(scene: Scene) -> None:
    await scene.gh.act("bob", "POST", "/repos/acme/shop/issues", {"title": "t"})
    scene.gh.world.faults.plan(Fault("lag", "GET", COMMENTS, seconds=0.3, times=None))
    async with scene.http("bob") as client:
        for body in ("one", "two"):
            await client.post(COMMENTS, json={"body": body})
        assert [(await client.get(COMMENTS)).json() for _ in range(2)] == [[], []]
        await asyncio.sleep(0.35)
        await client.post(COMMENTS, json={"body": "three"})
        assert [c["body"] for c in (await client.get(COMMENTS)).json()] == ["one", "two"]


async def test_a_fault_that_strikes_a_share_for_ever(scene: Scene) -> None:
    await scene.gh.act("bob", "POST", "/repos/acme/shop/issues", {"title": "t"})
    faults = scene.gh.world.faults
    faults.chance.seed(7)
    faults.plan(Fault("drop_after", "POST", COMMENTS, share=0.3, times=None))
    answers = [await comment(scene) for _ in range(30)]
    assert len(scene.repo.comments) == 30
    assert 3 <= answers.count(0) <= 18
    assert answers.count(0) + answers.count(201) == 30


async def test_the_rate_limit_is_counted_and_kept(scene: Scene) -> None:
    scene.gh.world.rate_limit = 2
    async with scene.http("bob") as client:
        replies = [await client.get("/user") for _ in range(3)]
    assert [r.status_code for r in replies] == [200, 200, 403]
    assert [r.headers["x-ratelimit-remaining"] for r in replies] == ["1", "0", "0"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        pytest.param("query { viewer { login } }", "knows only these fields", id="another field"),
        pytest.param(
            'mutation { convertPullRequestToDraft(input: {pullRequestId: "nope"}) { x } }', "resolve", id="no node"
        ),
        pytest.param('{ node(id: "UHVsbFJlcXVlc3Q6OTk") { id } }', "resolve to a node", id="a node that is gone"),
        pytest.param(7, "must be a string", id="no text"),
    ],
)
async def test_graphql_errors_are_said(scene: Scene, query: object, said: str) -> None:
    reply = await scene.gh.act("bob", "POST", "/graphql", {"query": query})
    assert said in reply["errors"][0]["message"]


async def test_graphql_keeps_permissions(scene: Scene) -> None:
    number = await scene.pull()
    node = (await scene.gh.act("ada", "GET", f"/repos/acme/shop/pulls/{number}"))["node_id"]
    query = f'mutation {{ convertPullRequestToDraft(input: {{pullRequestId: "{node}"}}) {{ clientMutationId }} }}'
    reply = await scene.gh.act("eve", "POST", "/graphql", {"query": query})
    assert reply["errors"][0]["type"] == "NOT_FOUND"
    async with httpx.AsyncClient(base_url=scene.gh.url) as client:
        headers = {"Authorization": f"Bearer {await scene.token(permissions={'pull_requests': 'read'})}"}
        refused = (await client.post("/api/graphql", json={"query": query}, headers=headers)).json()
    assert refused["errors"][0]["type"] == "FORBIDDEN"
    assert scene.repo.pulls[number].draft is False
