"""List prices of a call in micro-dollars, from the table that ships with `genai-prices`; nothing is downloaded.

A price belongs to one request: some models charge every token of a prompt more once it passes a length, and prices
change on dates. Sources: `genai-prices`, which cites Anthropic's price page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal

from genai_prices import Usage as ListedUsage
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import ModelInfo, Provider

from agents.ports import Usage

_PROVIDER = "anthropic"
_MICRO = Decimal(1_000_000)


def utc_now() -> datetime:
    """The wall clock in UTC."""
    return datetime.now(UTC)


class ListPrices:
    """Implements `agents.ports.Prices`.

    `aliases` maps a name that endpoints report to the model whose price holds, for instance
    `{"scripted": "claude-sonnet-5-5"}`; a target that the table does not know raises `ValueError`. `now` gives the time
    of a call in UTC, since prices have dates.
    """

    def __init__(self, aliases: Mapping[str, str] | None = None, now: Callable[[], datetime] = utc_now) -> None:
        from genai_prices import data  # half a second to import, so not before somebody asks for prices

        self._table = DataSnapshot(providers=data.providers, from_auto_update=False)
        self._provider: Provider = self._table.find_provider(None, _PROVIDER, None)
        self._aliases = dict(aliases or {})
        self._now = now
        for name, model in self._aliases.items():
            if self._find(model) is None:
                known = ", ".join(sorted(info.id for info in self._provider.models))
                raise ValueError(f"{name!r} cannot be priced as {model!r}: no such model. Known: {known}")

    def knows(self, model: str) -> bool:
        """Whether the model has a price of its own, or an alias."""
        return self._find(self._aliases.get(model, model)) is not None

    def cost(self, model: str, usage: Usage) -> int:
        """Price of one finished call, rounded up; a model without a price costs what the dearest known would."""
        at = self._now()
        info = self._find(self._aliases.get(model, model)) or self._dearest(at)
        return self._price(info, usage, at)

    def ceiling(self, model: str, input_tokens: int, max_tokens: int) -> int:
        """The most that such a call can cost: all input uncached and in the dearest way of caching, all output used."""
        ways = (
            Usage(input_tokens=input_tokens, output_tokens=max_tokens),
            Usage(cache_write_tokens=input_tokens, output_tokens=max_tokens),
            Usage(cache_write_1h_tokens=input_tokens, output_tokens=max_tokens),
        )
        return max(self.cost(model, way) for way in ways)

    def _dearest(self, at: datetime) -> ModelInfo:
        """The model that charges most for as much input as output."""
        as_much = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
        return max(self._provider.models, key=lambda info: self._price(info, as_much, at))

    def _find(self, model: str) -> ModelInfo | None:
        try:
            return self._table.find_provider_model(model, self._provider, None, None)[1]
        except LookupError:
            return None

    def _price(self, info: ModelInfo, usage: Usage, at: datetime) -> int:
        written = usage.cache_write_tokens + usage.cache_write_1h_tokens
        listed = ListedUsage(  # its input_tokens is the whole prompt, cached parts included
            input_tokens=usage.input_tokens + usage.cache_read_tokens + written,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=written,
            cache_write_1h_tokens=usage.cache_write_1h_tokens,
            output_tokens=usage.output_tokens,
        )
        dollars = info.calc_price(listed, self._provider, genai_request_timestamp=at).total_price
        return int((dollars * _MICRO).to_integral_value(ROUND_CEILING))
