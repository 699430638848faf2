from __future__ import annotations

import json

import httpx
import pytest

from handlers.ports import Conflicted, GitHubError, Later, Missing, NewCommit, Refused, TreeEdit
from tests.infra.github.conftest import REPO, Hub

GIT = "/repos/octo/app/git"
PARENT, BASE, TREE, COMMIT = "1" * 40, "2" * 40, "3" * 40, "4" * 40


def new_commit(*edits: TreeEdit) -> NewCommit:
    return NewCommit(PARENT, TREE, edits, "Message", "seconder[bot]", "bot@example.org", 1_700_000_000)


def play_commit(hub: Hub) -> None:
    hub.router.get(f"{GIT}/commits/{PARENT}").respond(200, json={"sha": PARENT, "tree": {"sha": BASE}})
    hub.router.post(f"{GIT}/blobs").respond(201, json={"sha": "b" * 40})
    hub.router.post(f"{GIT}/trees", name="trees").respond(201, json={"sha": TREE})
    hub.router.post(f"{GIT}/commits", name="commits").respond(201, json={"sha": COMMIT})


async def test_texts_travel_in_the_tree_and_the_rest_as_blobs(hub: Hub) -> None:
    play_commit(hub)
    edits = (
        TreeEdit("a.txt", "é\r\n".encode()),
        TreeEdit("run.sh", b"x", "100755"),
        TreeEdit("bin", b"\xff"),
        TreeEdit("nul", b"a\0b"),
        TreeEdit("empty", b""),
        TreeEdit("big", b"x" * 300_000),
        TreeEdit("gone", None),
    )
    assert await hub.ports.repository.commit(REPO, new_commit(*edits)) == COMMIT
    body = json.loads(hub.router["trees"].calls[0].request.content)
    assert body["base_tree"] == BASE
    by_path = {entry["path"]: entry for entry in body["tree"]}
    assert by_path["a.txt"] == {"path": "a.txt", "mode": "100644", "type": "blob", "content": "é\r\n"}
    assert by_path["run.sh"]["mode"] == "100755"
    assert by_path["gone"]["sha"] is None
    assert all(by_path[path]["sha"] == "b" * 40 for path in ("bin", "nul", "empty", "big"))


async def test_the_tree_request_stays_small(hub: Hub) -> None:
    play_commit(hub)
    edits = tuple(TreeEdit(f"f{number}.txt", b"x" * 250_000) for number in range(20))
    await hub.ports.repository.commit(REPO, new_commit(*edits))
    assert len(hub.router["trees"].calls[0].request.content) < 4_000_000


async def test_author_committer_and_dates_are_fixed(hub: Hub) -> None:
    play_commit(hub)
    await hub.ports.repository.commit(REPO, new_commit(TreeEdit("a", b"x")))
    body = json.loads(hub.router["commits"].calls[0].request.content)
    person = {"name": "seconder[bot]", "email": "bot@example.org", "date": "2023-11-14T22:13:20Z"}
    assert (body["author"], body["committer"], body["parents"]) == (person, person, [PARENT])


async def test_git_objects_can_be_written_again(hub: Hub) -> None:
    play_commit(hub)
    hub.router["commits"].mock(side_effect=[httpx.ReadTimeout("x"), httpx.Response(201, json={"sha": COMMIT})])
    assert await hub.ports.repository.commit(REPO, new_commit(TreeEdit("a", b"x"))) == COMMIT
    hub.router["trees"].respond(502)
    with pytest.raises(Later):
        await hub.ports.repository.commit(REPO, new_commit(TreeEdit("a", b"x")))


async def test_another_tree_is_named_and_not_committed(hub: Hub) -> None:
    play_commit(hub)
    hub.router["trees"].respond(201, json={"sha": "5" * 40})
    with pytest.raises(Refused, match=f"{'5' * 40}.*{TREE}"):
        await hub.ports.repository.commit(REPO, new_commit(TreeEdit("a", b"x")))
    assert hub.router["commits"].call_count == 0


