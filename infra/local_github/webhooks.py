"""Webhooks: who gets one, what it carries, its signature, its delivery in order, and the record of each attempt."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from infra.local_github.objects_base import installation_object, node_id, repository, simple_user
from infra.local_github.records import App, Delivery, Installation, Json, Repo

if TYPE_CHECKING:
    from infra.local_github.world import World

WEBHOOK_TIMEOUT = 10.0
_KEPT_RESPONSE = 4_096


@dataclass(frozen=True)
class Notice:
    """Something that happened in a repository: `body` holds the event's own objects."""

    repo: Repo
    event: str
    action: str | None
    body: Json
    sender_id: int
    only_app: int | None = None


def sign(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature-256: HMAC-SHA256 over the raw body, in hex (GitHub: Validating deliveries)."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def enqueue(world: World, notice: Notice) -> None:
    """Put a delivery for each subscribed App that reaches the repository into the outbox."""
    for made in world.installations_of(notice.repo):
        app = world.state.apps[made.app_id]
        wanted = notice.event in made.events and notice.only_app in (None, app.id)
        if not wanted or not app.webhook_url or made.suspended_at:
            continue
        payload = {
            **({"action": notice.action} if notice.action else {}),
            **notice.body,
            "repository": repository(world, notice.repo),
            "sender": simple_user(world, world.state.users[notice.sender_id]),
            "installation": {"id": made.id, "node_id": node_id("Installation", made.id)},
        }
        _add(world, app, notice.event, payload)


def announce_installation(world: World, made: Installation) -> None:
    """Queue `ping` and `installation.created` for a new installation."""
    app = world.state.apps[made.app_id]
    if not app.webhook_url:
        return
    hook = {"type": "App", "id": app.id, "name": "web", "active": True, "events": app.events, "app_id": app.id}
    _add(world, app, "ping", {"zen": "Keep it logically awesome.", "hook_id": app.id, "hook": hook})
    chosen = [world.state.repos[r] for r in made.repository_ids]
    brief = [
        {
            "id": r.id,
            "node_id": node_id("Repository", r.id),
            "name": r.name,
            "full_name": world.full_name(r),
            "private": r.private,
        }
        for r in chosen
    ]
    payload = {
        "action": "created",
        "installation": installation_object(world, made),
        "repositories": brief,
        "requester": None,
        "sender": simple_user(world, world.state.users[made.account_id]),
    }
    _add(world, app, "installation", payload)


def _add(world: World, app: App, event: str, payload: Json) -> None:
    delivery = Delivery(
        id=world.new_id(),
        guid=str(uuid.uuid4()),
        app_id=app.id,
        event=event,
        action=payload.get("action"),
        installation_id=payload.get("installation", {}).get("id"),
        repository_id=payload.get("repository", {}).get("id"),
        payload=json.dumps(payload, ensure_ascii=False, separators=(",", ":")),
        delivered_at=world.now(),
    )
    world.outbox.append(delivery)


def redeliver(world: World, old: Delivery) -> Delivery:
    """Queue another attempt of a delivery: same guid and payload, new id."""
    again = old.model_copy(
        update={
            "id": world.new_id(),
            "redelivery": True,
            "status": "pending",
            "status_code": 0,
            "delivered_at": world.now(),
        }
    )
    world.outbox.append(again)
    return again


def headers(app: App, delivery: Delivery) -> dict[str, str]:
    """The headers of one delivery, signature included."""
    body = delivery.payload.encode()
    return {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/local",
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Hook-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": sign(app.webhook_secret, body),
    }


class Deliverer:
    """Sends the outbox, oldest first, one at a time; a failure is recorded and not retried, as on GitHub."""

    def __init__(self, world: World, timeout: float = WEBHOOK_TIMEOUT) -> None:
        self.world = world
        self.timeout = timeout
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin delivering."""
        self._task = asyncio.create_task(self._run(), name="local-github-webhooks")

    async def stop(self) -> None:
        """Stop; what is pending stays in the data directory and goes out after the next start."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until nothing is pending."""
        while self.world.outbox or self.world.sending:  # noqa: ASYNC110 - filled in many places, awaited in tests
            await asyncio.sleep(0.005)

    async def _run(self) -> None:
        async with httpx.AsyncClient(timeout=self.timeout, trust_env=False) as client:
            while True:
                while not self.world.outbox:
                    self.world.queued.clear()
                    await self.world.queued.wait()
                # A call under way may still take back what it queued; only committed deliveries go out.
                async with self.world.lock:
                    if not self.world.outbox:
                        continue
                    delivery = self.world.outbox.pop(0)
                    self.world.sending = True
                try:
                    await self._send(client, delivery)
                finally:
                    self.world.sending = False

    async def _send(self, client: httpx.AsyncClient, delivery: Delivery) -> None:
        app = self.world.state.apps[delivery.app_id]
        delivery.request_headers = headers(app, delivery)
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                reply = await client.post(
                    app.webhook_url or "", content=delivery.payload.encode(), headers=delivery.request_headers
                )
        except (httpx.TimeoutException, TimeoutError):
            delivery.status, delivery.status_code = "timed out", 504
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            delivery.status, delivery.status_code = "failed to connect to host", 502
        else:
            delivery.status = "OK" if reply.is_success else f"Invalid HTTP Response: {reply.status_code}"
            delivery.status_code = reply.status_code
            delivery.response_headers = dict(reply.headers)
            delivery.response_body = reply.text[:_KEPT_RESPONSE]
        delivery.duration = round(time.monotonic() - began, 3)
        delivery.delivered_at = self.world.now()
        self.world.deliveries[delivery.id] = delivery
        self.world.save_delivery(delivery)
