"""From a filed issue to a merged pull request, over HTTP alone."""

from __future__ import annotations

import pytest

from tests.e2e.house import House
from tests.e2e.plays import FIXED, approval, play, rejection
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_from_issue_to_merge(house: House) -> None:
    script = play(reviewer={1: [rejection()], "any": [approval()]})
    scene = await Scene.open(house, "happy", script)
    await scene.begin()
    await scene.event("gate_opened", gate="quality")

    pull = await scene.pull()
    assert pull["head"]["ref"] == "seconder/issue-1-add-subtracts"
    assert pull["base"]["ref"] == "main"
    assert not pull["draft"]
    assert "Fixes #1" in pull["body"]
    assert "passed" in pull["body"]
    assert {who["login"] for who in pull["requested_reviewers"]} == {"maintainer", "writer"}
    names = await scene.names()
    assert names.index("review_rejected") < names.index("pr_opened") < names.index("pr_ready")
    assert names.count("pr_opened") == 1
    assert await scene.conclusion() == "action_required"
    await scene.shows("Waiting for people")

    commits = await scene.ask("maintainer", "GET", f"/pulls/{pull['number']}/commits")
    assert [one["author"]["login"] for one in commits] == ["seconder[bot]"] * 2
    for one in commits:
        assert one["commit"]["author"]["email"] == f"{house.bot_id}+seconder[bot]@users.noreply.github.com"
        assert "#1" in one["commit"]["message"]

    await scene.review("maintainer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
    assert await scene.conclusion() == "success"
    await scene.shows("Approved by **maintainer**")
    await scene.say("maintainer", "/merge", pull["number"])
    await scene.ended("run_completed")

    assert (await scene.pull())["merged"]
    assert (await scene.ask("reader", "GET", "/issues/1"))["state"] == "closed"
    assert await scene.text_of("calc.py", "main") == FIXED
    assert "AddTest" in await scene.text_of("tests/test_add.py", "main")
    status = await scene.status()
    assert "Merged by **maintainer**" in status
    assert "Written by a script" in status
    assert await scene.replies() == []


async def test_what_a_run_costs_is_what_its_calls_cost(house: House) -> None:
    scene = await Scene.open(house, "bill")
    await scene.to_quality()
    replies = [record.data for record in await scene.log() if record.type == "turn" and record.data["kind"] == "reply"]
    facts = await scene.facts()
    assert len(replies) == len(scene.model.seen)
    assert facts.spent == sum(int(str(reply["cost"])) for reply in replies) > 0
    assert facts.reserved == 0


@pytest.mark.parametrize("branch", [pytest.param("trunk", id="trunk"), pytest.param("release/2.x", id="with a slash")])
async def test_default_branch_is_not_main(house: House, branch: str) -> None:
    scene = await Scene.open(house, f"default-{branch.replace('/', '-').replace('.', '-')}", default_branch=branch)
    pull = await scene.to_merge()
    assert pull["base"]["ref"] == branch
    await scene.say("maintainer", "/merge")
    await scene.ended("run_completed")
    assert await scene.text_of("calc.py", branch) == FIXED


async def test_several_issues_at_once(house: House) -> None:
    one, other = await Scene.open(house, "twice"), await Scene.open(house, "once")
    second = Scene(house, "acme/twice", one.model, one.faults)
    scenes = (one, second, other)
    for scene in scenes:
        await scene.file("add subtracts" if scene is not second else "add is wrong")
    for scene in scenes:
        await scene.begun()
    for scene in scenes:
        await scene.event("gate_opened", gate="quality")
        assert len(await scene.statuses()) == 1
    branches = [pull["head"]["ref"] for pull in await one.pulls()]
    assert sorted(branches) == ["seconder/issue-1-add-subtracts", "seconder/issue-2-add-is-wrong"]
    assert len(await other.pulls()) == 1
