"""An in-process `Model` for tests of whoever calls one."""

from __future__ import annotations

import json
from collections.abc import Callable

from agents.ports import Json, Model, ModelError, ModelRequest, Reply, Usage

Answers = Callable[[ModelRequest], Reply | ModelError]


class FakeModel:
    """Answers each request by a function of it, and keeps the requests in `requests`."""

    def __init__(self, answers: Answers) -> None:
        self.requests: list[ModelRequest] = []
        self._answers = answers

    async def reply(self, request: ModelRequest) -> Reply:
        """What the function says; a `ModelError` that it returns is raised."""
        self.requests.append(request)
        answer = self._answers(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    async def count_tokens(self, request: ModelRequest) -> int:
        """Four characters a token."""
        tools = [[tool.name, tool.description, tool.schema] for tool in request.tools]
        return max(1, len(json.dumps([request.system, tools, request.messages])) // 4)


def replies_so_far(request: ModelRequest) -> int:
    """Assistant messages in the request: which turn of a conversation is asked for, from 0."""
    return sum(message["role"] == "assistant" for message in request.messages)


def says(text: str, usage: Usage = Usage(input_tokens=100, output_tokens=20)) -> Reply:  # noqa: B008 - frozen
    """A reply of words that ends the turn."""
    return Reply(({"type": "text", "text": text},), "end_turn", usage, "claude-sonnet-5-5", "req_fake")


def calls(*tools: tuple[str, Json], usage: Usage = Usage(input_tokens=100, output_tokens=20)) -> Reply:  # noqa: B008
    """A reply that calls tools, given as (name, input); ids are toolu_0, toolu_1, …"""
    content: tuple[Json, ...] = tuple(
        {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": given}
        for index, (name, given) in enumerate(tools)
    )
    return Reply(content, "tool_use", usage, "claude-sonnet-5-5", "req_fake")


def in_order(*replies: Reply | ModelError) -> Answers:
    """Answers by turn: the replies so far in the request pick the answer. Asking beyond the last fails the test."""

    def answer(request: ModelRequest) -> Reply | ModelError:
        turn = replies_so_far(request)
        if turn >= len(replies):
            raise AssertionError(f"the fake model has {len(replies)} replies but was asked for turn {turn + 1}")
        return replies[turn]

    return answer


_CHECK: Callable[[Answers], Model] = FakeModel
