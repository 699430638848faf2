"""The scripted server refuses what the real API refuses, and its token figures behave like a prefix cache."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from infra.llm.request import BadRequest, Block, Place, TokenEstimate, place_of, read_request, thinking_signature

CALL: Block = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
RESULT: Block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
THINKING: Block = {"type": "thinking", "thinking": "Hm.", "signature": thinking_signature("Hm.")}
STRICT: Block = {
    "name": "t",
    "strict": True,
    "input_schema": {"type": "object", "properties": {"type": {"type": "string"}}, "additionalProperties": False},
}


def text(words: str, mark: str = "") -> Block:
    block: Block = {"type": "text", "text": words}
    return {**block, "cache_control": {"type": "ephemeral", "ttl": mark}} if mark else block


def said(role: str, *blocks: Block) -> JsonValue:
    return {"role": role, "content": list(blocks)}


def body_of(*messages: JsonValue, **more: JsonValue) -> bytes:
    whole: dict[str, JsonValue] = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "system": [text("role: developer\nYou write code.")],
        "messages": list(messages) or [said("user", text("hi"))],
    }
    return json.dumps(whole | more).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(body_of(), id="plain"),
        pytest.param(body_of({"role": "user", "content": "hi"}), id="text-content"),
        pytest.param(body_of(system="role: developer"), id="text-system"),
        pytest.param(body_of(tools=[STRICT]), id="strict-tool"),
        pytest.param(
            body_of(
                said("user", text("hi")), said("assistant", THINKING, CALL), said("user", RESULT, text("and note"))
            ),
            id="results-then-text",
        ),
    ],
)
def test_sound_requests_pass(body: bytes) -> None:
    assert place_of(read_request(body)).role == "developer"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{", "Invalid JSON", id="no-json"),
        pytest.param(b"\xff", "body: ", id="no-utf8"),
        pytest.param(body_of(temperature=0.5), "temperature: Extra inputs", id="temperature"),
        pytest.param(body_of(max_tokens=None), "max_tokens: Field required", id="no-max-tokens"),
        pytest.param(body_of(messages=[]), "messages: .*at least 1", id="no-messages"),
        pytest.param(body_of(said("user")), r"messages\.0\.content", id="no-content"),
        pytest.param(
            body_of(said("assistant", text("hi"))), "first message must be from the user", id="assistant-first"
        ),
        pytest.param(body_of(said("system", text("hi"))), "'user' or 'assistant'", id="system-message"),
        pytest.param(body_of(said("user", text("  \n"))), "non-whitespace", id="blank-text"),
        pytest.param(body_of(said("user", *[text("x", "5m")] * 5)), "maximum of 4 blocks", id="five-marks"),
        pytest.param(body_of(tools=[STRICT, STRICT]), "must be unique", id="tool-twice"),
        pytest.param(body_of(tools=[{**STRICT, "name": "a b"}]), "should match pattern", id="tool-name"),
        pytest.param(
            body_of(tools=[{**STRICT, "input_schema": {"type": "object"}}]), "additionalProperties", id="open-schema"
        ),
        pytest.param(
            body_of(
                tools=[{**STRICT, "input_schema": {"type": "array", "items": {"type": "object", "properties": {}}}}]
            ),
            "additionalProperties",
            id="open-schema-inside",
        ),
        pytest.param(
            body_of(said("user", text("hi")), said("assistant", CALL)), "without `tool_result`", id="unanswered"
        ),
        pytest.param(
            body_of(said("user", text("hi")), said("assistant", CALL), said("user", text("no"))),
            "need `tool_result` blocks",
            id="answered-by-text",
        ),
        pytest.param(
            body_of(said("user", text("hi")), said("assistant", CALL), said("user", text("note"), RESULT)),
            "at the start of this message",
            id="text-before-result",
        ),
        pytest.param(
            body_of(said("user", text("hi")), said("assistant", CALL), said("user", RESULT, RESULT)),
            "unexpected `tool_use_id`",
            id="result-twice",
        ),
        pytest.param(body_of(said("user", RESULT)), "unexpected `tool_use_id`", id="result-of-nothing"),
        pytest.param(
            body_of(
                said("user", text("hi")), said("assistant", {**THINKING, "thinking": "Ho."}), said("user", text("x"))
            ),
            "passed back as they were received",
            id="thinking-changed",
        ),
    ],
)
def test_what_the_api_refuses_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        read_request(body)


def test_counting_needs_no_max_tokens() -> None:
    assert read_request(body_of(max_tokens=None), counting=True).max_tokens is None


TWO_REPLIES = (said("assistant", text("a")), said("user", text("round: 9")), said("assistant", text("b")))


@pytest.mark.parametrize(
    ("body", "place"),
    [
        pytest.param(body_of(), Place("developer", 1, 1), id="defaults"),
        pytest.param(body_of(said("user", text("Issue\nround: 3\nmore"))), Place("developer", 3, 1), id="round"),
        pytest.param(body_of(said("user", text("a"), text("round: 4"))), Place("developer", 4, 1), id="second-block"),
        pytest.param(body_of(said("user", text("x round: 4"))), Place("developer", 1, 1), id="not-at-line-start"),
        pytest.param(body_of(said("user", text("round: 4th"))), Place("developer", 1, 1), id="not-a-number"),
        pytest.param(body_of(said("user", text("hi")), *TWO_REPLIES), Place("developer", 1, 3), id="turn"),
        pytest.param(body_of(system="role: product_manager\r\nx"), Place("product_manager", 1, 1), id="crlf"),
    ],
)
def test_the_place_comes_from_the_request(body: bytes, place: Place) -> None:
    assert place_of(read_request(body)) == place


@pytest.mark.parametrize("system", ["", "You are role: developer", "\nrole: developer", "Role: developer", "role:"])
def test_no_role_no_answer(system: str) -> None:
    with pytest.raises(BadRequest, match="first line `role: NAME`"):
        place_of(read_request(body_of(system=system)))


def figures(estimate: TokenEstimate, body: bytes) -> tuple[int, int, int]:
    usage = estimate.usage(read_request(body), [text("answer")])
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    given, read, written = (usage[name] for name in names)
    assert isinstance(given, int)
    assert isinstance(read, int)
    assert isinstance(written, int)
    return given, read, written


LONG = "word " * 800


def test_nothing_is_cached_without_marks() -> None:
    estimate, body = TokenEstimate(), body_of(said("user", text(LONG)))
    for _ in range(2):
        given, read, written = figures(estimate, body)
        assert given > 1000
        assert (read, written) == (0, 0)


def test_a_growing_conversation_reads_what_it_wrote() -> None:
    """The mark moves to the newest block, and the older prefix is still found, as in the API's look-back."""
    estimate = TokenEstimate()
    given, read, written = figures(estimate, body_of(said("user", text(LONG, "5m"))))
    assert (given, read) == (1, 0)
    assert written > 1000
    longer = body_of(said("user", text(LONG)), said("assistant", text("ok")), said("user", text(LONG, "5m")))
    given, read, more = figures(estimate, longer)
    assert read == written
    assert more > 900
    assert given == 1


def test_another_model_or_a_changed_beginning_shares_nothing() -> None:
    estimate = TokenEstimate()
    figures(estimate, body_of(said("user", text(LONG, "5m"))))
    assert figures(estimate, body_of(said("user", text(LONG, "5m")), model="claude-opus-5-5"))[1] == 0
    assert figures(estimate, body_of(said("user", text("x" + LONG, "5m"))))[1] == 0


def test_lifetimes_are_told_apart() -> None:
    usage = TokenEstimate().usage(read_request(body_of(said("user", text(LONG, "1h"), text(LONG, "5m")))), [])
    parts = usage["cache_creation"]
    assert isinstance(parts, dict)
    hour, short = parts["ephemeral_1h_input_tokens"], parts["ephemeral_5m_input_tokens"]
    assert isinstance(hour, int)
    assert isinstance(short, int)
    assert hour > 1000
    assert short > 1000
    assert usage["cache_creation_input_tokens"] == hour + short


def test_the_mark_on_the_whole_request_counts_for_the_last_block() -> None:
    estimate = TokenEstimate()
    body = body_of(said("user", text(LONG)), cache_control={"type": "ephemeral"})
    assert figures(estimate, body)[2] > 1000
    assert figures(estimate, body)[1] > 1000
