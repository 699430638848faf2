"""A Messages request as the scripted model reads it: who asks, how far they are, and what it would cost in tokens.

The checks are those of the API that a loop can get wrong and that a lenient double would hide. Source: Claude API
docs, "Messages", "Handle tool calls", "Extended thinking" and "Prompt caching".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

Block = dict[str, JsonValue]

_ROLE = re.compile(r"role: (\S.*)")
_ROUND = re.compile(r"^round: (\d{1,6})[ \t\r]*$", re.MULTILINE)


class BadRequest(ValueError):
    """A request that the real API would refuse with 400; the text is the error's message."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    content: str | Annotated[list[Block], Field(min_length=1)]

    @property
    def blocks(self) -> list[Block]:
        """The content as blocks."""
        return [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content


class MessagesRequest(BaseModel):
    """The body of POST /v1/messages, as far as Seconder uses it; anything else is refused as the API refuses it."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[_Message], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    system: str | list[Block] = Field(default_factory=list)
    tools: list[Block] = Field(default_factory=list)
    stream: bool = False
    output_config: Block = Field(default_factory=dict)
    tool_choice: Block = Field(default_factory=dict)
    cache_control: Block | None = None
    metadata: Block = Field(default_factory=dict)

    @property
    def system_blocks(self) -> list[Block]:
        """The system prompt as blocks."""
        return [{"type": "text", "text": self.system}] if isinstance(self.system, str) else self.system


@dataclass(frozen=True)
class Place:
    """Where in a script a request stands; round and turn count from 1."""

    role: str
    round: int
    turn: int


def read_request(body: bytes, *, counting: bool = False) -> MessagesRequest:
    """Parse and check a body; `counting` is for count_tokens, which has no max_tokens. Raises `BadRequest`."""
    try:
        request = MessagesRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadRequest(f"{'.'.join(str(step) for step in first['loc']) or 'body'}: {first['msg']}") from None
    if request.max_tokens is None and not counting:
        raise BadRequest("max_tokens: Field required")
    if request.messages[0].role != "user":
        raise BadRequest("messages.0: the first message must be from the user")
    _check_marks(request)
    _check_tools(request)
    _check_results(request)
    _check_texts(request)
    return request


def place_of(request: MessagesRequest) -> Place:
    """The role from the system prompt's first line, the round from the first message, the turn from the replies so far.

    Raises `BadRequest` when the system prompt does not begin with `role: NAME`.
    """
    first = next((block for block in request.system_blocks if block.get("type") == "text"), {})
    line = str(first.get("text", "")).split("\n", 1)[0].rstrip()
    role = _ROLE.fullmatch(line)
    if role is None:
        raise BadRequest(f"system: a scripted model needs a first line `role: NAME`, but it reads {line[:80]!r}")
    texts = [str(block["text"]) for block in request.messages[0].blocks if block.get("type") == "text"]
    # The last block is our own; an issue's text in an earlier one may hold such a line too.
    number = next((found for text in reversed(texts) if (found := _ROUND.search(text))), None)
    turn = 1 + sum(message.role == "assistant" for message in request.messages)
    return Place(role.group(1), int(number.group(1)) if number else 1, turn)


def thinking_signature(thinking: str) -> str:
    """The signature of a scripted thinking block; a block that comes back changed no longer fits it."""
    return "scripted-" + hashlib.sha256(thinking.encode()).hexdigest()[:32]


def _all_blocks(request: MessagesRequest) -> Iterator[Block]:
    """Tools, system and messages in prompt order."""
    yield from request.tools
    yield from request.system_blocks
    for message in request.messages:
        yield from message.blocks


def _check_marks(request: MessagesRequest) -> None:
    marks = sum(bool(block.get("cache_control")) for block in _all_blocks(request)) + bool(request.cache_control)
    if marks > 4:
        raise BadRequest(f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")


def _check_tools(request: MessagesRequest) -> None:
    names = [str(tool.get("name")) for tool in request.tools]
    if len(set(names)) < len(names):
        raise BadRequest("tools: Tool names must be unique.")
    for index, tool in enumerate(request.tools):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", names[index]):
            raise BadRequest(f"tools.{index}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if tool.get("strict") and not _closed(tool.get("input_schema")):
            raise BadRequest(
                f"tools.{index}: For 'object' type, 'additionalProperties' must be explicitly set to false"
            )


def _closed(schema: JsonValue) -> bool:
    if isinstance(schema, list):
        return all(_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    return all(_closed(part) for part in schema.values())


def _check_results(request: MessagesRequest) -> None:
    """Every tool call is answered at the start of the next message, and nothing else is."""
    asked: set[str] = set()
    for index, message in enumerate(request.messages):
        results = [str(block.get("tool_use_id")) for block in message.blocks if block.get("type") == "tool_result"]
        leading = [block.get("type") for block in message.blocks[: len(results)]]
        if asked - set(results) or any(kind != "tool_result" for kind in leading):
            missing = ", ".join(sorted(asked)) or "none"
            raise BadRequest(
                f"messages.{index}: `tool_use` ids ({missing}) need `tool_result` blocks at the start of this message"
            )
        if set(results) - asked or len(results) > len(asked):
            raise BadRequest(f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks")
        asked = {str(block.get("id")) for block in message.blocks if block.get("type") == "tool_use"}
    if asked:
        raise BadRequest(f"messages.{len(request.messages)}: `tool_use` ids without `tool_result`: {', '.join(asked)}")


def _check_texts(request: MessagesRequest) -> None:
    for index, message in enumerate(request.messages):
        for block in message.blocks:
            if block.get("type") == "text" and not str(block.get("text", "")).strip():
                raise BadRequest(f"messages.{index}: text content blocks must contain non-whitespace text")
            thinking = str(block.get("thinking"))
            if block.get("type") == "thinking" and block.get("signature") != thinking_signature(thinking):
                raise BadRequest(f"messages.{index}: thinking blocks must be passed back as they were received")


@dataclass
class TokenEstimate:
    """Estimated usage: four characters a token, with a prefix cache like the API's.

    A prompt's prefix up to a `cache_control` mark is remembered. A later prompt of the same model that begins with it
    reads it; what lies between there and its own last mark is written, at the lifetime of the mark that ends it. The
    figures are estimates, of the right order and no more; entries do not expire, the oldest of 5,000 are dropped.
    """

    _seen: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def prompt_tokens(self, request: MessagesRequest) -> int:
        """Estimated tokens of the whole prompt."""
        return max(1, sum(_size(block) for block in _all_blocks(request)) // 4)

    def usage(self, request: MessagesRequest, content: list[Block]) -> dict[str, JsonValue]:
        """The `usage` object for a reply of `content`; remembers the marked prefixes."""
        steps = list(_prefixes(request))
        marked = [index for index, step in enumerate(steps) if step.lifetime]
        cacheable = steps[: marked[-1] + 1] if marked else []
        read = max((step.size for step in cacheable if step.key in self._seen), default=0)
        written = {"5m": 0, "1h": 0}
        done = read
        for step in cacheable:
            if step.lifetime and step.size > done:
                written[step.lifetime] += step.size - done
                done = step.size
        self._remember([step.key for step in cacheable if step.lifetime])
        return {
            "input_tokens": max(1, (steps[-1].size - done) // 4),
            "cache_read_input_tokens": read // 4,
            "cache_creation_input_tokens": written["5m"] // 4 + written["1h"] // 4,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"] // 4,
                "ephemeral_1h_input_tokens": written["1h"] // 4,
            },
            "output_tokens": max(1, sum(_size(block) for block in content) // 4),
            "service_tier": "standard",
        }

    def _remember(self, keys: list[str]) -> None:
        for key in keys:
            self._seen[key] = None
            self._seen.move_to_end(key)
        while len(self._seen) > 5_000:
            self._seen.popitem(last=False)


@dataclass(frozen=True)
class _Prefix:
    """A prompt up to the end of one block: its digest, its characters, and the lifetime if a mark ends it."""

    key: str
    size: int
    lifetime: Literal["", "5m", "1h"]


def _prefixes(request: MessagesRequest) -> Iterator[_Prefix]:
    digest = hashlib.sha256(request.model.encode())
    blocks = list(_all_blocks(request))
    size = 0
    for index, block in enumerate(blocks):
        digest.update(_bare(block))
        size += _size(block)
        mark = block.get("cache_control") or (request.cache_control if index == len(blocks) - 1 else None)
        ttl = mark.get("ttl", "5m") if isinstance(mark, dict) else ""
        yield _Prefix(digest.hexdigest(), size, "" if not ttl else "1h" if ttl == "1h" else "5m")


def _bare(block: Block) -> bytes:
    """A block without its mark, since marks move and the text stays."""
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True).encode()


def _size(block: Block) -> int:
    return len(_bare(block))
