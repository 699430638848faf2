"""Deliveries that come twice, replies that are lost, a worker that dies: everything is there exactly once."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections import Counter

import httpx
import pytest

from infra.local_github import Fault
from tests.e2e.house import House
from tests.e2e.plays import code, play
from tests.e2e.scene import Row, Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def deliver(house: House, event: str, guid: str, body: bytes) -> tuple[int, Row]:
    """Send a signed delivery to the webhook."""
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": guid,
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-GitHub-Hook-Installation-Target-ID": str(house.app_id),
        "X-Hub-Signature-256": "sha256=" + hmac.new(house.webhook_secret.encode(), body, hashlib.sha256).hexdigest(),
    }
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{house.web}/webhook", content=body, headers=headers)
        return answer.status_code, answer.json()


async def test_a_delivery_that_comes_again_starts_nothing(house: House) -> None:
    scene = await Scene.open(house, "again-and-again")
    run = await scene.begin()
    [sent] = [
        made
        for made in house.github.world.deliveries.values()
        if made.event == "issues" and json.loads(made.payload)["repository"]["full_name"] == scene.repo
    ]
    body = sent.payload.encode()
    assert await deliver(house, "issues", sent.guid, body) == (202, {"duplicate": True})
    assert await deliver(house, "issues", "0b9c3e3e-0000-4000-8000-000000000001", body) == (202, {"duplicate": True})
    other = json.dumps({**json.loads(sent.payload), "organization": {"login": "acme"}}).encode()
    status, _ = await deliver(house, "issues", "0b9c3e3e-0000-4000-8000-000000000002", other)
    assert status == 202
    status, _ = await deliver(house, "sponsorship", "0b9c3e3e-0000-4000-8000-000000000003", b'{"action": "created"}')
    assert status == 202
    await scene.event("gate_opened", gate="quality")
    facts = await scene.facts()
    assert (facts.id, facts.attempt) == (run, 1)
    assert len(await scene.statuses()) == len(await scene.pulls()) == 1
    assert len(scene.model.seen) == 5


LOST = (
    ("POST", "/repos/acme/{case}/issues/*/comments"),
    ("POST", "/repos/acme/{case}/git/refs"),
    ("POST", "/repos/acme/{case}/git/trees"),
    ("POST", "/repos/acme/{case}/git/commits"),
    ("POST", "/repos/acme/{case}/pulls"),
    ("POST", "/repos/acme/{case}/pulls/*/reviews"),
    ("POST", "/repos/acme/{case}/pulls/*/requested_reviewers"),
    ("POST", "/repos/acme/{case}/check-runs"),
    ("PUT", "/repos/acme/{case}/pulls/*/merge"),
)


@pytest.mark.parametrize("kind", [pytest.param("drop_after", id="done"), pytest.param("drop_before", id="not done")])
async def test_replies_that_are_lost(house: House, kind: str) -> None:
    case = kind.replace("_", "-")
    scene = await Scene.open(house, case)
    faults = house.github.world.faults
    for method, path in LOST:
        faults.plan(Fault(kind, method, path.format(case=case)))  # type: ignore[arg-type]
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    pull = await scene.pull()
    await _approve(scene, pull["number"])
    await scene.event("gate_opened", gate="merge")
    [check] = await scene.checks(pull["head"]["sha"])
    assert check["conclusion"] == "success"
    await scene.say("maintainer", "/merge", pull["number"])
    await scene.ended("run_completed")
    struck = [seen for seen in faults.seen if f"/{case}/" in seen]
    assert len(struck) == len(LOST), struck
    assert len(await scene.statuses()) == len(await scene.pulls()) == 1
    reviews = await scene.ask("maintainer", "GET", f"/pulls/{pull['number']}/reviews")
    assert [review["user"]["login"] for review in reviews] == ["seconder[bot]", "maintainer"]
    assert (await scene.pull())["merged"]
    history = await scene.ask("maintainer", "GET", "/commits?sha=main")
    assert len(history) == 3, "the first commit, ours, and the merge"
    assert [text for text in await scene.replies() if "stuck" in text.lower()] == []


async def _approve(scene: Scene, number: int) -> None:
    """A review of a person's, past the faults that are planned for ours."""
    await scene.house.github.act(
        "maintainer", "POST", f"/repos/{scene.repo}/pulls/{number}/reviews", {"event": "APPROVE"}
    )


async def test_a_lost_reply_and_a_list_that_lags(house: House) -> None:
    scene = await Scene.open(house, "lagging")
    faults = house.github.world.faults
    faults.plan(Fault("drop_after", "POST", "/repos/acme/lagging/issues/*/comments"))
    faults.plan(Fault("lag", "GET", "/repos/acme/lagging/issues/*/comments"))
    await scene.file()
    await scene.begun()
    await scene.event("gate_opened", gate="quality")
    await scene.shows("Waiting for people")
    assert len(await scene.statuses()) == 1


async def test_github_stumbles_and_slows_us_down(house: House) -> None:
    scene = await Scene.open(house, "stumbles")
    slower = {"retry-after": "1"}
    faults = house.github.world.faults
    base = "/repos/acme/stumbles"
    faults.plan(Fault("status", "GET", f"{base}/pulls/*", times=2))
    faults.plan(Fault("status", "POST", f"{base}/check-runs", status=403, headers=slower, message="Slow down."))
    faults.plan(Fault("status", "PATCH", f"{base}/issues/comments/*", status=500))
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    assert await scene.conclusion() == "action_required"
    await scene.shows("Waiting for people")
    assert sum("/stumbles/" in seen for seen in faults.seen) == 4


async def test_a_worker_dies_in_the_middle(house: House) -> None:
    slow = {"calls": [{"tool": "read_file", "input": {"path": "calc.py"}}], "latency_s": 0.1}
    late = {**code(), "latency_s": 2.0}
    scene = await Scene.open(house, "killed", play(developer={1: [slow, late]}))
    await scene.begin()
    await scene.event("tests_written")

    async def second_call() -> bool:
        return any((seen.place.role, seen.place.turn) == ("developer", 2) for seen in scene.model.seen)

    await scene.eventually(second_call, "the developer's second call")
    await house.stop_workers()
    await asyncio.sleep(0.3)
    length = await scene.position()
    await asyncio.sleep(0.5)
    assert await scene.position() == length
    await house.start_worker()
    await scene.event("gate_opened", gate="quality")
    calls = Counter((seen.place.role, seen.place.round, seen.place.turn) for seen in scene.model.seen)
    assert {place: times for place, times in calls.items() if times > 1} == {("developer", 1, 2): 2}
    replies = [record.data for record in await scene.log() if record.data.get("kind") == "reply"]
    assert len(replies) == 6
    assert len(await scene.statuses()) == len(await scene.pulls()) == 1


async def test_two_workers_share_the_work(house: House) -> None:
    await house.start_worker()
    try:
        scenes = [await Scene.open(house, f"shared-{number}") for number in range(3)]
        for scene in scenes:
            await scene.file()
        for scene in scenes:
            await scene.begun()
        for scene in scenes:
            await scene.event("gate_opened", gate="quality")
            await scene.shows("Waiting for people")
            assert len(await scene.statuses()) == len(await scene.pulls()) == 1
            assert await scene.conclusion() == "action_required"
            assert len(scene.model.seen) == 5
    finally:
        await house.stop_workers()
        await house.start_worker()
