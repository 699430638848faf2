"""People's word at the gates: who counts, what voids an approval, what `/merge` may do."""

from __future__ import annotations

import base64
import time

import httpx
import jwt
import pytest

from infra.local_github import AppSpec, Protection
from tests.e2e.house import OWNER, House
from tests.e2e.plays import code, play
from tests.e2e.scene import Row, Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_requested_changes_go_back_and_come_again(house: House) -> None:
    scene = await Scene.open(house, "changes")
    first = await scene.to_quality()
    before = await scene.position()
    await scene.ask(
        "maintainer",
        "POST",
        f"/pulls/{first['number']}/reviews",
        {
            "event": "REQUEST_CHANGES",
            "body": "Say in the README what add does.",
            "comments": [{"path": "calc.py", "line": 2, "body": "and name the operator"}],
        },
    )
    await scene.event("pr_updated", before)
    second = await scene.pull()
    assert second["head"]["sha"] != first["head"]["sha"]
    assert "`add(2, 3)` is 5." in await scene.text_of("README.md", second["head"]["sha"])
    asked = [str(seen.request) for seen in scene.model.seen if seen.place.role == "developer"][-1]
    assert "Say in the README what add does." in asked
    assert "and name the operator" in asked
    await scene.event("gate_opened", before, gate="quality", head=second["head"]["sha"])
    assert await scene.conclusion() == "action_required"
    await scene.review("maintainer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
    assert await scene.conclusion() == "success"
    await scene.say("maintainer", "/merge", second["number"])
    await scene.ended("run_completed")
    assert len(await scene.statuses()) == 1


async def test_a_push_by_a_person_voids_the_approval(house: House) -> None:
    scene = await Scene.open(house, "push")
    pull = await scene.to_merge()
    before = await scene.position()
    await _push(scene, pull["head"]["ref"])
    opened = await scene.event("gate_opened", before, gate="quality")
    now = await scene.pull()
    assert now["head"]["sha"] != pull["head"]["sha"]
    assert opened["head"] == now["head"]["sha"]
    assert await scene.conclusion() == "action_required"
    await scene.shows("pushed by somebody unknown")
    await scene.review("maintainer", "APPROVE")
    await scene.say("maintainer", "/merge", pull["number"])
    await scene.house.github.webhooks_idle()
    await scene.say("maintainer", "/status")
    await scene.house.github.webhooks_idle()
    await scene.shows("pushed by somebody unknown")
    assert not (await scene.pull())["merged"]


async def _push(scene: Scene, branch: str) -> None:
    """The writer puts a commit of their own on a branch."""
    content = base64.b64encode(b"# mine\n").decode()
    await scene.ask("writer", "PUT", "/contents/NOTES.md", {"message": "Mine", "content": content, "branch": branch})


async def test_approvals_that_do_not_count(house: House) -> None:
    scene = await Scene.open(house, "approvals")
    pull = await scene.to_quality()
    rows = (
        ("requester", "The approval by requester does not count: they asked for this change"),
        ("reader", "the approval by reader does not count: they do not have write access"),
    )
    for login, why in rows:
        await scene.review(login, "APPROVE")
        await scene.shows(why)
        assert await scene.conclusion() == "action_required"
    await _bot_approves(scene, pull)
    await scene.shows("other-app")
    assert await scene.conclusion() == "action_required"
    await scene.review("writer", "APPROVE")
    await scene.event("gate_resolved", gate="quality")
    assert await scene.conclusion() == "success"


async def _bot_approves(scene: Scene, pull: Row) -> None:
    """Another App, installed on the same repository, approves."""
    world = scene.house.github.world
    app = world.add_app(OWNER, AppSpec("other-app", {"pull_requests": "write", "contents": "write"}, []))
    made = world.install("other-app", [scene.repo])
    now = int(time.time())
    signed = jwt.encode({"iat": now - 10, "exp": now + 300, "iss": str(app.id)}, app.private_key_pem, "RS256")
    async with httpx.AsyncClient(base_url=scene.house.github.api_url) as client:
        answer = await client.post(
            f"/app/installations/{made.id}/access_tokens", headers={"Authorization": f"Bearer {signed}"}
        )
        token = answer.json()["token"]
        path = f"/repos/{scene.repo}/pulls/{pull['number']}/reviews"
        answer = await client.post(path, json={"event": "APPROVE"}, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text


async def test_merge_is_a_maintainers_word(house: House) -> None:
    scene = await Scene.open(house, "merging")
    pull = await scene.to_quality()
    number = pull["number"]
    await scene.say("reader", "/merge", number)
    await scene.say("writer", "/merge", number)
    refusal = await scene.replied("needs maintain access", number)
    assert "**writer** has write access" in refusal
    await scene.say("maintainer", "/merge 0123abc", number)
    assert pull["head"]["sha"][:12] in await scene.replied("was meant for", number)
    assert len(await scene.replies(number)) == 2, "who has no more than read gets no answer"

    await scene.say("maintainer", f"/merge {pull['head']['sha'][:7]}", number)
    await scene.event("gate_opened", gate="quality")
    assert not (await scene.pull())["merged"]
    await scene.review("writer", "APPROVE")
    await scene.ended("run_completed")
    assert (await scene.pull())["merged"]
    assert "Merged by" in await scene.status()


async def test_merged_by_hand_past_the_gate(house: House) -> None:
    scene = await Scene.open(house, "by-hand")
    pull = await scene.to_quality()
    await scene.ask("maintainer", "PUT", f"/pulls/{pull['number']}/merge", {})
    await scene.ended("run_completed")
    assert "Merged" in await scene.status()
    assert (await scene.ask("reader", "GET", "/issues/1"))["state"] == "closed"


async def test_closed_without_a_merge(house: House) -> None:
    scene = await Scene.open(house, "closed")
    pull = await scene.to_quality()
    await scene.ask("writer", "PATCH", f"/pulls/{pull['number']}", {"state": "closed"})
    await scene.ended("run_cancelled")
    assert "writer closed the pull request" in await scene.status()
    [check] = await scene.checks(pull["head"]["sha"])
    assert check["conclusion"] == "cancelled"


async def test_hold_and_dismissal_shut_the_gate_again(house: House) -> None:
    scene = await Scene.open(house, "hold")
    pull = await scene.to_quality()
    number = pull["number"]
    await scene.ask("maintainer", "POST", "/labels", {"name": "seconder:hold", "color": "d4c5f9"})
    await scene.ask("maintainer", "POST", "/issues/1/labels", {"labels": ["seconder:hold"]})
    await scene.shows("seconder:hold")
    await scene.review("writer", "APPROVE")
    await scene.ask("maintainer", "DELETE", "/issues/1/labels/seconder:hold")
    await scene.event("gate_opened", gate="merge")
    assert await scene.conclusion() == "success"

    before = await scene.position()
    reviews = await scene.ask("maintainer", "GET", f"/pulls/{number}/reviews")
    [approval] = [review["id"] for review in reviews if review["state"] == "APPROVED"]
    path = f"/pulls/{number}/reviews/{approval}/dismissals"
    await scene.ask("maintainer", "PUT", path, {"message": "Look once more.", "event": "DISMISS"})
    await scene.event("gate_opened", before, gate="quality")
    assert await scene.conclusion() == "action_required"
    await scene.say("maintainer", "/merge", number)
    await scene.review("writer", "APPROVE")
    await scene.ended("run_completed")


async def test_look_again_button(house: House) -> None:
    scene = await Scene.open(house, "button")
    pull = await scene.to_quality()
    [check] = await scene.checks(pull["head"]["sha"])
    before = await scene.position()
    house.github.world.collaborate(scene.repo, "writer", "read")
    for _ in range(2):
        await scene.ask("maintainer", "POST", f"/check-runs/{check['id']}/press", {"identifier": "look-again"})
    await scene.event("gate_opened", before, gate="quality", who=["maintainer"])


async def test_a_push_while_the_team_works_is_not_overwritten(house: House) -> None:
    late = {**code("# calc\n\nIt adds.\n", path="README.md"), "latency_s": 1.5}
    scene = await Scene.open(house, "push-early", play(developer={1: [code()], "any": [late]}))
    pull = await scene.to_quality()
    await scene.review("maintainer", "REQUEST_CHANGES", "Say it in the README.")
    await scene.shows("Changes requested by **maintainer**")
    await _push(scene, pull["head"]["ref"])
    theirs = (await scene.pull())["head"]["sha"]
    assert "somebody pushed" in await scene.shows("Stuck")
    assert (await scene.pull())["head"]["sha"] == theirs
    await scene.say("writer", "/stop mine now")
    await scene.ended("run_cancelled")
    assert (await scene.pull())["head"]["sha"] == theirs


async def test_our_branch_and_our_comment_are_deleted(house: House) -> None:
    scene = await Scene.open(house, "deleted")
    pull = await scene.to_quality()
    [comment] = [row for row in await scene.comments() if row["user"]["login"] == "seconder[bot]"]
    await scene.ask("maintainer", "DELETE", f"/issues/comments/{comment['id']}")
    await scene.ask("maintainer", "DELETE", f"/git/refs/heads/{pull['head']['ref']}")
    await scene.ended("run_cancelled")
    assert await scene.ours() == [], "who deletes the status comment does not get another one"
    assert len(await scene.pulls()) == 1


async def test_branch_rules_hold_until_the_gate_passes(house: House) -> None:
    scene = await Scene.open(house, "rules")
    rules = Protection(checks=[("seconder/quality", house.app_id)], approvals=1, reviews_required=True)
    house.github.world.protect(scene.repo, "main", rules)
    pull = await scene.to_quality()
    path = f"/repos/{scene.repo}/pulls/{pull['number']}/merge"
    assert (await house.people["maintainer"].put(path, json={})).status_code == 405
    await scene.review("writer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
    await scene.say("maintainer", "/merge", pull["number"])
    await scene.ended("run_completed")


async def test_a_conflict_with_the_base_is_said(house: House) -> None:
    scene = await Scene.open(house, "conflict")
    pull = await scene.to_merge()
    there = await scene.ask("writer", "GET", "/contents/calc.py")
    content = base64.b64encode(b"def add(*numbers):\n    return sum(numbers)\n").decode()
    await scene.ask("writer", "PUT", "/contents/calc.py", {"message": "Sum", "content": content, "sha": there["sha"]})
    await scene.say("maintainer", "/merge", pull["number"])
    status = await scene.shows("Stuck")
    assert "not mergeable" in status
    assert not (await scene.pull())["merged"]
