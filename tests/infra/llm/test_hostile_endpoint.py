"""Endpoints that speak HTTP but not the Messages API: each bad answer is an error with words, never a reply."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from agents.ports import ModelError, ModelErrorKind
from infra.llm.messages import MessagesModel
from tests.infra.llm.test_messages import asked


@contextlib.asynccontextmanager
async def endpoint(answer: bytes) -> AsyncIterator[str]:
    """Serve one fixed answer to everything; yields the base URL."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b": 0")
        await reader.readexactly(int(length.split(b":")[1]))
        writer.write(answer)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def http(body: bytes, kind: str = "text/event-stream", status: str = "200 OK", extra: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{extra}connection: close\r\n\r\n".encode() + body


def sse(*events: dict[str, object]) -> bytes:
    return http("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode())


def opened(**more: object) -> dict[str, object]:
    message: dict[str, object] = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    return {"type": "message_start", "message": message | {"usage": {"input_tokens": 1, "output_tokens": 1}} | more}


def block(text: str) -> dict[str, object]:
    return {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}


ENDED: dict[str, object] = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn", "stop_sequence": None},
    "usage": {"output_tokens": 5},
}
LATE_DELTA: dict[str, object] = {
    "type": "content_block_delta",
    "index": 7,
    "delta": {"type": "text_delta", "text": "x"},
}

ROWS = [
    pytest.param(http(b"<html>Welcome</html>", "text/html"), "unavailable", id="web-page"),
    pytest.param(http(b'{"id": "m", "content": []}', "application/json"), "unavailable", id="json-instead-of-stream"),
    pytest.param(http(b""), "unavailable", id="empty-stream"),
    pytest.param(b"", "unavailable", id="closed-without-answer"),
    pytest.param(b"SSH-2.0-OpenSSH_9\r\n", "unavailable", id="no-http"),
    pytest.param(http(b"event: message_start\ndata: {\n\n"), "unavailable", id="broken-json"),
    pytest.param(http(b"event: message_start\ndata: 7\n\n"), "unavailable", id="number-event"),
    pytest.param(http(b"\x1f\x8b junk", extra="content-encoding: gzip\r\n"), "unavailable", id="broken-gzip"),
    pytest.param(sse({"type": "message_start", "message": None}), "unavailable", id="no-message"),
    pytest.param(sse(opened(usage=None), ENDED), "unavailable", id="no-usage"),
    pytest.param(sse(opened(usage={"input_tokens": -5, "output_tokens": 1}), ENDED), "unavailable", id="negative"),
    pytest.param(
        sse(opened(usage={"input_tokens": "many", "output_tokens": 1}), ENDED), "unavailable", id="word-count"
    ),
    pytest.param(sse(opened(), LATE_DELTA, ENDED), "unavailable", id="delta-of-no-block"),
    pytest.param(sse(opened(), block("\ud800"), ENDED), "unavailable", id="lone-surrogate"),
    pytest.param(sse(opened(), block("x")), "unavailable", id="no-end"),
    pytest.param(http(b"<html>", "text/html", "502 Bad Gateway"), "unavailable", id="gateway-page"),
    pytest.param(http(b"<html>", "text/html", "403 Forbidden"), "unauthorised", id="firewall-page"),
    pytest.param(http(b"<html>", "text/html", "404 Not Found"), "rejected", id="wrong-path"),
    pytest.param(http(b'{"error": "slow down"}', "application/json", "429 X"), "rate_limited", id="error-is-text"),
    pytest.param(http(b'{"error": {"type": 7}}', "application/json", "529 X"), "overloaded", id="type-is-number"),
    pytest.param(http(b"", status="302 Found", extra="location: /v1/messages\r\n"), "unavailable", id="redirects"),
]


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK dumps what it could not validate
@pytest.mark.parametrize(("answer", "kind"), ROWS)
async def test_a_bad_answer_is_an_error(answer: bytes, kind: ModelErrorKind) -> None:
    async with endpoint(answer) as url:
        model = MessagesModel(api_key="sk-test", base_url=url)
        with pytest.raises(ModelError) as caught:
            await model.reply(asked())
        await model.aclose()
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 700


async def test_the_least_that_is_a_reply() -> None:
    async with endpoint(sse(opened(), block("x"), ENDED)) as url:
        model = MessagesModel(api_key="sk-test", base_url=url)
        reply = await model.reply(asked())
        await model.aclose()
    assert reply.content == ({"type": "text", "text": "x"},)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.request_id) == (1, 5, None)


async def test_unknown_blocks_are_kept_as_they_came() -> None:
    odd = {"type": "hologram", "data": {"a": [1, None]}, "note": None}
    start = {"type": "content_block_start", "index": 0, "content_block": odd}
    async with endpoint(sse(opened(), start, ENDED)) as url:
        model = MessagesModel(api_key="sk-test", base_url=url)
        reply = await model.reply(asked())
        await model.aclose()
    assert reply.content == ({"type": "hologram", "data": {"a": [1, None]}},)


@pytest.mark.parametrize("body", [b'{"input_tokens": "many"}', b"{}", b"[]", b"null", b"<html>"])
async def test_a_bad_count_is_an_error(body: bytes) -> None:
    async with endpoint(http(body, "application/json")) as url:
        model = MessagesModel(api_key="sk-test", base_url=url)
        with pytest.raises(ModelError) as caught:
            await model.count_tokens(asked())
        await model.aclose()
    assert caught.value.kind == "unavailable"


async def test_no_time_left_is_said_without_a_call() -> None:
    model = MessagesModel(api_key="sk-test", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match="within 0 s"):
        await model.reply(asked(seconds=0))
    await model.aclose()
