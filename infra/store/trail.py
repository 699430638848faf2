"""A run's trail: whether its log still is what was written, and the erasing of its content.

The chain is not keyed. Whoever may write to the store can make all of it anew; against that, compare `head` with one
that was noted elsewhere. It shows every edit, loss or reordering by anybody who does less than that.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from infra.store.blobs import RedisBlobs
from infra.store.connection import Scripts, text
from infra.store.packing import unpack
from infra.store.records import content_digest, digest, link, split

PAGE = 500


@dataclass(frozen=True)
class Finding:
    """What is wrong with the trail at a position of the log."""

    position: int
    what: str


@dataclass(frozen=True)
class Verdict:
    """What a check of the trail found. `head` is the chain's last value, `erased` how many records were purged."""

    records: int
    erased: int
    head: str
    findings: tuple[Finding, ...]


async def rows(scripts: Scripts, run: str) -> AsyncIterator[tuple[int, dict[bytes, bytes]]]:
    """A run's records as they are stored, with their positions, oldest first."""
    after = "-"
    while True:
        page = await scripts.client.xrange(scripts.key("log", run), min=after, max="+", count=PAGE)
        for row, values in page:
            yield int(text(row).partition("-")[0]), values
        if len(page) < PAGE:
            return
        after = f"({text(page[-1][0])}"


class RedisTrail:
    """Reads a run's log as it is stored."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs) -> None:
        self._scripts = scripts
        self._blobs = blobs

    async def verify(self, run: str) -> Verdict:
        """Compute every digest and the chain anew; one finding for each record that does not fit."""
        findings: list[Finding] = []
        expected, erased, before = 1, 0, ""
        async for position, values in rows(self._scripts, run):
            if position != expected:
                findings.append(Finding(expected, f"missing; the next record is {position}"))
            kind, of, at = text(values.get(b"t")), text(values.get(b"g")), text(values.get(b"at"))
            problem = await self._content(kind, of, values)
            if problem:
                findings.append(Finding(position, problem))
            if not at.isdigit() or link(before, position, kind, int(at), of) != text(values.get(b"h")):
                findings.append(Finding(position, "the chain breaks here: this record, or what was before it, changed"))
            erased += b"c" in values
            before, expected = text(values.get(b"h")), position + 1
        length, head = await self._scripts.command("HMGET", self._scripts.key("run", run), "length", "head")
        if int(length or 0) != expected - 1:
            findings.append(Finding(expected, f"the log ends here, but {text(length) or 'no'} records were written"))
        elif text(head) != before:
            findings.append(Finding(expected - 1, "the chain's end is not the one that the run remembers"))
        return Verdict(expected - 1, erased, before, tuple(findings))

    async def _content(self, kind: str, of: str, values: dict[bytes, bytes]) -> str:
        """What is wrong with a record's content, or an empty text."""
        try:
            if b"c" in values:
                kept, content = json.loads(values[b"d"]), text(values[b"c"])
            else:
                kept, rest = split(kind, await unpack(values[b"d"], self._blobs))
                content = content_digest(rest, text(values[b"s"]))
        except (KeyError, ValueError, zlib.error) as error:
            return f"it cannot be read: {str(error).strip(chr(39)) or type(error).__name__}"
        return "" if digest(kept, content) == of else "what it says is not what was written"
