"""A model that fails, refuses, talks nonsense or falls silent."""

from __future__ import annotations

import pytest

from infra.llm.faults import Fault
from tests.e2e.house import House
from tests.e2e.plays import play, requirements
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

PASSING = {
    "trouble-http": (
        Fault(
            "error", role="product_manager", status=429, error_type="rate_limit_error", headers=(("retry-after", "1"),)
        ),
        Fault("error", role="architect", status=529, error_type="overloaded_error"),
        Fault("error", role="developer", status=500),
        Fault("truncate", role="tester"),
        Fault("disconnect", role="reviewer"),
    ),
    "trouble-words": (
        Fault("garbage", role="product_manager"),
        Fault("stream_error", role="architect", error_type="overloaded_error"),
    ),
}


@pytest.mark.parametrize("case", [pytest.param(case, id=case) for case in PASSING])
async def test_trouble_that_passes_is_waited_out(house: House, case: str) -> None:
    scene = await Scene.open(house, case)
    for fault in PASSING[case]:
        scene.faults.plan(fault)
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    assert len(scene.faults.struck) == len(PASSING[case])
    assert len(await scene.statuses()) == 1
    assert "run_stuck" not in await scene.names()
    replies = [record for record in await scene.log() if record.data.get("kind") == "reply"]
    assert len(replies) == 5, "what brought no reply is not billed"


TWICE = [requirements(), requirements()]


@pytest.mark.parametrize("kind", ["unknown_tool", "bad_tool_json", "max_tokens", "pause_turn", "empty"])
async def test_an_odd_reply_is_answered_and_the_work_goes_on(house: House, kind: str) -> None:
    scene = await Scene.open(house, f"odd-{kind.replace('_', '-')}", play(product_manager=TWICE))
    scene.faults.plan(Fault(kind, role="product_manager", turn=1))  # type: ignore[arg-type]
    await scene.begin()
    await scene.event("requirements_ready")
    assert [fault.kind for fault in scene.faults.struck] == [kind]


INVALID = {"submit": {"decision": "requirements", "summary": ""}}
SILENT = {"say": "Hm."}


async def test_invalid_result_then_a_valid_one(house: House) -> None:
    scene = await Scene.open(house, "invalid-once", play(product_manager=[INVALID, requirements()]))
    await scene.begin()
    await scene.event("requirements_ready")
    last = str(scene.model.seen[1].request)
    assert "Not accepted, the input does not fit" in last


@pytest.mark.parametrize(
    ("case", "turns", "why"),
    [
        pytest.param("invalid-thrice", [INVALID] * 3, "does not fit 3 times", id="invalid thrice"),
        pytest.param("silent-thrice", [SILENT] * 3, "without submitting a result", id="nothing thrice"),
    ],
)
async def test_stuck_is_said_and_retry_goes_on(
    house: House, case: str, turns: list[dict[str, object]], why: str
) -> None:
    scene = await Scene.open(house, case, play(product_manager={1: turns, "any": [requirements()]}))
    await scene.begin()
    await scene.event("run_stuck")
    status = await scene.shows("Stuck")
    assert why in status
    assert "/retry" in status
    assert why in await scene.replied("/retry"), "an edited comment notifies nobody, so it is said in one of its own"
    await scene.say("writer", "/retry")
    await scene.event("requirements_ready")
    await scene.shows("At work")


@pytest.mark.parametrize(
    ("case", "fault", "why"),
    [
        pytest.param("refusal", Fault("refusal", role="architect"), "declined", id="refusal"),
        pytest.param(
            "bad-key",
            Fault(
                "error", role="architect", status=401, error_type="authentication_error", message="invalid x-api-key"
            ),
            "invalid x-api-key",
            id="key refused",
        ),
    ],
)
async def test_what_does_not_heal_is_said_at_once(house: House, case: str, fault: Fault, why: str) -> None:
    scene = await Scene.open(house, case)
    scene.faults.plan(fault)
    await scene.begin()
    assert why in await scene.shows("Stuck")
    await scene.say("reader", "/retry")
    await scene.house.github.webhooks_idle()
    assert "run_resumed" not in await scene.names()
    await scene.say("writer", "/retry")
    await scene.event("design_ready")
