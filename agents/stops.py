"""Why a role's loop stopped, as types: each carries what the caller needs to go on, and what was spent."""

from __future__ import annotations

from dataclasses import dataclass

from agents.budget import Spent
from agents.role import Output


@dataclass(frozen=True)
class Finished:
    """The role handed in `output`."""

    output: Output
    spent: Spent


@dataclass(frozen=True)
class OutOfBudget:
    """The smallest useful call can cost `needed`, and the run has `left` (micro-dollars). Nothing was called."""

    needed: int
    left: int
    spent: Spent


@dataclass(frozen=True)
class Refused:
    """The model declined to go on."""

    reason: str
    spent: Spent


@dataclass(frozen=True)
class Cancelled:
    """The run was cancelled while the step worked."""

    spent: Spent


@dataclass(frozen=True)
class Parked:
    """A tool call waits for a person; run the step again with the call's id among `granted`."""

    reason: str
    call_id: str
    spent: Spent


@dataclass(frozen=True)
class Failed:
    """The role did not come to an end that can be used."""

    reason: str
    spent: Spent


Stop = Finished | OutOfBudget | Refused | Cancelled | Parked | Failed
