"""A finding: one reason why a change needs a person's eye, and the digest that a vote on all of them is bound to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Literal

from gates.evidence import Evidence

Level = Literal["block", "approve", "note"]
LEVELS: tuple[Level, ...] = ("block", "approve", "note")
GONE = "0" * 40
"""The blob id of a path that the change removes, as git writes it."""


class Finding(Evidence):
    """What was found. `rule` is `family.name`; `blob` is the id of the path's new content, `GONE` for a removed path.

    `block` is never pushed, `approve` waits for an eligible person, `note` is only shown. `line` is that of the new
    content, None where the whole path is meant. `why` is one plain sentence; it never repeats what was found in full.
    """

    rule: str
    level: Level
    path: str
    line: int | None = None
    blob: str = GONE
    why: str


def digest(findings: Iterable[Finding]) -> str:
    """What a vote at the security gate is bound to: the rules, paths and blobs that people decide on, in hex.

    Line numbers and words are left out, and notes altogether: a push that changes none of the judged content keeps the
    vote. Order and repetition do not matter.
    """
    judged = sorted({(one.rule, one.path, one.blob) for one in findings if one.level != "note"})
    return hashlib.sha256(json.dumps(judged, ensure_ascii=True).encode()).hexdigest()


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each once, the gravest first, then by path and line."""
    return tuple(
        sorted(set(findings), key=lambda one: (LEVELS.index(one.level), one.path, one.line or 0, one.rule, one.why))
    )