@pytest.mark.parametrize("status", [403, 404])
async def test_workflow_files_need_a_permission_of_their_own(hub: Hub, status: int) -> None:
    play_commit(hub)
    hub.router["trees"].respond(status, json={"message": "Not Found"})
    with pytest.raises(Refused, match="workflows: write"):
        await hub.ports.repository.commit(REPO, new_commit(TreeEdit(".github/workflows/ci.yml", b"x")))


@pytest.mark.parametrize(
    ("message", "error"),
    [
        pytest.param("Reference already exists", Conflicted, id="exists"),
        pytest.param("Object does not exist", Refused, id="unknown commit"),
        pytest.param("Reference update failed", Refused, id="a rule"),
    ],
)
async def test_branches_that_are_not_made(hub: Hub, message: str, error: type[GitHubError]) -> None:
    hub.router.post(f"{GIT}/refs").respond(422, json={"message": message})
    hub.router.get(f"{GIT}/ref/heads/seconder").respond(404, json={"message": "Not Found"})
    below = [{"ref": "refs/heads/seconder/x-2", "object": {"sha": PARENT}}]
    hub.router.get(f"{GIT}/matching-refs/heads/seconder/x").respond(200, json=below)
    with pytest.raises(GitHubError) as raised:
        await hub.ports.repository.create_branch(REPO, "seconder/x", COMMIT)
    assert type(raised.value) is error


async def test_a_branch_named_like_our_prefix_is_in_the_way(hub: Hub) -> None:
    hub.router.post(f"{GIT}/refs").respond(422, json={"message": "Reference update failed"})
    found = {"ref": "refs/heads/seconder", "object": {"sha": PARENT}}
    hub.router.get(f"{GIT}/ref/heads/seconder").respond(200, json=found)
    with pytest.raises(Conflicted, match="branch seconder is in the way of seconder/x"):
        await hub.ports.repository.create_branch(REPO, "seconder/x", COMMIT)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        pytest.param("Update is not a fast forward", Conflicted, id="not a fast-forward"),
        pytest.param("Reference does not exist", Missing, id="gone"),
        pytest.param("Repository rule violations found", Refused, id="a rule"),
    ],
)
async def test_branches_that_are_not_moved(hub: Hub, message: str, error: type[GitHubError]) -> None:
    route = hub.router.patch(f"{GIT}/refs/heads/seconder/x").respond(422, json={"message": message})
    with pytest.raises(GitHubError) as raised:
        await hub.ports.repository.move_branch(REPO, "seconder/x", COMMIT)
    assert type(raised.value) is error
    assert json.loads(route.calls[0].request.content) == {"sha": COMMIT, "force": False}


async def test_a_branch_that_only_begins_like_it_is_another(hub: Hub) -> None:
    found = {"ref": "refs/heads/seconder/x-2", "object": {"sha": PARENT}}
    hub.router.get(f"{GIT}/ref/heads/seconder/x").respond(200, json=found)
    assert await hub.ports.repository.branch(REPO, "seconder/x") is None


async def test_a_name_that_another_repository_took_over(hub: Hub) -> None:
    other = {"id": 43, "full_name": "octo/app", "default_branch": "main"}
    hub.router.get("/repos/octo/app").respond(200, json=other)
    with pytest.raises(Missing, match="43"):
        await hub.ports.repository.facts(REPO)


async def test_facts_under_the_name_of_today(hub: Hub) -> None:
    now = {"id": 42, "full_name": "octo/new", "default_branch": "trunk", "archived": None, "private": True}
    hub.router.get("/repos/octo/app").respond(301, headers={"location": "https://api.github.com/repositories/42"})
    hub.router.get("/repositories/42").respond(200, json=now)
    head = {"ref": "refs/heads/trunk", "object": {"sha": PARENT}}
    hub.router.get("/repos/octo/new/git/ref/heads/trunk").respond(200, json=head)
    facts = await hub.ports.repository.facts(REPO)
    assert (facts.ref.full_name, facts.ref.installation, facts.head, facts.private) == ("octo/new", 9, PARENT, True)
    assert not facts.archived
