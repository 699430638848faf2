"""Trouble on request for the scripted model: what a real endpoint does on a bad day. Tests plan it; scripts cannot.

Scripts answer from the request alone, so a fault that heals has to live beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal[
    "error",
    "stream_error",
    "truncate",
    "disconnect",
    "hang",
    "trickle",
    "garbage",
    "refusal",
    "empty",
    "max_tokens",
    "pause_turn",
    "bad_tool_json",
    "unknown_tool",
]


@dataclass(frozen=True)
class Fault:
    """One planned fault for the next `times` requests that match; None matches every role, round or turn.

    error          an HTTP error: `status`, `error_type`, `message`, `error_code`, `headers` (retry-after …)
    stream_error   status 200, and after `after_events` events an error event
    truncate       the stream ends cleanly after `after_events` events
    disconnect     the connection breaks after `after_events` events
    hang           nothing is ever sent
    trickle        the stream opens and sends pings for ever
    garbage        a stream of one event that is no message
    refusal        stop reason refusal without content
    empty          stop reason end_turn without content
    max_tokens     the scripted answer, cut, with stop reason max_tokens
    pause_turn     the scripted words with stop reason pause_turn
    bad_tool_json  a tool call whose input is no JSON
    unknown_tool   a call of a tool that nobody offered
    """

    kind: FaultKind
    role: str | None = None
    round: int | None = None
    turn: int | None = None
    times: int = 1
    status: int = 500
    error_type: str = "api_error"
    message: str = "planned fault"
    error_code: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    after_events: int = 4

    def matches(self, role: str, round_number: int, turn: int) -> bool:
        """Whether the fault is meant for this request."""
        return self.role in (None, role) and self.round in (None, round_number) and self.turn in (None, turn)


@dataclass
class Faults:
    """The plan; `struck` lists the faults that were used, so that a test can tell that its fault did happen."""

    struck: list[Fault] = field(default_factory=list)
    _planned: list[Fault] = field(default_factory=list)

    def plan(self, fault: Fault) -> None:
        """Queue a fault, `times` times."""
        self._planned.extend([fault] * fault.times)

    def clear(self) -> None:
        """Forget everything planned and struck."""
        self._planned.clear()
        self.struck.clear()

    def take(self, role: str, round_number: int, turn: int) -> Fault | None:
        """The first planned fault for this request, used up; None when there is none."""
        for index, fault in enumerate(self._planned):
            if fault.matches(role, round_number, turn):
                self.struck.append(self._planned.pop(index))
                return fault
        return None
