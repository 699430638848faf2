"""A message as the server-sent events of the Messages API, and the ways in which such a stream goes wrong.

Source: Claude API docs, "Streaming messages".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from infra.llm.faults import Fault
from infra.llm.request import Block

_CHUNK = 48


class Disconnected(ConnectionError):
    """Raised inside a planned fault to break the connection; the server has nothing else to say about it."""


@dataclass(frozen=True)
class Answer:
    """One reply before it goes on the wire. `raw_inputs` replaces the JSON of a tool input by index of its block."""

    message: dict[str, JsonValue]
    content: list[Block]
    raw_inputs: dict[int, str]


def event(name: str, value: JsonValue) -> bytes:
    """One event with its name; the SDK ignores events without one."""
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode()


def error_body(error_type: str, message: str, request_id: str, error_code: str | None = None) -> dict[str, JsonValue]:
    """The body of an error answer, and the data of an error event."""
    error: dict[str, JsonValue] = {"type": error_type, "message": message}
    if error_code is not None:
        error["details"] = {"error_code": error_code}
    return {"type": "error", "error": error, "request_id": request_id}


def events(answer: Answer) -> Iterator[bytes]:
    """All events of one message, in order."""
    message = answer.message
    usage = message["usage"]
    opening = {**usage, "output_tokens": 1} if isinstance(usage, dict) else usage
    start: JsonValue = {**message, "content": [], "stop_reason": None, "usage": opening}
    yield event("message_start", {"type": "message_start", "message": start})
    yield event("ping", {"type": "ping"})
    for index, block in enumerate(answer.content):
        yield from _block_events(index, block, answer.raw_inputs.get(index))
    delta: JsonValue = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    tokens = usage["output_tokens"] if isinstance(usage, dict) else 0
    yield event("message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}})
    yield event("message_stop", {"type": "message_stop"})


def _block_events(index: int, block: Block, raw_input: str | None) -> Iterator[bytes]:
    opening, deltas = _deltas(block, raw_input)
    yield event("content_block_start", {"type": "content_block_start", "index": index, "content_block": opening})
    for delta in deltas:
        yield event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
    yield event("content_block_stop", {"type": "content_block_stop", "index": index})


def _deltas(block: Block, raw_input: str | None) -> tuple[Block, list[Block]]:
    """How a block opens, and the pieces that fill it."""
    if block["type"] == "tool_use":
        text = json.dumps(block["input"]) if raw_input is None else raw_input
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in _cut(text)]
    if block["type"] == "thinking":
        parts: list[Block] = [{"type": "thinking_delta", "thinking": part} for part in _cut(str(block["thinking"]))]
        signed: Block = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*parts, signed]
    return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in _cut(str(block["text"]))]


def _cut(text: str) -> Iterator[str]:
    for start in range(0, len(text), _CHUNK):
        yield text[start : start + _CHUNK]


async def body(answer: Answer, fault: Fault | None, request_id: str, closing: asyncio.Event) -> AsyncIterator[bytes]:
    """The bytes of the stream, as a planned fault would have them; a trickle ends when `closing` is set."""
    kind = fault.kind if fault is not None else None
    if kind == "garbage":
        yield event("content_block_delta", {"type": "content_block_delta", "index": 3, "delta": {"type": "odd"}})
        return
    while kind == "trickle" and not closing.is_set():
        yield event("ping", {"type": "ping"})
        await asyncio.sleep(0.02)
    for sent, chunk in enumerate(events(answer)):
        if fault is not None and sent >= fault.after_events and kind in ("truncate", "stream_error", "disconnect"):
            if kind == "stream_error":
                yield event("error", error_body(fault.error_type, fault.message, request_id, fault.error_code))
            if kind == "disconnect":
                raise Disconnected(fault.message)
            return
        yield chunk
