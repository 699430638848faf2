"""Signed webhook deliveries for the measurement: each with a body and an id of its own, about 8 KB long."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass

SECRET = "a-secret-for-the-bench-only"
APP_ID = 4242


@dataclass(frozen=True)
class Sent:
    """One HTTP request, ready to be written to a socket."""

    raw: bytes


def made(count: int) -> list[Sent]:
    """`count` deliveries of `issues.opened`, none like another."""
    return [_one(number) for number in range(count)]


def _one(number: int) -> Sent:
    person = {"id": 7, "login": "ana", "type": "User", "url": "https://api.github.com/users/ana", "site_admin": False}
    payload = {
        "action": "opened",
        "issue": {
            "number": number + 1,
            "title": f"Issue {number}",
            "user": person,
            "body": "words and words " * 350,
            "labels": [{"id": n, "name": f"label-{n}", "color": "ededed"} for n in range(5)],
            "state": "open",
        },
        "repository": {"id": 99, "full_name": "octo/tally", "default_branch": "main", "owner": person},
        "installation": {"id": 5},
        "sender": person,
    }
    body = json.dumps(payload).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    head = (
        "POST /webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"X-GitHub-Event: issues\r\nX-GitHub-Delivery: {uuid.uuid4()}\r\n"
        f"X-GitHub-Hook-Installation-Target-Type: integration\r\nX-GitHub-Hook-Installation-Target-ID: {APP_ID}\r\n"
        f"X-Hub-Signature-256: sha256={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return Sent(head.encode() + body)
