"""`POST /webhook`: the one door for GitHub's deliveries, a bare ASGI application.

Read the raw bytes, verify the signature over exactly them, then parse, translate and store in one call, then answer
202. Nothing else happens here, so an answer takes milliseconds; GitHub waits for ten seconds and never tries again.
Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import structlog
from pydantic_core import from_json
from starlette.types import Receive, Scope, Send

from handlers.github import AppIdentity, PayloadError, Translation, translate
from handlers.ports import Bus, Delivery

_SIGNATURE = re.compile(rb"sha256=[0-9a-f]{64}")
_DELIVERY = re.compile(r"[A-Za-z0-9-]{1,64}")
_EVENT = re.compile(r"[a-z_]{1,64}")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Limits:
    """What one delivery may cost.

    `body` is GitHub's own cap in bytes. A body over `large` bytes needs one of `large_at_once` places, since anybody
    can send one before the signature is known. `read_s` and `store_s` are seconds; together they stay under the ten
    that GitHub waits.
    """

    body: int = 25 * 1024 * 1024
    large: int = 1024 * 1024
    large_at_once: int = 4
    read_s: float = 5.0
    store_s: float = 4.0


class Answered(Exception):
    """The delivery ends here, with this status; `outcome` is for the log and the counters."""

    def __init__(self, status: int, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.outcome, self.reason = status, outcome, reason


class Disconnected(Exception):
    """The sender went away before its body was complete: there is nobody to answer."""


@dataclass(frozen=True)
class Outcome:
    """How a delivery ended: the HTTP status, a word for log and counters, and the answer's JSON."""

    status: int
    word: str
    answer: Mapping[str, object]


@dataclass(eq=False)
class Webhook:
    """An ASGI application for one path. It depends on the bus, on who we are, and on the secrets.

    `secrets` are all that are valid now (two while one is replaced). `unavailable` are the exceptions by which the bus
    says that its store cannot be reached. `count` is told each delivery's outcome. Raises `ValueError` when there is
    no secret, or an empty one.
    """

    bus: Bus
    app: AppIdentity
    secrets: Sequence[str] = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    unavailable: tuple[type[Exception], ...] = (OSError,)
    count: Callable[[str], None] = lambda outcome: None

    def __post_init__(self) -> None:
        if not self.secrets or not all(secret.strip() for secret in self.secrets):
            raise ValueError(
                "GITHUB_WEBHOOK_SECRET is missing or has an empty part: anybody could send deliveries. "
                "Set it to the secret of the App's webhook."
            )
        self.unavailable = (*self.unavailable, TimeoutError)
        self._secrets = tuple(secret.encode() for secret in self.secrets)
        self._large = 0
        self._log = structlog.get_logger("webhook")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        headers = _Headers(scope)
        try:
            outcome = await self._outcome(scope, headers, receive)
        except Answered as end:
            outcome = Outcome(end.status, end.outcome, {"error": end.reason})
        except Disconnected:
            outcome = Outcome(0, "disconnected", {})
        self.count(outcome.word)
        self._log.log(
            20 if outcome.status in {200, 202} else 30,
            "delivery",
            delivery=headers.known(b"x-github-delivery", _DELIVERY),
            github_event=headers.known(b"x-github-event", _EVENT),
            status=outcome.status,
            outcome=outcome.word,
            reason=outcome.answer.get("error"),
            ms=round((time.monotonic() - started) * 1000, 1),
        )
        if outcome.status:
            await _send(send, outcome)

    async def _outcome(self, scope: Scope, headers: _Headers, receive: Receive) -> Outcome:
        """One delivery from its first byte to its answer. Raises `Answered` or `Disconnected`."""
        if scope["method"] != "POST":
            raise Answered(405, "method", "Send deliveries with POST.")
        body = await self._body(headers, receive)
        self._verify(headers, body)
        text = _payload_text(headers, body)
        delivery = headers.known(b"x-github-delivery", _DELIVERY)
        event = headers.known(b"x-github-event", _EVENT)
        if delivery is None or event is None:
            raise Answered(400, "headers", "X-GitHub-Delivery or X-GitHub-Event is missing or malformed.")
        self._own_target(headers)
        translation = self._translate(event, text, delivery)
        if event == "ping":
            return Outcome(200, "ping", {"ok": "Seconder hears you."})
        if not translation.events:
            return Outcome(202, "ignored", {"events": 0})
        digest = hashlib.sha256(body).hexdigest() if translation.dedupe_body else None
        return await self._store(Delivery(delivery, digest, translation.events))

    async def _body(self, headers: _Headers, receive: Receive) -> bytes:
        """The raw body, at most `limits.body` bytes, counted as they arrive: a declared length may lie or be absent."""
        declared = headers.only(b"content-length") or b""
        if declared.isdigit() and (len(declared) > 12 or int(declared) > self.limits.body):
            raise self._too_large()
        large = False
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.read_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Disconnected
                    body += message.get("body", b"")
                    if len(body) > self.limits.body:
                        raise self._too_large()
                    if len(body) > self.limits.large and not large:
                        large = self._take_place()
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise Answered(408, "slow", "The body took too long.") from None
        finally:
            self._large -= large

    def _too_large(self) -> Answered:
        return Answered(413, "too_large", f"A delivery is at most {self.limits.body} bytes.")

    def _take_place(self) -> bool:
        """Take a place for a large body; True. Raises `Answered` when all are taken."""
        if self._large >= self.limits.large_at_once:
            raise Answered(503, "busy", "Too many large deliveries at once. Redeliver this one later.")
        self._large += 1
        return True

    def _verify(self, headers: _Headers, body: bytes) -> None:
        """Compare the signature with that of each secret, as bytes: a header may hold any byte."""
        given = headers.only(b"x-hub-signature-256") or b""
        right = False
        for secret in self._secrets if _SIGNATURE.fullmatch(given) else ():
            expected = b"sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
            right |= hmac.compare_digest(expected, given)
        if not right:
            raise Answered(401, "signature", "X-Hub-Signature-256 does not fit the body and our secret.")

    def _own_target(self, headers: _Headers) -> None:
        """Refuse deliveries of a repository's or another App's webhook that was given the same secret."""
        ids = headers.all(b"x-github-hook-installation-target-id")
        types = headers.all(b"x-github-hook-installation-target-type")
        if any(kind != b"integration" for kind in types) or any(one != str(self.app.app_id).encode() for one in ids):
            raise Answered(403, "target", "This delivery is not for our App: see X-GitHub-Hook-Installation-Target-ID.")

    def _translate(self, event: str, text: bytes, delivery: str) -> Translation:
        """Parse and translate. The parser refuses deep nesting and lone surrogates."""
        try:
            payload = from_json(text, allow_inf_nan=False)
        except ValueError as error:
            raise Answered(400, "malformed", f"The payload is not JSON that we accept: {error}.") from None
        if not isinstance(payload, dict):
            raise Answered(400, "malformed", "The payload is not a JSON object.")
        try:
            return translate(event, payload, delivery, self.app)
        except PayloadError as error:
            raise Answered(400, "shape", str(error)) from None

    async def _store(self, delivery: Delivery) -> Outcome:
        """Put the events on the bus, once. GitHub must see a failure when the store cannot be reached."""
        try:
            async with asyncio.timeout(self.limits.store_s):
                new = await self.bus.ingest(delivery)
        except self.unavailable as error:
            self._log.error("store unavailable", delivery=delivery.id, error=type(error).__name__)
            raise Answered(503, "store_down", "The store cannot be reached. Redeliver this delivery later.") from None
        if not new:
            return Outcome(202, "duplicate", {"duplicate": True})
        return Outcome(202, "stored", {"events": len(delivery.events)})


