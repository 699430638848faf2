"""A command as data: help, the README's table and the permission check all read the same record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Who = Literal["anyone", "write", "maintain"]


@dataclass(frozen=True)
class Command:
    """`verb` as typed after the slash; `usage` with its arguments; `who` may give it; `examples` are whole comments."""

    verb: str
    usage: str
    summary: str
    who: Who
    examples: tuple[str, ...]


WHO_IN_WORDS: Mapping[Who, str] = {
    "anyone": "anybody",
    "write": "people with write access",
    "maintain": "people with maintain access",
}
