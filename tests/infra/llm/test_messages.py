"""The real SDK against the scripted server: replies, round trips, and every kind of trouble."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace

import pytest

from agents.ports import Json, ModelError, ModelErrorKind, ModelRequest, Reply, ToolSpec, Usage
from infra.llm.faults import Fault
from infra.llm.messages import MessagesModel
from tests.infra.llm.bench import Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ = ToolSpec(
    name="read_file",
    description="Read a file",
    schema={"type": "object", "properties": {"path": {"type": "string", "minLength": 1}}, "required": ["path"]},
)


def asked(role: str = "developer", first: str = "Please fix it.", seconds: float = 5.0) -> ModelRequest:
    return ModelRequest(
        model="claude-sonnet-5-5",
        system=(
            {
                "type": "text",
                "text": f"role: {role}\nYou write code." + " stable" * 200,
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            },
        ),
        tools=(READ,),
        messages=({"role": "user", "content": [{"type": "text", "text": first}]},),
        max_tokens=32_000,
        effort="medium",
        seconds=seconds,
    )


def followed(request: ModelRequest, reply: Reply) -> ModelRequest:
    """The next request of a loop: the reply as it came, then a result for each call."""
    results: list[Json] = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
        for block in reply.content
        if block["type"] == "tool_use"
    ]
    last: Json = {"role": "user", "content": results or [{"type": "text", "text": "Go on."}]}
    return replace(request, messages=(*request.messages, {"role": "assistant", "content": list(reply.content)}, last))


async def test_a_reply_is_complete_and_plain(bench: Bench) -> None:
    reply = await bench.model.reply(asked())
    thinking, text, call = reply.content
    assert thinking["type"] == "thinking"
    assert str(thinking["signature"]).startswith("scripted-")
    assert text == {
        "type": "text",
        "text": "I read the failing function first, then I decide what to change in it.",
    }
    assert call["input"] == {"path": "src/tally/dates.py", "lines": [1, 20], "note": None}
    assert set(call) == {"type", "id", "name", "input"}
    assert (reply.stop_reason, reply.model) == ("tool_use", "scripted")
    assert reply.request_id is not None
    assert reply.request_id.startswith("req_")
    assert 0 < reply.seconds < 5
    assert json.loads(json.dumps(reply.content)) == list(reply.content)


async def test_a_conversation_round_trips_unchanged(bench: Bench) -> None:
    request, stops = asked(), []
    for _ in range(3):
        reply = await bench.model.reply(request)
        stops.append(reply.stop_reason)
        request = followed(request, reply)
    assert stops == ["tool_use"] * 3
    sent = bench.server.seen[-1].request.messages
    assert [message.role for message in sent] == ["user", "assistant", "user", "assistant", "user"]
    thinking = sent[1].blocks[0]
    assert thinking["thinking"] == "The failing function first."


async def test_what_is_sent(bench: Bench) -> None:
    await bench.model.reply(asked())
    sent = bench.server.seen[-1].request
    assert sent.stream
    assert sent.output_config == {"effort": "medium"}
    assert sent.system_blocks[0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    tool = sent.tools[0]
    assert tool["strict"] is True
    schema = tool["input_schema"]
    assert isinstance(schema, dict)
    assert schema["additionalProperties"] is False
    assert "minLength" not in json.dumps(schema["properties"]).replace("{minLength: 1}", "")


async def test_empty_system_and_tools_are_left_out(bench: Bench) -> None:
    with pytest.raises(ModelError, match="first line `role: NAME`") as caught:
        await bench.model.reply(replace(asked(), system=(), tools=()))
    assert caught.value.kind == "rejected"


async def test_usage_counts_the_cache_by_lifetime(bench: Bench) -> None:
    marked: Json = {
        "type": "text",
        "text": "Long context. " * 90 + str(time.time()),
        "cache_control": {"type": "ephemeral"},
    }
    request = replace(asked(role="tester"), messages=({"role": "user", "content": [marked]},))
    request = replace(
        request, system=({**request.system[0], "text": f"role: tester\n{time.time()}" + " stable" * 200},)
    )
    first = (await bench.model.reply(request)).usage
    assert first.cache_read_tokens == 0
    assert first.cache_write_1h_tokens > 300
    assert first.cache_write_tokens > 300
    second = (await bench.model.reply(request)).usage
    assert second.cache_read_tokens == pytest.approx(first.cache_write_tokens + first.cache_write_1h_tokens, abs=2)
    assert second == Usage(second.input_tokens, second.output_tokens, second.cache_read_tokens, 0, 0)


async def test_count_tokens(bench: Bench) -> None:
    short = await bench.model.count_tokens(asked())
    assert await bench.model.count_tokens(asked(first="word " * 4000)) > short + 4000


ERRORS = [
    pytest.param(Fault("error", status=400, error_type="invalid_request_error"), "rejected", id="400"),
    pytest.param(Fault("error", status=401, error_type="authentication_error"), "unauthorised", id="401"),
    pytest.param(Fault("error", status=402, error_type="billing_error"), "spend_limit", id="402"),
    pytest.param(Fault("error", status=403, error_type="permission_error"), "unauthorised", id="403"),
    pytest.param(Fault("error", status=404, error_type="not_found_error"), "rejected", id="404"),
    pytest.param(Fault("error", status=408, error_type="timeout_error"), "unavailable", id="408"),
    pytest.param(Fault("error", status=409, error_type="conflict_error"), "unavailable", id="409"),
    pytest.param(Fault("error", status=413, error_type="request_too_large"), "rejected", id="413"),
    pytest.param(Fault("error", status=422, error_type="odd"), "rejected", id="422-unknown-type"),
    pytest.param(Fault("error", status=429, error_type="rate_limit_error"), "rate_limited", id="429"),
    pytest.param(Fault("error", status=429, error_type="odd"), "rate_limited", id="429-unknown-type"),
    pytest.param(
        Fault("error", status=429, error_type="rate_limit_error", error_code="enforced_spend_limit_reached"),
        "spend_limit",
        id="429-spend-limit",
    ),
    pytest.param(
        Fault("error", status=429, error_type="rate_limit_error", error_code="ramp_limit_exceeded"),
        "rate_limited",
        id="429-ramp",
    ),
    pytest.param(Fault("error", status=500), "unavailable", id="500"),
    pytest.param(Fault("error", status=502, error_type="bad_gateway"), "unavailable", id="502-gateway"),
    pytest.param(Fault("error", status=503, error_type="overloaded_error"), "overloaded", id="503-overloaded"),
    pytest.param(Fault("error", status=504, error_type="timeout_error"), "unavailable", id="504"),
    pytest.param(Fault("error", status=529, error_type="overloaded_error"), "overloaded", id="529"),
    pytest.param(Fault("error", status=529, error_type="odd"), "overloaded", id="529-unknown-type"),
    pytest.param(Fault("stream_error", error_type="overloaded_error"), "overloaded", id="in-stream-overloaded"),
    pytest.param(Fault("stream_error", error_type="rate_limit_error"), "rate_limited", id="in-stream-rate-limit"),
    pytest.param(Fault("stream_error", error_type="invalid_request_error"), "rejected", id="in-stream-rejected"),
    pytest.param(Fault("stream_error", error_type="odd"), "unavailable", id="in-stream-unknown"),
    pytest.param(Fault("stream_error", after_events=0), "unavailable", id="in-stream-first-event"),
    pytest.param(Fault("truncate", after_events=0), "unavailable", id="truncated-before-anything"),
    pytest.param(Fault("truncate", after_events=1), "unavailable", id="truncated-after-1"),
    pytest.param(Fault("truncate", after_events=4), "unavailable", id="truncated-after-4"),
    pytest.param(Fault("truncate", after_events=9), "unavailable", id="truncated-in-tool-input"),
    pytest.param(Fault("disconnect", after_events=0), "unavailable", id="disconnected-before-anything"),
    pytest.param(Fault("disconnect", after_events=5), "unavailable", id="disconnected-in-the-middle"),
    pytest.param(Fault("garbage"), "unavailable", id="garbage"),
    pytest.param(Fault("bad_tool_json"), "unavailable", id="tool-input-no-json"),
]


@pytest.mark.parametrize(("fault", "kind"), ERRORS)
async def test_trouble_is_a_model_error_of_its_kind(bench: Bench, fault: Fault, kind: ModelErrorKind) -> None:
    bench.faults.plan(fault)
    with pytest.raises(ModelError) as caught:
        await bench.model.reply(asked())
    assert caught.value.kind == kind
    assert "sk-test" not in str(caught.value)
    assert bench.faults.struck == [fault]
    assert len(bench.server.seen) == 1, "the client retried on its own"
    assert (await bench.model.reply(asked())).stop_reason == "tool_use", "the next call is not disturbed"


@pytest.mark.parametrize("kind", ["hang", "trickle"])
async def test_the_deadline_holds(bench: Bench, kind: str) -> None:
    bench.faults.plan(Fault("hang") if kind == "hang" else Fault("trickle"))
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.3 s") as caught:
        await bench.model.reply(asked(seconds=0.3))
    assert caught.value.kind == "unavailable"
    assert time.monotonic() - started < 2


async def test_a_cancelled_call_is_cancelled(bench: Bench) -> None:
    bench.faults.plan(Fault("hang"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bench.model.reply(asked(seconds=60)), 0.2)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        pytest.param((("retry-after", "7"),), 7.0, id="seconds"),
        pytest.param((("retry-after", "1.5"),), 1.5, id="fraction"),
        pytest.param((("retry-after-ms", "250"), ("retry-after", "9")), 0.25, id="milliseconds-first"),
        pytest.param((("retry-after", "86400000"),), 86_400_000.0, id="huge-is-kept"),
        pytest.param((("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),), 0.0, id="date-in-the-past"),
        pytest.param((("retry-after", "soon"),), None, id="word"),
        pytest.param((("retry-after", "-3"),), None, id="negative"),
        pytest.param((("retry-after", "nan"),), None, id="nan"),
        pytest.param((("retry-after", "inf"),), None, id="inf"),
        pytest.param((("retry-after", ""),), None, id="empty"),
        pytest.param((), None, id="absent"),
    ],
)
async def test_retry_after(bench: Bench, headers: tuple[tuple[str, str], ...], wait: float | None) -> None:
    bench.faults.plan(Fault("error", status=429, error_type="rate_limit_error", headers=headers))
    with pytest.raises(ModelError) as caught:
        await bench.model.reply(asked())
    assert caught.value.retry_after_s == wait
    assert caught.value.heals


@pytest.mark.parametrize(
    ("fault", "stop", "types"),
    [
        pytest.param(Fault("refusal"), "refusal", [], id="refusal"),
        pytest.param(Fault("empty"), "end_turn", [], id="empty"),
        pytest.param(Fault("pause_turn"), "pause_turn", ["thinking", "text"], id="pause-turn"),
        pytest.param(Fault("max_tokens"), "max_tokens", ["thinking", "text", "tool_use"], id="cut-in-tool-input"),
        pytest.param(Fault("unknown_tool"), "tool_use", ["tool_use"], id="unknown-tool"),
    ],
)
async def test_odd_ends_are_replies(bench: Bench, fault: Fault, stop: str, types: list[str]) -> None:
    bench.faults.plan(fault)
    reply = await bench.model.reply(asked())
    assert reply.stop_reason == stop
    assert [block["type"] for block in reply.content] == types


async def test_nobody_listens() -> None:
    model = MessagesModel(api_key="sk-test", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match="connection to the model endpoint failed") as caught:
        await model.reply(asked())
    assert caught.value.kind == "unavailable"
    await model.aclose()


async def test_count_tokens_translates_errors() -> None:
    model = MessagesModel(api_key="sk-test", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError):
        await model.count_tokens(asked())
    await model.aclose()


@pytest.mark.parametrize(
    ("key", "url", "says"),
    [
        pytest.param("", "https://api.example", "ANTHROPIC_API_KEY", id="no-key"),
        pytest.param("sk-a\n", "https://api.example", "ANTHROPIC_API_KEY", id="newline-in-key"),
        pytest.param("sk-ä", "https://api.example", "ANTHROPIC_API_KEY", id="umlaut-in-key"),
        pytest.param("sk-a", "api.example", "ANTHROPIC_BASE_URL", id="no-scheme"),
        pytest.param("sk-a", "ftp://api.example", "ANTHROPIC_BASE_URL", id="other-scheme"),
        pytest.param("sk-a", "http://localhost:port", "ANTHROPIC_BASE_URL", id="port-is-a-word"),
        pytest.param("sk-a", "https://api.example/v1/", "/v1", id="with-v1"),
    ],
)
async def test_settings_that_cannot_work(key: str, url: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        MessagesModel(api_key=key, base_url=url)
