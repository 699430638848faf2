"""Webhooks: signed, in order, complete, recorded, and sent again only when asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from infra.local_github.webhooks import sign
from tests.infra.local_github.scene import Scene

REPO = "/repos/acme/shop"


@dataclass
class Receiver:
    """A bare HTTP server that keeps what it gets and answers `status`."""

    status: int = 202
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        headers = {key.lower(): value for key, value in pairs}
        self.got.append((headers, await reader.readexactly(int(headers["content-length"]))))
        writer.write(f"HTTP/1.1 {self.status} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".encode())
        await writer.drain()
        writer.close()

    @property
    def names(self) -> list[str]:
        """`event.action` of each delivery, in order of arrival."""
        return [".".join(filter(None, (h["x-github-event"], json.loads(b).get("action")))) for h, b in self.got]

    def last(self, name: str) -> dict[str, Any]:
        """The newest payload of an `event.action`."""
        at = len(self.names) - 1 - self.names[::-1].index(name)
        payload = json.loads(self.got[at][1])
        assert isinstance(payload, dict)
        return payload


@pytest.fixture
async def receiver(scene: Scene) -> AsyncIterator[Receiver]:
    made = Receiver()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/webhook"
    scene.gh.world.set_webhook("seconder", made.url, "It's a Secret to Everybody")
    yield made
    server.close()
    await server.wait_closed()


def test_signature_is_githubs_example() -> None:
    expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign("It's a Secret to Everybody", b"Hello, World!") == expected


async def test_a_delivery_carries_githubs_headers_and_a_true_signature(scene: Scene, receiver: Receiver) -> None:
    await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": "Ünïcode 🎉", "body": "b", "labels": ["bug"]})
    await scene.gh.webhooks_idle()
    assert receiver.names == ["issues.opened", "issues.labeled"]
    headers, body = receiver.got[0]
    assert headers["x-hub-signature-256"] == sign("It's a Secret to Everybody", body)
    assert headers["x-github-hook-installation-target-type"] == "integration"
    assert headers["x-github-hook-installation-target-id"] == str(scene.app.id)
    assert headers["user-agent"].startswith("GitHub-Hookshot/")
    assert "🎉".encode() in body
    payload = json.loads(body)
    assert list(payload) == ["action", "issue", "repository", "sender", "installation"]
    assert payload["sender"]["login"] == payload["issue"]["user"]["login"] == "bob"
    assert payload["repository"]["id"] == scene.repo.id
    assert payload["installation"]["id"] == scene.installation.id


async def test_a_pull_requests_life(scene: Scene, receiver: Receiver) -> None:
    act = scene.gh.act
    number = await scene.pull(draft=True)
    await act("ada", "PATCH", f"{REPO}/pulls/{number}", {"title": "Other words"})
    node = (await act("ada", "GET", f"{REPO}/pulls/{number}"))["node_id"]
    for verb in ("markPullRequestReadyForReview", "convertPullRequestToDraft", "markPullRequestReadyForReview"):
        query = f"mutation($id: ID!) {{ {verb}(input: {{pullRequestId: $id}}) {{ pullRequest {{ isDraft }} }} }}"
        reply = await act("ada", "POST", "/graphql", {"query": query, "variables": {"id": node}})
        assert "errors" not in reply
    await act("ada", "POST", f"{REPO}/pulls/{number}/requested_reviewers", {"reviewers": ["bob"]})
    comment = {"path": "feature.txt", "line": 1, "body": "why"}
    review = {"event": "REQUEST_CHANGES", "body": "no", "comments": [comment]}
    made = await act("bob", "POST", f"{REPO}/pulls/{number}/reviews", review)
    await act("ada", "PUT", f"{REPO}/pulls/{number}/reviews/{made['id']}/dismissals", {"message": "m"})
    await act("ada", "PUT", f"{REPO}/contents/x.txt", {"message": "m", "content": "eA==", "branch": "feature"})
    await act("bob", "POST", f"{REPO}/issues/{number}/comments", {"body": "/approve"})
    await act("ada", "PATCH", f"{REPO}/pulls/{number}", {"state": "closed"})
    await act("ada", "PATCH", f"{REPO}/pulls/{number}", {"state": "open"})
    await act("ada", "PUT", f"{REPO}/pulls/{number}/merge", {})
    await scene.gh.webhooks_idle()
    assert receiver.names == [
        "push",
        "create",
        "pull_request.opened",
        "pull_request.edited",
        "pull_request.ready_for_review",
        "pull_request.converted_to_draft",
        "pull_request.ready_for_review",
        "pull_request.review_requested",
        "pull_request_review.submitted",
        "pull_request_review_comment.created",
        "pull_request_review.dismissed",
        "push",
        "pull_request.synchronize",
        "issue_comment.created",
        "pull_request.closed",
        "pull_request.reopened",
        "pull_request.closed",
        "push",
    ]
    _check_payloads(scene, receiver, number)


def _check_payloads(scene: Scene, receiver: Receiver, number: int) -> None:
    pull = scene.repo.pulls[number]
    closed = receiver.last("pull_request.closed")["pull_request"]
    assert (closed["merged"], closed["merged_by"]["login"], closed["head"]["sha"]) == (True, "ada", pull.head_sha)
    assert closed["merge_commit_sha"] == pull.merge_sha
    moved = receiver.last("pull_request.synchronize")
    assert (moved["after"], moved["pull_request"]["head"]["sha"]) == (pull.head_sha, pull.head_sha)
    assert moved["before"] != moved["after"]
    assert receiver.last("pull_request_review.submitted")["review"]["state"] == "changes_requested"
    assert receiver.last("pull_request.edited")["changes"] == {"title": {"from": "Add feature"}}
    commented = receiver.last("issue_comment.created")
    assert commented["issue"]["pull_request"]["url"].endswith(f"/pulls/{number}")
    assert commented["comment"]["performed_via_github_app"] is None
    push = receiver.last("push")
    assert (push["ref"], push["after"], push["created"]) == ("refs/heads/main", pull.merge_sha, False)


async def test_check_runs_and_their_buttons(scene: Scene, receiver: Receiver) -> None:
    head = scene.repo.pulls[await scene.pull()].head_sha
    async with scene.installed() as g:
        rest: Any = g.rest
        actions = [{"label": "Approve", "description": "Let it pass", "identifier": "approve"}]
        data = {"name": "seconder/quality", "head_sha": head, "status": "in_progress", "actions": actions}
        run = (await rest.checks.async_create("acme", "shop", data=data)).parsed_data.id
        await rest.checks.async_update("acme", "shop", run, data={"conclusion": "action_required"})
    await scene.gh.act("bob", "POST", f"{REPO}/check-runs/{run}/press", {"identifier": "approve"})
    await scene.gh.act("ada", "POST", f"{REPO}/check-runs/{run}/rerequest")
    async with scene.http("bob") as client:
        assert (await client.post(f"{REPO}/check-runs/{run}/press", json={"identifier": "no"})).status_code == 422
    await scene.gh.webhooks_idle()
    assert receiver.names[3:] == [
        "check_run.created",
        "check_run.completed",
        "check_suite.completed",
        "check_run.requested_action",
        "check_run.rerequested",
    ]
    made = receiver.last("check_run.created")
    assert (made["sender"]["type"], made["check_run"]["app"]["id"]) == ("Bot", scene.app.id)
    pressed = receiver.last("check_run.requested_action")
    assert (pressed["requested_action"], pressed["sender"]["login"]) == ({"identifier": "approve"}, "bob")
    assert pressed["check_run"]["head_sha"] == head
    assert pressed["check_run"]["check_suite"]["conclusion"] == "action_required"


async def test_failures_are_recorded_and_redelivered_on_request(scene: Scene, receiver: Receiver) -> None:
    receiver.status = 503
    await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": "t"})
    await scene.gh.webhooks_idle()
    await asyncio.sleep(0.05)
    assert len(receiver.got) == 1
    receiver.status = 202
    g = scene.installed()
    async with g.with_auth(g.auth.as_app()) as client:
        apps: Any = client.rest.apps
        failed = (await apps.async_list_webhook_deliveries(status="failure")).parsed_data
        assert [(d.event, d.status_code, d.redelivery) for d in failed] == [("issues", 503, False)]
        await apps.async_redeliver_webhook_delivery(failed[0].id)
        await scene.gh.webhooks_idle()
        listed = (await apps.async_list_webhook_deliveries(per_page=1)).parsed_data
    assert (listed[0].guid, listed[0].status, listed[0].redelivery) == (failed[0].guid, "OK", True)
    assert receiver.got[0][1] == receiver.got[1][1]


async def test_deliveries_are_paged_by_cursor(scene: Scene, receiver: Receiver) -> None:
    for number in range(3):
        await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": str(number)})
    await scene.gh.webhooks_idle()
    g, ids = scene.installed(), []
    async with g.with_auth(g.auth.as_app()) as client:
        url = f"{scene.gh.api_url}/app/hook/deliveries?per_page=2"
        while url:
            reply = await client.arequest("GET", url)
            ids += [d["id"] for d in reply.json()]
            url = reply.raw_response.links.get("next", {}).get("url", "")
    assert ids == sorted(scene.gh.world.deliveries, reverse=True)


async def test_unreachable_receivers_and_refused_calls(scene: Scene, receiver: Receiver) -> None:
    scene.gh.world.set_webhook("seconder", "http://127.0.0.1:1/", "s")
    await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": "t"})
    await scene.gh.webhooks_idle()
    assert [d.status for d in scene.gh.world.deliveries.values()] == ["failed to connect to host"]
    async with scene.http("bob") as client:
        await client.post(f"{REPO}/issues", json={"title": ""})
    assert len(scene.gh.world.deliveries) == 1


async def test_only_subscribed_and_unsuspended_apps_hear(scene: Scene, receiver: Receiver) -> None:
    scene.installation.events = ["push"]
    await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": "t"})
    scene.installation.events = ["issues"]
    scene.installation.suspended_at = scene.clock()
    await scene.gh.act("bob", "POST", f"{REPO}/issues", {"title": "t"})
    await scene.gh.webhooks_idle()
    assert receiver.got == []
