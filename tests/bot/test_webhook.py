"""The webhook's contract: what is answered, what is stored, and that nothing unsigned gets anywhere."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections import Counter
from urllib.parse import urlencode

import pytest
import structlog
from starlette.types import Message

from bot.webhook import Limits, Webhook
from handlers.github import AppIdentity
from handlers.ports import Bus, Delivery
from tests.bot.sent import COMMENT, PRESS, SECRET, Sent, encode, sign
from tests.fakes.bus import FakeBus

USUAL = Limits()
APP = AppIdentity(app_id=77, bot_id=None, slug="seconder")


def webhook(bus: Bus, limits: Limits = USUAL, secrets: tuple[str, ...] = (SECRET,)) -> Webhook:
    """A webhook with our secret."""
    return Webhook(bus, APP, secrets, limits)


async def test_a_delivery_is_stored_and_accepted() -> None:
    bus = FakeBus()
    sent = await Sent().to(webhook(bus))
    assert (sent.status, sent.answer) == (202, {"events": 1})
    (stored,) = bus.deliveries
    assert (stored.id, stored.body_digest) == ("d-1", hashlib.sha256(encode(COMMENT)).hexdigest())
    assert [(event.id, event.name, event.data["verb"]) for event in stored.events] == [
        ("d-1", "command_given", "approve")
    ]


async def test_the_documented_vector_verifies() -> None:
    """Source: GitHub docs, Validating webhook deliveries, "Testing the webhook payload validation"."""
    body = b"Hello, World!"
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    sent = Sent(body=body, headers={"x-hub-signature-256": signature})
    await sent.to(webhook(FakeBus(), secrets=("It's a Secret to Everybody",)))
    assert (sent.status, sent.answer["error"]) == (
        400,
        "The payload is not JSON that we accept: expected value at line 1 column 1.",
    )


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(Sent(event="ping", body=encode({"zen": "x"})), 200, id="ping without an installation"),
        pytest.param(Sent(event="sponsorship"), 202, id="unknown event"),
        pytest.param(Sent(body=encode({**COMMENT, "action": "pinned"})), 202, id="unknown action"),
        pytest.param(Sent(body=encode({**COMMENT, "installation": None})), 202, id="null installation"),
        pytest.param(Sent(body=encode({"action": "created"})), 202, id="nothing but an action"),
        pytest.param(Sent(body=b"{}"), 202, id="empty object"),
        pytest.param(Sent(headers={"content-type": "application/json; charset=utf-8"}), 202, id="charset"),
        pytest.param(Sent(headers={"content-type": 'Application/JSON;charset="UTF-8"'}), 202, id="quoted charset"),
        pytest.param(Sent(chunk=1), 202, id="byte by byte"),
        pytest.param(Sent(headers={"content-length": "1"}), 202, id="length that lies low"),
        pytest.param(
            Sent(
                headers={
                    "x-github-hook-installation-target-type": None,
                    "x-github-hook-installation-target-id": None,
                }
            ),
            202,
            id="no target headers",
        ),
        pytest.param(Sent(method="GET"), 405, id="get"),
        pytest.param(Sent(method="PUT"), 405, id="put"),
        pytest.param(Sent(headers={"x-hub-signature-256": None}), 401, id="no signature"),
        pytest.param(Sent(headers={"x-hub-signature-256": ""}), 401, id="empty signature"),
        pytest.param(Sent(headers={"x-hub-signature-256": "sha256="}), 401, id="bare prefix"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT), "other")}), 401, id="other secret"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT), "")}), 401, id="empty secret"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT))[7:]}), 401, id="no prefix"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT)).upper()}), 401, id="upper case"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT)) + "\n"}), 401, id="trailing newline"),
        pytest.param(Sent(headers={"x-hub-signature-256": sign(encode(COMMENT))[:-1]}), 401, id="one digit short"),
        pytest.param(Sent(headers={"x-hub-signature-256": b"sha256=" + b"\xc3\xa9" * 32}), 401, id="not ASCII"),
        pytest.param(Sent(headers={"x-hub-signature-256": b"sha256=\xff\x00"}), 401, id="not UTF-8"),
        pytest.param(
            Sent(
                headers={
                    "x-hub-signature-256": None,
                    "x-hub-signature": "sha1=" + hmac.new(SECRET.encode(), encode(COMMENT), "sha1").hexdigest(),
                }
            ),
            401,
            id="only SHA-1",
        ),
        pytest.param(
            Sent(extra=((b"x-hub-signature-256", sign(encode(COMMENT)).encode()),)), 401, id="signature given twice"
        ),
        pytest.param(
            Sent(body=encode(COMMENT) + b" ", headers={"x-hub-signature-256": sign(encode(COMMENT))}),
            401,
            id="one space more than was signed",
        ),
        pytest.param(Sent(headers={"content-type": "text/plain"}), 415, id="plain text"),
        pytest.param(Sent(headers={"content-type": None}), 415, id="no content type"),
        pytest.param(Sent(headers={"content-type": "application/json; charset=latin-1"}), 415, id="other charset"),
        pytest.param(Sent(headers={"content-type": "multipart/form-data"}), 415, id="multipart"),
        pytest.param(
            Sent(headers={"content-type": "text/plain", "x-hub-signature-256": "x"}), 401, id="signature comes first"
        ),
        pytest.param(Sent(headers={"x-github-event": None}), 400, id="no event"),
        pytest.param(Sent(headers={"x-github-delivery": None}), 400, id="no delivery"),
        pytest.param(Sent(headers={"x-github-delivery": "a" * 65}), 400, id="delivery too long"),
        pytest.param(Sent(headers={"x-github-delivery": "a.1"}), 400, id="delivery that names a second event"),
        pytest.param(Sent(headers={"x-github-delivery": "a\nb"}), 400, id="delivery with a line break"),
        pytest.param(Sent(headers={"x-github-event": "../issues"}), 400, id="odd event"),
        pytest.param(Sent(body=b""), 400, id="empty body"),
        pytest.param(Sent(body=b"{"), 400, id="half JSON"),
        pytest.param(Sent(body=b"[]"), 400, id="list"),
        pytest.param(Sent(body=b"null"), 400, id="null"),
        pytest.param(Sent(body=b'{"a": NaN}'), 400, id="NaN"),
        pytest.param(Sent(body=b'{"a": "\xff"}'), 400, id="not UTF-8 text"),
        pytest.param(Sent(body=b'{"a": "\\ud800"}'), 400, id="lone surrogate"),
        pytest.param(Sent(body=b"[" * 100_000), 400, id="100,000 brackets"),
        pytest.param(Sent(body=b'{"a":' * 300 + b"1" + b"}" * 300), 400, id="300 levels"),
        pytest.param(Sent(event="ping", body=b"no JSON"), 400, id="ping that is no JSON"),
        pytest.param(Sent(body=encode({**COMMENT, "issue": "no object"})), 400, id="text for an object"),
        pytest.param(Sent(body=encode({**COMMENT, "comment": {"id": {}}})), 400, id="object for a number"),
        pytest.param(Sent(headers={"x-github-hook-installation-target-id": "78"}), 403, id="another App"),
        pytest.param(Sent(headers={"x-github-hook-installation-target-id": "077"}), 403, id="our number, padded"),
        pytest.param(Sent(headers={"x-github-hook-installation-target-type": "repository"}), 403, id="repository hook"),
        pytest.param(
            Sent(extra=((b"x-github-hook-installation-target-id", b"78"),)), 403, id="ours and another App's number"
        ),
        pytest.param(Sent(headers={"content-length": "99999999"}), 413, id="declared too large"),
        pytest.param(Sent(headers={"content-length": "9" * 5000}), 413, id="absurd length"),
        pytest.param(Sent(cut_off=True), 0, id="connection lost half-way"),
    ],
)
async def test_what_is_answered(sent: Sent, status: int) -> None:
    bus = FakeBus()
    await sent.to(webhook(bus))
    assert sent.status == status
    assert len(bus.deliveries) == (status == 202 and sent.answer != {"events": 0})


async def test_an_error_never_repeats_what_was_sent() -> None:
    sent = Sent(body=encode({**COMMENT, "issue": {"number": "ghs_secretlooking"}}))
    await sent.to(webhook(FakeBus()))
    assert sent.answer == {"error": "issue_comment: not of the documented type: issue.number"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(urlencode({"payload": json.dumps(COMMENT)}).encode(), 202, id="form"),
        pytest.param(urlencode({"payload": encode(COMMENT).decode()}).encode(), 202, id="form with UTF-8"),
        pytest.param(b"payload=%7B%7D&payload=%7B%7D", 400, id="two payloads"),
        pytest.param(b"other=1", 400, id="no payload"),
        pytest.param(b"payload", 400, id="no value"),
        pytest.param(b"payload=%ff", 400, id="not UTF-8"),
        pytest.param("payload=☃".encode(), 400, id="not encoded"),
        pytest.param(b"a=1&" * 50 + b"payload=%7B%7D", 400, id="many fields"),
    ],
)
async def test_forms(body: bytes, status: int) -> None:
    sent = await Sent(body=body, headers={"content-type": "application/x-www-form-urlencoded"}).to(webhook(FakeBus()))
    assert sent.status == status


@pytest.mark.parametrize(
    ("second", "answer"),
    [
        pytest.param(Sent(), {"duplicate": True}, id="the same delivery again"),
        pytest.param(Sent(delivery="d-2"), {"duplicate": True}, id="replayed under another delivery id"),
        pytest.param(
            Sent(delivery="d-2", body=encode({**COMMENT, "issue": {"number": 5}})), {"events": 1}, id="another comment"
        ),
    ],
)
async def test_a_delivery_is_stored_once(second: Sent, answer: dict[str, object]) -> None:
    hook = webhook(FakeBus())
    await Sent().to(hook)
    await second.to(hook)
    assert (second.status, second.answer) == (202, answer)


async def test_a_button_may_be_pressed_twice() -> None:
    bus = FakeBus()
    for delivery in ("d-1", "d-2", "d-2"):
        await Sent(body=encode(PRESS), event="check_run", delivery=delivery).to(webhook(bus))
    assert [(one.id, one.body_digest) for one in bus.deliveries] == [("d-1", None), ("d-2", None)]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ConnectionRefusedError("no store"), id="refused"),
        pytest.param(OSError("socket gone"), id="socket gone"),
        pytest.param(TimeoutError(), id="timed out"),
    ],
)
async def test_github_sees_a_failure_while_the_store_is_down(error: Exception) -> None:
    bus = FakeBus(broken=error)
    sent = await Sent().to(webhook(bus))
    assert (sent.status, sent.answer["error"]) == (503, "The store cannot be reached. Redeliver this delivery later.")
    bus.broken = None
    assert (await Sent().to(webhook(bus))).answer == {"events": 1}


async def test_errors_of_the_adapter_count_as_a_store_that_is_down() -> None:
    class Gone(Exception):
        pass

    hook = Webhook(FakeBus(broken=Gone()), APP, (SECRET,), unavailable=(Gone,))
    assert (await Sent().to(hook)).status == 503


class SlowBus(FakeBus):
    """A store that hangs."""

    async def ingest(self, delivery: Delivery) -> bool:
        await asyncio.sleep(30)
        return True


async def test_a_store_that_hangs_is_not_waited_for() -> None:
    sent = await Sent().to(webhook(SlowBus(), Limits(store_s=0.05)))
    assert sent.status == 503


async def test_a_sender_that_hangs_is_not_waited_for() -> None:
    hook, statuses = webhook(FakeBus(), Limits(read_s=0.05)), []

    async def receive() -> Message:
        await asyncio.sleep(30)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        statuses.append(message.get("status"))

    await hook({"type": "http", "method": "POST", "headers": []}, receive, send)
    assert statuses[0] == 408


@pytest.mark.parametrize(
    ("size", "status"),
    [pytest.param(1000, 202, id="exactly the cap"), pytest.param(1001, 413, id="one byte over")],
)
async def test_the_cap_counts_bytes_that_arrive(size: int, status: int) -> None:
    body = b'{"a": "' + b"x" * (size - 9) + b'"}'
    assert len(body) == size
    sent = await Sent(body=body, chunk=100, headers={"content-length": "5"}).to(webhook(FakeBus(), Limits(body=1000)))
    assert sent.status == status


async def test_large_bodies_cannot_fill_the_memory() -> None:
    hook = webhook(FakeBus(), Limits(large=100, large_at_once=2, read_s=2))
    released = asyncio.Event()
    statuses: list[int] = []

    async def one(size: int) -> None:
        parts: list[Message] = [{"type": "http.request", "body": b"x" * size, "more_body": True}]

        async def receive() -> Message:
            if parts:
                return parts.pop()
            await released.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if "status" in message:
                statuses.append(message["status"])

        await hook({"type": "http", "method": "POST", "headers": []}, receive, send)

    holding = [asyncio.create_task(one(200)) for _ in range(2)]
    await asyncio.sleep(0)
    await one(200)
    assert statuses == [503]
    assert (await Sent(body=b"{}").to(hook)).status == 202
    released.set()
    await asyncio.gather(*holding)
    await one(200)
    assert statuses == [503, 401, 401, 401]


async def test_both_secrets_work_while_one_is_replaced() -> None:
    hook = webhook(FakeBus(), secrets=("the new secret", "the old secret"))
    body = encode(COMMENT)
    statuses = []
    for secret in ("the new secret", "the old secret", "an older secret"):
        statuses.append((await Sent(headers={"x-hub-signature-256": sign(body, secret)}).to(hook)).status)
    assert statuses == [202, 202, 401]


@pytest.mark.parametrize(
    "secrets",
    [
        pytest.param((), id="none"),
        pytest.param(("",), id="empty"),
        pytest.param(("  ",), id="blank"),
        pytest.param((SECRET, ""), id="one is empty"),
    ],
)
def test_without_a_secret_it_does_not_start(secrets: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="GITHUB_WEBHOOK_SECRET"):
        webhook(FakeBus(), secrets=secrets)


async def test_each_delivery_is_counted_and_logged_once_without_its_contents() -> None:
    counted: Counter[str] = Counter()
    with structlog.testing.capture_logs() as lines:
        hook = Webhook(FakeBus(), APP, (SECRET,), count=lambda outcome: counted.update([outcome]))
        await Sent().to(hook)
        await Sent().to(hook)
        await Sent(delivery="bad id \x1b[31m", headers={"x-hub-signature-256": "no"}).to(hook)
    assert counted == {"stored": 1, "duplicate": 1, "signature": 1}
    assert [(line["delivery"], line["github_event"], line["outcome"], line["log_level"]) for line in lines] == [
        ("d-1", "issue_comment", "stored", "info"),
        ("d-1", "issue_comment", "duplicate", "info"),
        (None, "issue_comment", "signature", "warning"),
    ]
    assert "☃" not in repr(lines)
