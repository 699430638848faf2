"""Old tool results go in strides, the same ones after a restart, and what people said stays."""

from __future__ import annotations

import json

import pytest

from agents import clearing, transcript
from agents.clearing import CLEAR_AT_TOKENS, cleared_before, without_results
from agents.ports import Json, Turn, Usage
from tests.agents.scene import block, text

FIRST: Json = {"role": "user", "content": [text("round: 1")]}
RESULT = 12_000


def exchange(number: int, tokens: int, size: int = RESULT) -> tuple[Turn, Turn]:
    """A reply that cost so many input tokens, and the result of its one call."""
    call = block(f"c{number}", "read_file", path="a.py")
    result: Json = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"{number} ".ljust(size, "x")}
    reply = Turn("reply", (call,), "tool_use", Usage(input_tokens=1, cache_read_tokens=tokens - 1, output_tokens=9))
    return reply, Turn("results", (result, text(f"words {number}")))


def grown(count: int, growth: int = 4_000) -> tuple[Turn, ...]:
    """A conversation whose input grows with each call, less what has been cleared by then."""
    turns: tuple[Turn, ...] = ()
    for number in range(count):
        sent = len(json.dumps(transcript.messages(FIRST, turns))) * growth // RESULT
        turns += exchange(number, sent)
    return turns


def test_a_short_conversation_stays_as_it_is() -> None:
    turns = grown(10)
    assert cleared_before(turns) == 0
    assert "cleared" not in json.dumps(transcript.messages(FIRST, turns))


def test_a_long_one_is_cleared_in_strides_between_which_it_only_grows() -> None:
    turns = grown(80)
    marks = [cleared_before(turns[:end]) for end in range(0, len(turns) + 1, 2)]
    assert marks == sorted(marks)
    strides = len(set(marks)) - 1
    assert 2 <= strides <= 80 * RESULT // clearing.STRIDE_CHARACTERS
    for end in range(2, len(turns) + 1, 2):
        if cleared_before(turns[:end]) == cleared_before(turns[: end - 2]):
            before = plain(transcript.messages(FIRST, turns[: end - 2]))
            assert plain(transcript.messages(FIRST, turns[:end]))[: len(before)] == before
    longest = max(reply.usage.cache_read_tokens for reply in turns[::2])
    assert longest < CLEAR_AT_TOKENS + 10_000


def plain(messages: tuple[Json, ...]) -> list[str]:
    """Messages without their cache marks."""
    return [json.dumps(one).replace(', "cache_control": {"type": "ephemeral"}', "") for one in messages]


def test_the_newest_results_and_all_words_stay() -> None:
    turns = grown(60)
    sent = json.dumps(transcript.messages(FIRST, turns))
    assert "59 x" in sent
    assert "55 x" in sent
    assert '"0 x' not in sent
    assert all(f"words {number}" in sent for number in range(60))
    assert sent.count('"tool_result"') == 60, "every call keeps its answer"


def test_a_view_that_is_long_by_itself_does_not_break_the_cache_at_every_turn() -> None:
    turns = tuple(turn for number in range(12) for turn in exchange(number, 150_000, 1_000))
    assert cleared_before(turns) == 0


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param({"type": "tool_result", "tool_use_id": "c", "content": "x" * 300}, True, id="a short result"),
        pytest.param({"type": "tool_result", "tool_use_id": "c", "content": "x" * 301}, False, id="a long result"),
        pytest.param({"type": "text", "text": "x" * 9_000}, True, id="words"),
    ],
)
def test_what_is_cleared(given: Json, kept: bool) -> None:
    [shown] = without_results([given])
    assert (shown == given) is kept
    assert shown["type"] == given["type"]


def test_an_error_stays_one() -> None:
    given: Json = {"type": "tool_result", "tool_use_id": "c", "content": "x" * 999, "is_error": True}
    [shown] = without_results([given])
    assert shown["is_error"] is True
    assert "999 characters were cleared" in str(shown["content"])
