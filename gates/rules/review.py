"""The reviewer agent's remarks on security: each is a finding, however light the reviewer took it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gates.rules.finding import GONE, Finding

_SECURITY = re.compile(r"secur|vulnerab|injection|crypto|secret|auth(?!or)", re.IGNORECASE)


@dataclass(frozen=True)
class Remark:
    """One comment of the reviewer agent. `category` is the agent's own word."""

    path: str
    line: int | None
    severity: str
    category: str
    message: str


def examine(remarks: Iterable[Remark], blobs: Mapping[str, str]) -> Iterable[Finding]:
    """A finding for each remark whose category speaks of security. `blobs`: the new blob id of each changed path."""
    for one in remarks:
        if _SECURITY.search(one.category):
            yield Finding(
                rule="review.security",
                level="approve",
                path=one.path,
                line=one.line if one.line is None or one.line > 0 else None,
                blob=blobs.get(one.path, GONE),
                why=f"the reviewer agent says ({one.severity}): {one.message}",
            )
