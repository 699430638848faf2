"""`Prices` for tests with figures that can be checked in the head."""

from __future__ import annotations

from dataclasses import dataclass

from agents.ports import Prices, Usage


@dataclass(frozen=True)
class FakePrices:
    """Micro-dollars a token, the same for every model; a cache read is free."""

    per_input: int = 1
    per_output: int = 5

    def cost(self, model: str, usage: Usage) -> int:
        """Input and cache writes at `per_input`, output at `per_output`."""
        written = usage.cache_write_tokens + usage.cache_write_1h_tokens
        return (usage.input_tokens + written) * self.per_input + usage.output_tokens * self.per_output

    def ceiling(self, model: str, input_tokens: int, max_tokens: int) -> int:
        """Everything used."""
        return input_tokens * self.per_input + max_tokens * self.per_output


_CHECK: type[Prices] = FakePrices
