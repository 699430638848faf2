"""A delivery as the web server would hand it to the webhook."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.types import Message

from bot.webhook import Webhook

SECRET = "a test secret of our own"
PERSON = {"id": 5, "login": "ada", "type": "User"}
AROUND = {"repository": {"id": 1, "full_name": "o/r"}, "installation": {"id": 3}, "sender": PERSON}
COMMENT = {
    **AROUND,
    "action": "created",
    "issue": {"number": 4},
    "comment": {"id": 9, "body": "/approve ☃", "user": PERSON},
}
PRESS = {
    **AROUND,
    "action": "requested_action",
    "check_run": {"id": 8, "name": "seconder/quality", "head_sha": "a" * 40, "app": {"id": 77}},
    "requested_action": {"identifier": "approve"},
}


def sign(body: bytes, secret: str = SECRET) -> str:
    """The value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def encode(payload: object) -> bytes:
    """As GitHub does: UTF-8, not ASCII escapes."""
    return json.dumps(payload, ensure_ascii=False).encode()


@dataclass
class Sent:
    """A request as the server would hand it over, and what came back."""

    body: bytes = encode(COMMENT)
    event: str = "issue_comment"
    delivery: str = "d-1"
    method: str = "POST"
    chunk: int = 1 << 16
    headers: Mapping[str, str | bytes | None] = field(default_factory=dict)
    extra: tuple[tuple[bytes, bytes], ...] = ()
    cut_off: bool = False
    status: int = 0
    answer: dict[str, object] = field(default_factory=dict)

    def head(self) -> list[tuple[bytes, bytes]]:
        """GitHub's headers, overridden by `headers`; None takes one away."""
        given: dict[str, str | bytes | None] = {
            "content-type": "application/json",
            "x-github-event": self.event,
            "x-github-delivery": self.delivery,
            "x-hub-signature-256": sign(self.body),
            "x-github-hook-installation-target-type": "integration",
            "x-github-hook-installation-target-id": "77",
            **self.headers,
        }
        raw = {k: v.encode() if isinstance(v, str) else v for k, v in given.items() if v is not None}
        return [(name.encode(), value) for name, value in raw.items()] + list(self.extra)

    async def to(self, webhook: Webhook) -> Sent:
        """Send it; `status` and `answer` are filled in."""
        parts = [self.body[at : at + self.chunk] for at in range(0, len(self.body), self.chunk)] or [b""]
        messages: list[Message] = [
            {"type": "http.request", "body": part, "more_body": self.cut_off or number + 1 < len(parts)}
            for number, part in enumerate(parts)
        ]
        messages.append({"type": "http.disconnect"})

        async def receive() -> Message:
            return messages.pop(0)

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            else:
                self.answer = json.loads(message["body"])

        await webhook({"type": "http", "method": self.method, "headers": self.head()}, receive, send)
        return self
