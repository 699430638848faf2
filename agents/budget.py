"""The arithmetic of reserving money before a call and counting it afterwards. Money is integer micro-dollars."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agents.ports import ModelRequest, Turn

FLOOR_TOKENS = 4096
"""Below this a reply is too short to be of use: rather pause the run and ask for money."""

_BYTES_PER_TOKEN = 2
"""Deliberately low (English and code take 3 to 4 bytes a token), so that an estimate errs on the dear side."""


@dataclass(frozen=True)
class Spent:
    """What a step has used: model replies, micro-dollars, tokens in and out, seconds of waiting for the model."""

    turns: int = 0
    cost: int = 0
    tokens: int = 0
    seconds: float = 0.0


def spent(turns: Iterable[Turn]) -> Spent:
    """The sum over a transcript's replies, also of those that brought nothing usable: they are billed all the same."""
    replies = [turn for turn in turns if turn.kind == "reply"]
    return Spent(
        turns=len(replies),
        cost=sum(turn.cost for turn in replies),
        tokens=sum(turn.usage.total for turn in replies),
        seconds=sum(turn.seconds for turn in replies),
    )


def rough_tokens(request: ModelRequest, turns: Sequence[Turn]) -> int:
    """Input tokens of the call that would follow on `turns`, on the high side, without asking the endpoint.

    All tokens of the last billed reply, in and out, and the bytes that are new since; at the start, of everything.
    """
    for index in range(len(turns) - 1, -1, -1):
        if turns[index].kind == "reply" and turns[index].usage.total:
            return turns[index].usage.total + _upper_bound([turn.content for turn in turns[index + 1 :]])
    tools = [(tool.name, tool.description, tool.schema) for tool in request.tools]
    return _upper_bound([request.system, tools, request.messages])


def _upper_bound(blocks: object) -> int:
    return -(-len(json.dumps(blocks, ensure_ascii=False).encode()) // _BYTES_PER_TOKEN)


def fit(price: Callable[[int], int], left: int, wanted: int, floor: int = FLOOR_TOKENS) -> int | None:
    """The largest number of output tokens, at most `wanted`, that `left` can pay for; None below the floor.

    `price` maps output tokens to micro-dollars and must not fall. A `wanted` under the floor is its own floor.
    """
    low, high = min(floor, wanted), wanted
    if price(low) > left:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if price(middle) <= left:
            low = middle
        else:
            high = middle - 1
    return low
