"""Trouble on request, for tests: lost replies, server errors, delays, lists that lag. Off unless a test queues it."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from random import Random
from typing import Literal

FaultKind = Literal["status", "drop_after", "drop_before", "delay", "lag"]


@dataclass
class Fault:
    """One planned fault for requests whose method and path (a shell pattern without /api/v3) match.

    status       answer with `status` and do nothing
    drop_before  close the connection and do nothing
    drop_after   do the work, then close the connection without an answer
    delay        wait `seconds`, then go on
    lag          a list answer leaves out its newest item, as a lagging replica would; with `seconds` every item that
                 is younger than that

    It strikes `times` times (None: for ever), each time with the probability `share`.
    """

    kind: FaultKind
    method: str = "*"
    path: str = "*"
    status: int = 502
    seconds: float = 0.0
    times: int | None = 1
    share: float = 1.0
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "Server Error"


@dataclass
class Faults:
    """The queue; `seen` lists what was used up, so a test can tell that its fault did strike."""

    planned: list[Fault] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    chance: Random = field(default_factory=Random)

    def plan(self, fault: Fault) -> None:
        """Queue a fault."""
        self.planned.append(fault)

    def take(self, method: str, path: str, *kinds: FaultKind) -> Fault | None:
        """The first planned fault of these kinds that strikes this request; it is used up after `times` of them."""
        for fault in self.planned:
            if fault.kind in kinds and fnmatch.fnmatch(method, fault.method) and fnmatch.fnmatch(path, fault.path):
                if fault.share < 1.0 and self.chance.random() >= fault.share:
                    continue
                if fault.times is not None:
                    fault.times -= 1
                    if fault.times <= 0:
                        self.planned.remove(fault)
                self.seen.append(f"{fault.kind} {method} {path}")
                return fault
        return None
