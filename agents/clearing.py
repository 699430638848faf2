"""Clearing old tool results once a conversation has grown long, so that it neither outgrows the window nor the budget.

What is cleared follows from the stored turns alone, so a resumed step sends just what it sent before. It happens in few
large strides: between two of them the conversation only grows at its end, and the prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.ports import Json, Turn, Usage

CLEAR_AT_TOKENS = 80_000
"""Input of one call from which old results are cleared; some models cost more from 100,000 on (list prices)."""

KEEP_CHARACTERS = 60_000
"""Of the newest results, what stays in any case."""

STRIDE_CHARACTERS = 60_000
"""A stride that would clear less is not worth losing the cached prefix."""

_SHORT = 300


def cleared_before(turns: Sequence[Turn]) -> int:
    """The number of turns at the beginning whose tool results are cleared in the next request."""
    cleared = 0
    for index, turn in enumerate(turns):
        if turn.kind == "reply" and _input(turn.usage) > CLEAR_AT_TOKENS:
            boundary = _kept_from(turns, index)
            if sum(map(_size, turns[cleared:boundary])) >= STRIDE_CHARACTERS:
                cleared = boundary
    return cleared


def without_results(content: Sequence[Json]) -> list[Json]:
    """The blocks of a results turn with long tool results replaced by a note; people's words stay."""
    return [_noted(block) if len(_text(block)) > _SHORT else block for block in content]


def _noted(block: Json) -> Json:
    note = f"[{len(_text(block)):,} characters were cleared to save room; make the call again if you need them]"
    return {**block, "content": note}


def _kept_from(turns: Sequence[Turn], end: int) -> int:
    """The first turn of the newest ones before `end` whose results together are kept."""
    size, start = 0, end
    while start > 0 and size + _size(turns[start - 1]) <= KEEP_CHARACTERS:
        start -= 1
        size += _size(turns[start])
    return start


def _size(turn: Turn) -> int:
    """Characters of a turn's tool results that could be cleared."""
    return sum(size for block in turn.content if (size := len(_text(block))) > _SHORT) if turn.kind == "results" else 0


def _text(block: Json) -> str:
    return str(block.get("content", "")) if block.get("type") == "tool_result" else ""


def _input(usage: Usage) -> int:
    return usage.total - usage.output_tokens
