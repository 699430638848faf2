"""List prices against Anthropic's published table (USD per million tokens, as of 2026-11-30)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.ports import Prices, Usage
from infra.llm.prices import ListPrices

MILLION = 1_000_000
NOVEMBER = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def prices() -> ListPrices:
    return ListPrices(aliases={"scripted": "claude-sonnet-5-5"}, now=lambda: NOVEMBER)


TABLE = [
    ("claude-opus-5-5", 4.0, 5.0, 8.0, 0.20, 20.0),
    ("claude-opus-5", 5.0, 6.25, 10.0, 0.50, 25.0),
    ("claude-sonnet-5-5", 2.0, 2.5, 4.0, 0.10, 10.0),
    ("claude-sonnet-5", 2.0, 2.5, 4.0, 0.20, 10.0),
    ("claude-fable-5-2", 8.0, 10.0, 16.0, 0.20, 40.0),
    ("claude-haiku-4-5", 1.0, 1.25, 2.0, 0.10, 5.0),
]


@pytest.mark.parametrize(
    ("model", "given", "short", "long", "read", "out"), [pytest.param(*row, id=row[0]) for row in TABLE]
)
def test_each_kind_of_token(
    prices: ListPrices, model: str, given: float, short: float, long: float, read: float, out: float
) -> None:
    assert prices.cost(model, Usage(input_tokens=MILLION)) == given * MILLION
    assert prices.cost(model, Usage(output_tokens=MILLION)) == out * MILLION
    assert prices.cost(model, Usage(cache_read_tokens=MILLION)) == read * MILLION
    assert prices.cost(model, Usage(cache_write_tokens=MILLION)) == short * MILLION
    assert prices.cost(model, Usage(cache_write_1h_tokens=MILLION)) == long * MILLION
    mixed = Usage(1000, 2000, 30_000, 4000, 500)
    assert prices.cost(model, mixed) == pytest.approx(
        1000 * given + 2000 * out + 30_000 * read + 4000 * short + 500 * long, abs=1
    )


@pytest.mark.parametrize(
    ("usage", "micro"),
    [
        pytest.param(Usage(input_tokens=100_000), 10_000, id="at-the-threshold"),
        pytest.param(Usage(input_tokens=100_001), 50_001, id="one-token-over"),
        pytest.param(Usage(input_tokens=1, cache_read_tokens=100_000), 5001, id="cached-tokens-count-for-the-tier"),
        pytest.param(Usage(input_tokens=1, cache_write_tokens=100_000), 62_501, id="written-tokens-count-too"),
        pytest.param(Usage(cache_write_1h_tokens=100_001), 100_001, id="one-hour-write-over"),
        pytest.param(Usage(input_tokens=100_000, output_tokens=1000), 10_500, id="output-below"),
        pytest.param(Usage(input_tokens=100_001, output_tokens=1000), 52_501, id="output-pays-the-tier-too"),
    ],
)
def test_haiku_charges_the_whole_request_by_prompt_length(prices: ListPrices, usage: Usage, micro: int) -> None:
    assert prices.cost("claude-haiku-5-5", usage) == micro


def test_a_fraction_of_a_micro_dollar_is_rounded_up(prices: ListPrices) -> None:
    assert prices.cost("claude-haiku-5-5", Usage(input_tokens=1)) == 1
    assert prices.cost("claude-haiku-5-5", Usage(input_tokens=11)) == 2
    assert prices.cost("claude-haiku-5-5", Usage()) == 0


def test_prices_have_dates() -> None:
    before = ListPrices(now=lambda: datetime(2026, 3, 1, tzinfo=UTC))
    after = ListPrices(now=lambda: datetime(2026, 3, 14, tzinfo=UTC))
    long_prompt = Usage(input_tokens=MILLION)
    assert before.cost("claude-opus-4-6", long_prompt) == 10 * MILLION
    assert after.cost("claude-opus-4-6", long_prompt) == 5 * MILLION


@pytest.mark.parametrize("model", ["scripted", "claude-opus-9", "my-claude", "", "gpt-5", "claude-sonnet-5-5-tuned"])
def test_an_unknown_model_costs_as_the_dearest(model: str) -> None:
    plain = ListPrices(now=lambda: NOVEMBER)
    assert not plain.knows(model)
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION)
    assert all(plain.cost(model, usage) >= plain.cost(known, usage) for known, *_ in TABLE)
    assert plain.cost(model, usage) == 90 * MILLION, "Claude Opus 4 and 4.1: 15 in, 75 out"


def test_dated_names_are_known(prices: ListPrices) -> None:
    assert prices.cost("claude-opus-5-5-20261001", Usage(input_tokens=MILLION)) == 4 * MILLION


def test_an_alias_has_the_price_of_its_model(prices: ListPrices) -> None:
    usage = Usage(5000, 600, 70_000, 800, 90)
    assert prices.knows("scripted")
    assert prices.cost("scripted", usage) == prices.cost("claude-sonnet-5-5", usage)


def test_an_alias_to_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'scripted' cannot be priced as 'claude-sonet'.*claude-sonnet-5-5"):
        ListPrices(aliases={"scripted": "claude-sonet"})


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-5-5", "claude-haiku-4-5", "claude-2", "unknown"])
@pytest.mark.parametrize("prompt", [1, 5000, 99_999, 100_001, 400_000])
def test_no_call_costs_more_than_its_ceiling(prices: ListPrices, model: str, prompt: int) -> None:
    third = prompt // 3
    ways = [
        Usage(input_tokens=prompt, output_tokens=8000),
        Usage(cache_read_tokens=prompt, output_tokens=8000),
        Usage(cache_write_tokens=prompt, output_tokens=8000),
        Usage(cache_write_1h_tokens=prompt, output_tokens=8000),
        Usage(prompt - 2 * third, 4000, 0, third, third),
        Usage(prompt // 2, 8000),
    ]
    ceiling = prices.ceiling(model, prompt, 8000)
    assert max(prices.cost(model, way) for way in ways) <= ceiling
    assert ceiling > 0


def test_it_is_the_port(prices: ListPrices) -> None:
    port: Prices = prices
    assert port.ceiling("claude-opus-5-5", 1000, 100) == 10_000
