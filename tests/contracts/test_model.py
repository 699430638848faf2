"""What every `Model` promises: the same cases on the fake and on the real client with the scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from agents.ports import Json, Model, ModelError, ModelErrorKind, ModelRequest, Reply, ToolSpec
from infra.llm.faults import Fault, Faults
from infra.llm.messages import MessagesModel
from infra.llm.script import parse_script
from infra.llm.scripted import ScriptedModel
from tests.fakes.model import FakeModel, calls, in_order, says

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCRIPT = """
script: Contract
roles:
  developer:
    - turns:
        - calls: [{tool: read_file, input: {path: a.py}}, {tool: read_file, input: {path: b.py}}]
        - say: Both are read.
"""

ERRORS: dict[ModelErrorKind, Fault] = {
    "overloaded": Fault("error", status=529, error_type="overloaded_error"),
    "rate_limited": Fault("error", status=429, error_type="rate_limit_error", headers=(("retry-after", "3"),)),
    "unavailable": Fault("error", status=500),
    "rejected": Fault("error", status=400, error_type="invalid_request_error"),
    "unauthorised": Fault("error", status=401, error_type="authentication_error"),
    "spend_limit": Fault("error", status=429, error_type="rate_limit_error", error_code="enforced_spend_limit_reached"),
}


@dataclass(frozen=True)
class Subject:
    """A model and the way to make its next call fail."""

    model: Model
    fail: Callable[[ModelErrorKind], None]


def fake_subject() -> Subject:
    play = in_order(
        calls(("read_file", {"path": "a.py"}), ("read_file", {"path": "b.py"})),
        says("Both are read."),
    )
    planned: list[ModelError] = []

    def answer(request: ModelRequest) -> Reply | ModelError:
        return planned.pop() if planned else play(request)

    def fail(kind: ModelErrorKind) -> None:
        planned.append(ModelError(kind, "planned", 3.0 if kind == "rate_limited" else None))

    return Subject(FakeModel(answer), fail)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["fake", "messages"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "fake":
        yield fake_subject()
        return
    faults = Faults()
    async with ScriptedModel.serve(parse_script(SCRIPT, "contract.yaml"), faults=faults) as server:
        model = MessagesModel(api_key="sk-test", base_url=server.url)
        yield Subject(model, lambda kind: faults.plan(ERRORS[kind]))
        await model.aclose()


def request_of(words: str = "Read both files.") -> ModelRequest:
    return ModelRequest(
        model="claude-sonnet-5-5",
        system=({"type": "text", "text": "role: developer\nYou write code."},),
        tools=(ToolSpec("read_file", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),),
        messages=({"role": "user", "content": [{"type": "text", "text": words}]},),
        max_tokens=4096,
        effort="low",
        seconds=5.0,
    )


async def test_calls_come_back_and_results_go_in(subject: Subject) -> None:
    request = request_of()
    first = await subject.model.reply(request)
    assert first.stop_reason == "tool_use"
    assert [block["input"] for block in first.content] == [{"path": "a.py"}, {"path": "b.py"}]
    ids = [str(block["id"]) for block in first.content]
    assert len(set(ids)) == 2
    results: list[Json] = [{"type": "tool_result", "tool_use_id": call, "content": "pass"} for call in ids]
    said: tuple[Json, ...] = (
        {"role": "assistant", "content": list(first.content)},
        {"role": "user", "content": results},
    )
    second = await subject.model.reply(replace(request, messages=(*request.messages, *said)))
    assert second.stop_reason == "end_turn"
    assert second.content == ({"type": "text", "text": "Both are read."},)


async def test_a_reply_says_what_it_cost_and_who_answered(subject: Subject) -> None:
    reply = await subject.model.reply(request_of())
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.model
    assert reply.request_id
    assert reply.seconds >= 0


async def test_the_same_request_gets_the_same_answer(subject: Subject) -> None:
    first, again = [await subject.model.reply(request_of()) for _ in range(2)]
    assert first.content == again.content


@pytest.mark.parametrize("kind", list(ERRORS))
async def test_errors_have_kinds(subject: Subject, kind: ModelErrorKind) -> None:
    subject.fail(kind)
    with pytest.raises(ModelError) as caught:
        await subject.model.reply(request_of())
    assert caught.value.kind == kind
    assert caught.value.heals == (kind in ("overloaded", "rate_limited", "unavailable"))
    assert caught.value.retry_after_s == (3.0 if kind == "rate_limited" else None)
    assert (await subject.model.reply(request_of())).stop_reason == "tool_use"


async def test_longer_prompts_count_more_tokens(subject: Subject) -> None:
    short = await subject.model.count_tokens(request_of())
    assert 0 < short < await subject.model.count_tokens(request_of("word " * 1000))
