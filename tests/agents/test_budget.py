"""Reservation arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.budget import FLOOR_TOKENS, Spent, fit, rough_tokens, spent
from agents.ports import ModelRequest, ToolSpec, Turn, Usage


@pytest.mark.parametrize(
    ("left", "wanted", "expected"),
    [
        pytest.param(1_000_000, 16_000, 16_000, id="plenty: all that is wanted"),
        pytest.param(100 + 16_000 * 5, 16_000, 16_000, id="exactly enough"),
        pytest.param(100 + 16_000 * 5 - 1, 16_000, 15_999, id="one short"),
        pytest.param(100 + 4096 * 5, 16_000, 4096, id="exactly the floor"),
        pytest.param(100 + 4096 * 5 - 1, 16_000, None, id="one below the floor"),
        pytest.param(0, 16_000, None, id="nothing"),
        pytest.param(-5, 16_000, None, id="overdrawn"),
        pytest.param(100 + 1000 * 5, 1000, 1000, id="wants less than the floor: that is its floor"),
        pytest.param(100 + 999 * 5, 1000, None, id="wants less than the floor and cannot have it"),
    ],
)
def test_fit(left: int, wanted: int, expected: int | None) -> None:
    assert fit(lambda tokens: 100 + tokens * 5, left, wanted) == expected


@given(
    st.integers(0, 10**7), st.integers(1, 128_000), st.integers(0, 10**6), st.integers(0, 100), st.integers(1, 10**5)
)
def test_what_fits_is_the_most_that_is_affordable(left: int, wanted: int, base: int, rate: int, step: int) -> None:
    def price(tokens: int) -> int:
        return base + rate * tokens + (5000 if tokens > step else 0)

    found = fit(price, left, wanted)
    floor = min(FLOOR_TOKENS, wanted)
    if found is None:
        assert price(floor) > left
    else:
        assert floor <= found <= wanted
        assert price(found) <= left
        assert found == wanted or price(found + 1) > left


def request(words: str, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    message: dict[str, object] = {"role": "user", "content": [{"type": "text", "text": words}]}
    return ModelRequest("m", ({"type": "text", "text": "role"},), tools, (message,), 100, "low", 1.0)


def test_a_rough_estimate_counts_everything_at_the_start() -> None:
    assert rough_tokens(request("x" * 1000), ()) >= 500
    with_tool = rough_tokens(request("", (ToolSpec("t", "d" * 1000, {}),)), ())
    assert with_tool - rough_tokens(request(""), ()) >= 500


def test_a_rough_estimate_later_is_the_last_bill_and_what_is_new() -> None:
    replied = Turn("reply", ({"type": "text", "text": "y" * 5000},), usage=Usage(10_000, 500, 3_000, 200, 100))
    results = Turn("results", ({"type": "text", "text": "ü" * 1000},))
    estimate = rough_tokens(request("x" * 99_999), (replied, results))
    assert 13_800 + 1000 <= estimate < 13_800 + 1100


def test_a_reply_without_usage_is_no_bill_to_build_on() -> None:
    assert rough_tokens(request("x" * 1000), (Turn("reply", (), usage=Usage()),)) >= 500


def test_spent_sums_replies_only() -> None:
    turns = (Turn("reply", (), usage=Usage(10, 5), cost=7, seconds=1.5), Turn("results", ()), Turn("reply", (), cost=1))
    assert spent(turns) == Spent(turns=2, cost=8, tokens=15, seconds=1.5)
    assert spent(()) == Spent()
