"""The scripted server as any HTTP client sees it."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import anthropic
import httpx2
import pytest

from infra.llm.faults import Fault, Faults
from infra.llm.messages import MessagesModel
from infra.llm.script import Script, ScriptError, parse_script
from infra.llm.scripted import ScriptedModel
from tests.infra.llm.bench import SCRIPT, Bench
from tests.infra.llm.test_request import body_of, said, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


def script() -> Script:
    return parse_script(SCRIPT, "test.yaml")


async def posted(bench: Bench, body: bytes, path: str = "/v1/messages") -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(bench.server.url + path, content=body)


async def test_every_answer_says_that_it_is_a_script(bench: Bench) -> None:
    answer = await posted(bench, body_of())
    assert answer.status_code == 200
    assert answer.json()["model"] == "scripted"
    assert answer.headers["x-seconder-script"] == "Test script"
    assert answer.headers["request-id"].startswith("req_")
    missing = await posted(bench, body_of(system="role: nobody"))
    assert missing.headers["x-seconder-script"] == "Test script"


async def test_a_plain_request_gets_the_same_content_as_a_stream(bench: Bench) -> None:
    plain = (await posted(bench, body_of())).json()
    client = anthropic.AsyncAnthropic(api_key="k", base_url=bench.server.url, max_retries=0)
    async with client.messages.stream(
        model="claude-sonnet-5-5",
        max_tokens=100,
        system=[{"type": "text", "text": "role: developer\nYou write code."}],
        messages=[{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    ) as stream:
        streamed = await stream.get_final_message()
    await client.close()
    assert [block.to_dict() for block in streamed.content] == plain["content"]
    assert streamed.stop_reason == plain["stop_reason"]
    assert streamed.usage.output_tokens == plain["usage"]["output_tokens"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        pytest.param(
            body_of(system="role: nobody"),
            500,
            "'Test script' has no answer for role nobody, round 1, turn 1",
            id="role",
        ),
        pytest.param(body_of(said("user", text("round: 3"))), 500, "role developer, round 3, turn 1", id="round"),
        pytest.param(
            body_of(said("user", text("round: 2")), said("assistant", text("a")), said("user", text("b"))),
            500,
            "role developer, round 2, turn 2",
            id="turn",
        ),
        pytest.param(body_of(system="developer"), 400, "first line `role: NAME`", id="no-role-line"),
        pytest.param(body_of(top_k=3), 400, "top_k: Extra inputs", id="unknown-parameter"),
        pytest.param(b"", 400, "Invalid JSON", id="empty"),
    ],
)
async def test_nothing_is_invented(bench: Bench, body: bytes, status: int, says: str) -> None:
    answer = await posted(bench, body)
    assert answer.status_code == status
    error = answer.json()
    assert error["type"] == "error"
    assert error["error"]["type"] == ("api_error" if status == 500 else "invalid_request_error")
    assert says in error["error"]["message"]


async def test_other_paths(bench: Bench) -> None:
    counted = await posted(bench, body_of(max_tokens=None), "/v1/messages/count_tokens")
    assert counted.json()["input_tokens"] > 10
    refused = await posted(bench, body_of(messages=[]), "/v1/messages/count_tokens")
    assert refused.status_code == 400
    nowhere = await posted(bench, b"{}", "/v1/complete")
    assert (nowhere.status_code, nowhere.json()["error"]["type"]) == (404, "not_found_error")
    client = anthropic.AsyncAnthropic(api_key="k", base_url=bench.server.url, max_retries=0)
    assert [model.id async for model in client.models.list()] == ["scripted"]
    assert (await client.models.retrieve("claude-opus-5-5")).id == "claude-opus-5-5"
    await client.close()


async def test_what_was_asked_can_be_looked_up(bench: Bench) -> None:
    await posted(bench, body_of(said("user", text("round: 2"))))
    (seen,) = bench.server.seen
    assert (seen.place.role, seen.place.round, seen.place.turn) == ("developer", 2, 1)


async def test_restarted_servers_answer_alike() -> None:
    answers = []
    for _ in range(2):
        async with ScriptedModel.serve(script()) as server, httpx2.AsyncClient() as client:
            answers.append((await client.post(server.url + "/v1/messages", content=body_of())).json())
    assert answers[0] == answers[1]


async def test_serve_takes_a_path_a_port_and_a_pause(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("script: Grüße, 你好\nlatency_s: 30\nroles: {developer: [{turns: [{say: hi}]}]}\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = time.monotonic()
    async with ScriptedModel.serve(path, port=port, latency=0.1) as server, httpx2.AsyncClient() as client:
        assert server.url == f"http://127.0.0.1:{port}"
        asked = time.monotonic()
        answer = await client.post(server.url + "/v1/messages", content=body_of())
        assert time.monotonic() - asked >= 0.1
        assert answer.headers["x-seconder-script"] == "Gr%C3%BC%C3%9Fe, %E4%BD%A0%E5%A5%BD"
    assert time.monotonic() - started < 10
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()


async def test_a_broken_script_or_a_taken_port_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read"):
        async with ScriptedModel.serve(tmp_path / "none.yaml"):
            pass
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with ScriptedModel.serve(script(), port=taken.getsockname()[1]):
            pass


async def test_closing_does_not_wait_for_hanging_calls() -> None:
    faults = Faults()
    faults.plan(Fault("hang"))
    started = time.monotonic()
    async with ScriptedModel.serve(script(), faults=faults) as server:
        model = MessagesModel(api_key="k", base_url=server.url)
        with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as raw:
            body = body_of()
            raw.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            async with httpx2.AsyncClient() as client:
                assert (await client.get(server.url + "/v1/models")).status_code == 200
        await model.aclose()
    assert time.monotonic() - started < 5


def plan() -> Faults:
    faults = Faults()
    faults.plan(Fault("error", role="developer", round=2, times=2))
    return faults


@pytest.mark.parametrize(
    ("place", "strikes"),
    [
        pytest.param(("developer", 2, 5), True, id="matches"),
        pytest.param(("developer", 1, 5), False, id="other-round"),
        pytest.param(("tester", 2, 5), False, id="other-role"),
    ],
)
async def test_faults_strike_where_they_are_planned(place: tuple[str, int, int], strikes: bool) -> None:
    faults = plan()
    taken = [faults.take(*place) is not None for _ in range(3)]
    assert taken == [strikes, strikes, False]
    assert len(faults.struck) == (2 if strikes else 0)


async def test_stream_events_have_names_and_end(bench: Bench) -> None:
    answer = await posted(bench, body_of(stream=True))
    names = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert names[0] == "message_start"
    assert names[-2:] == ["message_delta", "message_stop"]
    datas = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [data["type"] for data in datas] == names
