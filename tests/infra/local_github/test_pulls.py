"""Pull requests: making, reviewing, guarding and merging them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from infra.local_github import Protection
from tests.infra.local_github.scene import Scene

PULLS = "/repos/acme/shop/pulls"


async def call(scene: Scene, login: str, method: str, path: str, **body: Any) -> httpx.Response:
    async with scene.http(login) as client:
        return await client.request(method, path, json=body if method != "GET" else None)


def reason(reply: httpx.Response) -> str:
    """The words of a refusal, wherever GitHub puts them."""
    body = reply.json()
    return " ".join(
        [body["message"], *(e if isinstance(e, str) else e.get("message", "") for e in body.get("errors", []))]
    )


async def add_check(scene: Scene, head: str, conclusion: str | None, name: str = "ci") -> None:
    async with httpx.AsyncClient(base_url=scene.gh.api_url) as client:
        headers = {"Authorization": f"Bearer {await scene.token()}"}
        body = {"name": name, "head_sha": head, **({"conclusion": conclusion} if conclusion else {})}
        assert (await client.post("/repos/acme/shop/check-runs", json=body, headers=headers)).status_code == 201


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"head": "feature"}, "A pull request already exists for acme:feature.", id="again"),
        pytest.param({"head": "acme:feature"}, "A pull request already exists for acme:feature.", id="again, by owner"),
        pytest.param({"head": "same"}, "No commits between main and same", id="nothing new"),
        pytest.param({"head": "nope"}, "Validation Failed", id="no such head"),
        pytest.param({"base": "nope"}, "Validation Failed", id="no such base"),
        pytest.param({"head": "eve:feature"}, "Validation Failed", id="a fork"),
        pytest.param({"title": ""}, "Validation Failed", id="no title"),
        pytest.param({"title": "x" * 257}, "title is too long", id="long title"),
        pytest.param({"body": "x" * 65_537}, "body is too long", id="long body"),
    ],
)
async def test_pulls_that_cannot_be(scene: Scene, change: dict[str, str], said: str) -> None:
    await scene.pull()
    main = await scene.gh.world.git.ref(scene.repo.id, "refs/heads/main")
    await scene.gh.act("ada", "POST", "/repos/acme/shop/git/refs", {"ref": "refs/heads/same", "sha": main})
    await scene.branch("other")
    body = {"title": "t", "head": "other", "base": "main", **change}
    reply = await call(scene, "bob", "POST", PULLS, **body)
    assert (reply.status_code, said in reason(reply)) == (422, True), reply.text
    assert len(scene.repo.pulls) == 1


@pytest.mark.parametrize(
    ("login", "event", "body", "status", "said"),
    [
        pytest.param("bob", "APPROVE", "", 200, "", id="another approves"),
        pytest.param("ada", "APPROVE", "", 422, "Can not approve your own pull request", id="the author approves"),
        pytest.param(
            "ada", "REQUEST_CHANGES", "no", 422, "Can not request changes on your own", id="the author refuses"
        ),
        pytest.param("ada", "COMMENT", "hm", 200, "", id="the author comments"),
        pytest.param("bob", "COMMENT", "", 422, "can't be blank", id="an empty comment"),
        pytest.param("bob", "REQUEST_CHANGES", "", 422, "can't be blank", id="a refusal without words"),
        pytest.param("bob", "approve", "", 422, "event must be one of", id="an unknown event"),
        pytest.param("eve", "APPROVE", "", 404, "Not Found", id="an outsider"),
    ],
)
async def test_reviews(scene: Scene, login: str, event: str, body: str, status: int, said: str) -> None:
    number = await scene.pull()
    reply = await call(scene, login, "POST", f"{PULLS}/{number}/reviews", event=event, body=body)
    assert reply.status_code == status, reply.text
    if status == 200:
        assert reply.json()["commit_id"] == scene.repo.pulls[number].head_sha
    else:
        assert said in reason(reply)
        assert not scene.repo.reviews


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        pytest.param({"path": "feature.txt", "line": 1, "body": "b"}, "", id="a shown line"),
        pytest.param({"path": "feature.txt", "position": 1, "body": "b"}, "", id="a position"),
        pytest.param({"path": "feature.txt", "line": 9, "body": "b"}, "Line could not be resolved", id="a hidden line"),
        pytest.param({"path": "README.md", "line": 1, "body": "b"}, "Path could not be resolved", id="another file"),
        pytest.param({"path": "feature.txt", "line": 1}, "needs a path and a body", id="no words"),
        pytest.param("x", "needs a path and a body", id="no object"),
    ],
)
async def test_review_comments_stand_in_the_diff(scene: Scene, comment: object, said: str) -> None:
    number = await scene.pull()
    reply = await call(scene, "bob", "POST", f"{PULLS}/{number}/reviews", event="COMMENT", comments=[comment])
    assert reply.status_code == (422 if said else 200)
    assert len(scene.repo.review_comments) == (0 if said else 1)
    if said:
        assert said in reason(reply)


async def test_the_author_is_not_asked_to_review(scene: Scene) -> None:
    number = await scene.pull()
    path = f"{PULLS}/{number}/requested_reviewers"
    reply = await call(scene, "ada", "POST", path, reviewers=["ada"])
    assert (reply.status_code, reason(reply)) == (422, "Review cannot be requested from pull request author.")
    assert (await call(scene, "ada", "POST", path, reviewers=["eve"])).status_code == 422
    asked = await call(scene, "ada", "POST", path, reviewers=["bob"])
    assert [u["login"] for u in asked.json()["requested_reviewers"]] == ["bob"]
    await call(scene, "bob", "POST", f"{PULLS}/{number}/reviews", event="APPROVE")
    assert scene.repo.pulls[number].requested == []


async def test_merge_guards(scene: Scene) -> None:
    number = await scene.pull(draft=True)
    head = scene.repo.pulls[number].head_sha
    path = f"{PULLS}/{number}/merge"
    draft = await call(scene, "ada", "PUT", path, sha=head)
    assert (draft.status_code, "draft" in reason(draft)) == (405, True)
    scene.repo.pulls[number].draft = False
    stale = await call(scene, "ada", "PUT", path, sha="1" * 40)
    assert (stale.status_code, reason(stale)) == (
        409,
        "Head branch was modified. Review and try the merge again.",
    )
    assert (await call(scene, "ada", "PUT", path, sha=head)).json()["merged"] is True
    assert (await call(scene, "ada", "PUT", path, sha=head)).status_code == 405


async def test_a_conflict_does_not_merge(scene: Scene) -> None:
    await scene.branch("one", "README.md", "one\n")
    await scene.branch("two", "README.md", "two\n")
    numbers = []
    for head in ("one", "two"):
        made = await scene.gh.act("ada", "POST", PULLS, {"title": head, "head": head, "base": "main"})
        numbers.append(made["number"])
    assert (await call(scene, "ada", "PUT", f"{PULLS}/{numbers[0]}/merge")).status_code == 200
    shown = (await call(scene, "ada", "GET", f"{PULLS}/{numbers[1]}")).json()
    assert (shown["mergeable"], shown["mergeable_state"]) == (False, "dirty")
    refused = await call(scene, "ada", "PUT", f"{PULLS}/{numbers[1]}/merge")
    assert (refused.status_code, reason(refused)) == (405, "Pull Request is not mergeable")


RULES = [
    pytest.param([], "is expected", id="nothing yet"),
    pytest.param([("check", "failure")], "is failing", id="failed check"),
    pytest.param([("check", "action_required")], "is failing", id="waiting check"),
    pytest.param([("check", None)], "is pending", id="running check"),
    pytest.param([("check", "success")], "At least 1 approving review", id="check without review"),
    pytest.param([("check", "success"), ("bob", "APPROVE")], "", id="check and review"),
    pytest.param([("check", "neutral"), ("bob", "APPROVE")], "", id="neutral passes"),
    pytest.param([("check", "failure"), ("check", "success"), ("bob", "APPROVE")], "", id="the newest check counts"),
    pytest.param(
        [("check", "success"), ("status", "failure"), ("bob", "APPROVE")], "is failing", id="status of that name"
    ),
    pytest.param([("check", "success"), ("bob", "APPROVE"), ("bob", "REQUEST_CHANGES")], "changes", id="withdrawn"),
    pytest.param([("check", "success"), ("bob", "APPROVE"), ("bob", "COMMENT")], "", id="a comment withdraws nothing"),
    pytest.param([("check", "success"), ("bob", "APPROVE"), ("dismiss", "")], "At least 1", id="dismissed"),
    pytest.param([("check", "success"), ("eve", "APPROVE")], "At least 1", id="a reader's review"),
    pytest.param([("check", "success"), ("bob", "APPROVE"), ("push", "")], "is expected", id="a push after all"),
]


@pytest.mark.parametrize(("steps", "said"), RULES)
async def test_protection_is_enforced(scene: Scene, steps: list[tuple[str, str | None]], said: str) -> None:
    world, number = scene.gh.world, await scene.pull()
    world.collaborate("acme/shop", "eve", "read")
    world.protect("acme/shop", "main", Protection(checks=[("ci", None)], approvals=1, reviews_required=True))
    for who, what in steps:
        await _step(scene, number, who, what)
    reply = await call(scene, "ada", "PUT", f"{PULLS}/{number}/merge")
    assert reply.status_code == (405 if said else 200), reply.text
    assert said in reply.json()["message"]


async def _step(scene: Scene, number: int, who: str, what: str | None) -> None:
    head = scene.repo.pulls[number].head_sha
    if who == "check":
        await add_check(scene, head, what)
    elif who == "status":
        await scene.gh.act("ada", "POST", f"/repos/acme/shop/statuses/{head}", {"state": what, "context": "ci"})
    elif who == "dismiss":
        review = max(scene.repo.reviews)
        await scene.gh.act("ada", "PUT", f"{PULLS}/{number}/reviews/{review}/dismissals", {"message": "m"})
    elif who == "push":
        body = {"message": "m", "content": "eA==", "branch": "feature"}
        await scene.gh.act("ada", "PUT", "/repos/acme/shop/contents/late.txt", body)
    else:
        await scene.gh.act(who, "POST", f"{PULLS}/{number}/reviews", {"event": what, "body": "words"})


async def test_a_check_of_another_app_does_not_count(scene: Scene) -> None:
    number = await scene.pull()
    scene.gh.world.protect("acme/shop", "main", Protection(checks=[("ci", scene.app.id + 1)]))
    await add_check(scene, scene.repo.pulls[number].head_sha, "success")
    assert (await call(scene, "ada", "PUT", f"{PULLS}/{number}/merge")).status_code == 405


async def test_stale_reviews_are_dismissed_where_the_rules_say_so(scene: Scene) -> None:
    number = await scene.pull()
    scene.gh.world.protect("acme/shop", "main", Protection(approvals=1, dismiss_stale=True))
    await _step(scene, number, "bob", "APPROVE")
    await _step(scene, number, "push", "")
    assert [r.state for r in scene.repo.reviews.values()] == ["DISMISSED"]


@pytest.mark.parametrize(
    ("method", "parents"),
    [
        pytest.param("merge", 2, id="merge"),
        pytest.param("squash", 1, id="squash"),
        pytest.param("rebase", 1, id="rebase"),
    ],
)
async def test_a_merge_closes_its_issues(scene: Scene, method: str, parents: int) -> None:
    act = scene.gh.act
    issues = [(await act("bob", "POST", "/repos/acme/shop/issues", {"title": t}))["number"] for t in "abc"]
    text = f"Fixes #{issues[0]}, closes acme/shop#{issues[1]}, see #{issues[2]} and fixes other/repo#{issues[2]}"
    number = await scene.pull(body=text)
    await scene.branch("beside", "beside.txt")
    beside = await act("ada", "POST", PULLS, {"title": "beside", "head": "beside", "base": "main"})
    await act("ada", "PUT", f"{PULLS}/{beside['number']}/merge", {})
    merged = await act("ada", "PUT", f"{PULLS}/{number}/merge", {"merge_method": method})
    commit = await act("ada", "GET", f"/repos/acme/shop/git/commits/{merged['sha']}")
    assert len(commit["parents"]) == parents
    assert await scene.gh.world.git.ref(scene.repo.id, "refs/heads/main") == merged["sha"]
    files = await act("ada", "GET", f"/repos/acme/shop/git/trees/{merged['sha']}")
    assert {"beside.txt", "feature.txt"} <= {e["path"] for e in files["tree"]}
    assert [scene.repo.issues[n].state for n in issues] == ["closed", "closed", "open"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        pytest.param({"actions": [{"label": "a", "description": "d", "identifier": "i"}] * 3}, 201, id="three buttons"),
        pytest.param({"actions": [{"label": "a", "description": "d", "identifier": "i"}] * 4}, 422, id="four buttons"),
        pytest.param({"actions": [{"label": "a" * 21, "description": "d", "identifier": "i"}]}, 422, id="long label"),
        pytest.param({"actions": [{"label": "a", "description": "d" * 41, "identifier": "i"}]}, 422, id="long words"),
        pytest.param({"actions": [{"label": "a", "description": "d", "identifier": "i" * 21}]}, 422, id="long id"),
        pytest.param({"output": {"title": "t", "summary": "s" * 65_535}}, 201, id="longest summary"),
        pytest.param({"output": {"title": "t", "summary": "s" * 65_536}}, 422, id="long summary"),
        pytest.param({"output": {"title": "t"}}, 422, id="no summary"),
        pytest.param({"output": {"title": "t", "summary": "s", "annotations": [{}] * 51}}, 422, id="51 annotations"),
        pytest.param({"conclusion": "stale"}, 422, id="GitHub's own conclusion"),
        pytest.param({"status": "completed"}, 422, id="completed without a conclusion"),
        pytest.param({"head_sha": "1" * 40}, 422, id="unknown commit"),
    ],
)
async def test_check_run_limits(scene: Scene, change: dict[str, Any], status: int) -> None:
    head = await scene.branch("b")
    body = {"name": "ci", "head_sha": head, **change}
    async with httpx.AsyncClient(base_url=scene.gh.api_url) as client:
        headers = {"Authorization": f"Bearer {await scene.token()}"}
        reply = await client.post("/repos/acme/shop/check-runs", json=body, headers=headers)
    assert reply.status_code == status, reply.text
    assert len(scene.repo.checks) == (1 if status == 201 else 0)
