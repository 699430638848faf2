"""`Model` over the real Messages API, with the `anthropic` SDK.

One call is one attempt: the SDK's own retries are off, because a retry is a durable step of the caller, who has to
store that it was made. Every call streams (the API wants it for long answers) and has one deadline that also holds
for an endpoint that trickles or never answers. Source: Claude API docs, "Streaming messages" and "Errors".
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import cast

import anthropic
import httpx2
from anthropic import AsyncMessageStream
from anthropic.types import Message, MessageParam, TextBlockParam, ToolParam
from anthropic.types import Usage as ApiUsage
from pydantic import BaseModel

from agents.ports import Json, ModelError, ModelRequest, Reply, Usage
from infra.llm.errors import model_errors, unreadable_answers
from infra.llm.tools import tool_params

DEFAULT_URL = "https://api.anthropic.com"

_THINKING = ("thinking", "redacted_thinking")


class MessagesModel:
    """A language model behind any Messages endpoint; implements `agents.ports.Model`.

    `api_key` is sent as a bearer token; `base_url` is the part before `/v1`; `connect_s` bounds the connection attempt
    inside a call's own deadline. Raises `ValueError` for a key or URL that cannot work. Call `aclose()` at the end.
    """

    def __init__(self, *, api_key: str, base_url: str = DEFAULT_URL, connect_s: float = 10.0) -> None:
        _check(api_key, base_url)
        self._connect_s = connect_s
        self._client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, max_retries=0)

    async def reply(self, request: ModelRequest) -> Reply:
        """One complete reply, its content ready to be sent back. Raises `ModelError`."""
        tools = tool_params(request.tools)
        started = time.monotonic()
        with model_errors(request.seconds):
            async with asyncio.timeout(request.seconds):
                manager = self._client.messages.stream(
                    model=request.model,
                    max_tokens=request.max_tokens,
                    messages=_messages(request),
                    system=_system(request),
                    tools=_or_omit(tools),
                    output_config={"effort": request.effort},
                    timeout=self._timeouts(request.seconds),
                )
                async with manager as stream:
                    with unreadable_answers():
                        inputs = await _tool_inputs(stream)
                        message = await stream.get_final_message()
                        return _reply(message, inputs, stream.request_id, time.monotonic() - started)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Input tokens that the request would take, counted by the endpoint. Raises `ModelError`."""
        tools = tool_params(request.tools)
        with model_errors(request.seconds):
            async with asyncio.timeout(request.seconds):
                with unreadable_answers():
                    counted = await self._client.messages.count_tokens(
                        model=request.model,
                        messages=_messages(request),
                        system=_system(request),
                        tools=_or_omit(tools),
                        timeout=self._timeouts(request.seconds),
                    )
                    return _count(counted.input_tokens)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _timeouts(self, seconds: float) -> httpx2.Timeout:
        return httpx2.Timeout(seconds, connect=min(self._connect_s, seconds))


def _check(api_key: str, base_url: str) -> None:
    if not api_key or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise ValueError("the model API key is empty or holds blanks or odd characters: check ANTHROPIC_API_KEY")
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ValueError(f"{base_url!r} is no URL ({error}): check ANTHROPIC_BASE_URL") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{base_url!r} is no http(s) URL: check ANTHROPIC_BASE_URL")
    if url.path.rstrip("/").endswith("/v1"):
        raise ValueError(f"{base_url!r} ends in /v1, which the client adds itself: leave it out of ANTHROPIC_BASE_URL")


def _messages(request: ModelRequest) -> list[MessageParam]:
    return [cast("MessageParam", message) for message in request.messages]


def _system(request: ModelRequest) -> list[TextBlockParam] | anthropic.Omit:
    blocks = [cast("TextBlockParam", block) for block in request.system]
    return blocks if blocks else anthropic.omit


def _or_omit(tools: list[ToolParam]) -> list[ToolParam] | anthropic.Omit:
    return tools if tools else anthropic.omit


async def _tool_inputs(stream: AsyncMessageStream[None]) -> list[str]:
    """Read the stream to its end; the JSON text of every tool input in it."""
    inputs: dict[int, str] = {}
    async for event in stream:
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            inputs[event.index] = inputs.get(event.index, "") + event.delta.partial_json
    return list(inputs.values())


def _reply(message: Message, inputs: list[str], request_id: str | None, seconds: float) -> Reply:
    """The port's reply. Raises `ModelError` for a stream that ended early, `ValueError` for one that is unreadable."""
    if message.stop_reason is None:
        raise ModelError("unavailable", "stream ended early: the model's answer is incomplete")
    if message.stop_reason == "tool_use":
        for text in inputs:  # the SDK reads half an input as a smaller whole one
            json.loads(text or "{}")
    content = tuple(_block(block) for block in message.content)
    json.dumps(content, ensure_ascii=False).encode()  # a lone surrogate could never be stored: unreadable, not a reply
    return Reply(
        content=content,
        stop_reason=str(message.stop_reason),
        usage=_usage(message.usage),
        model=str(message.model),
        request_id=request_id,
        seconds=seconds,
    )


def _block(block: BaseModel) -> Json:
    """One content block as it may be sent back.

    Only what the endpoint sent, without the SDK's own `parsed_output` and without nulls, which mean absent. Thinking
    blocks stay as they came: they are signed.
    """
    raw = cast("Json", block.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False))
    if raw.get("type") in _THINKING:
        return raw
    return {key: value for key, value in raw.items() if value is not None and key != "parsed_output"}


def _usage(usage: ApiUsage) -> Usage:
    """Tokens by price class. The totals of the last event count; the breakdown by lifetime says what part was 1 h."""
    parts = usage.cache_creation
    long = _count(parts.ephemeral_1h_input_tokens or 0) if parts is not None else 0
    short = _count(parts.ephemeral_5m_input_tokens or 0) if parts is not None else 0
    written = max(_count(usage.cache_creation_input_tokens or 0), long + short)
    return Usage(
        input_tokens=_count(usage.input_tokens),
        output_tokens=_count(usage.output_tokens),
        cache_read_tokens=_count(usage.cache_read_input_tokens or 0),
        cache_write_tokens=written - long,
        cache_write_1h_tokens=long,
    )


def _count(tokens: int | None) -> int:
    """A token count from outside. Raises `ValueError` for what is none: a wrong count would be a wrong price."""
    if not isinstance(tokens, int) or tokens < 0:
        raise ValueError(f"{tokens!r} is no number of tokens")
    return tokens
