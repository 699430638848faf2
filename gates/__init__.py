"""Gates: who may let a run pass. Pure functions over evidence; `GATES` is the list, written out once."""

from __future__ import annotations

from gates import cost, merge, quality, security
from gates.gate import Gate, evaluate

GATES: tuple[Gate, ...] = (security.GATE, cost.GATE, quality.GATE, merge.GATE)

__all__ = ["GATES", "Gate", "evaluate"]