class _Headers:
    """A request's headers. Header names are lower case in ASGI; a header that is given twice is not to be trusted."""

    def __init__(self, scope: Scope) -> None:
        self._headers: Sequence[tuple[bytes, bytes]] = tuple(scope["headers"])

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._headers if key == name]

    def only(self, name: bytes) -> bytes | None:
        """The header's value, or None when it is missing or given more than once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None

    def known(self, name: bytes, shape: re.Pattern[str]) -> str | None:
        """The header as text if it has the shape, else None."""
        text = (self.only(name) or b"").decode("ascii", "replace")
        return text if shape.fullmatch(text) else None


def _payload_text(headers: _Headers, body: bytes) -> bytes:
    """The JSON of a body, which is the body itself or the form field `payload`."""
    kind, _, rest = (headers.only(b"content-type") or b"").decode("latin-1").lower().partition(";")
    charset = next((part.split("=", 1)[1] for part in rest.split(";") if part.strip().startswith("charset=")), "utf-8")
    if charset.strip().strip('"') not in {"utf-8", "utf8"}:
        raise Answered(415, "content_type", "Send UTF-8.")
    if kind.strip() == "application/json":
        return body
    if kind.strip() != _FORM:
        raise Answered(415, "content_type", f"Send application/json, or {_FORM} with the field payload.")
    try:
        fields = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=8, errors="strict")
    except ValueError:
        raise Answered(400, "malformed", "The form cannot be read.") from None
    if len(fields.get("payload", ())) != 1:
        raise Answered(400, "malformed", "The form has no field payload, or more than one.")
    return fields["payload"][0].encode()


async def _send(send: Send, outcome: Outcome) -> None:
    """The answer as JSON."""
    body = json.dumps(outcome.answer).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": outcome.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
