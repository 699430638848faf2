"""Log records as they are stored, each sealed with a digest of what it says.

A record has two parts: what stays for ever (ids, authors, parents, votes, receipts, what was paid), and content that
can be erased on request. Its digest is SHA-256 over the first part and a salted SHA-256 of the second, so that it can
still be computed when the content and its salt are gone, and nobody can find the content by guessing.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from agents.board import Entry
from handlers.events import Event
from infra.store.blobs import RedisBlobs
from infra.store.packing import pack

DIGEST = 64
SALT = 16


@dataclass(frozen=True)
class _Kept:
    """The fields of a record that stay. Of the field `inner`, a mapping, only `of_inner` stay. None: all of them."""

    fields: frozenset[str] | None = None
    inner: str = ""
    of_inner: frozenset[str] = frozenset()


_VOTE = frozenset({"gate", "digest", "word", "via", "url"})
_ENTRY = frozenset({"id", "kind", "value", "author", "derived_from", "supersedes", "at"})
_EVENT = frozenset({"id", "name", "data", "run", "cause", "at", "v"})
_EVENT_DATA = frozenset(
    {"gate", "head", "by", "entry", "node", "via", "visits", "issue", "repo", "attempt", "left", "needed", "late"}
)
_TURN = frozenset(
    {"task", "node", "visit", "number", "kind", "stop_reason", "usage", "cost", "model", "seconds", "tools", "tree"}
)
_END = frozenset({"task", "node", "outcome", "ending", "cause"})
_ALL = _Kept()


def _rule(kind: str, data: Mapping[str, object]) -> _Kept:
    match kind:
        case "entry":
            return _Kept(_ENTRY, "value", _VOTE if data.get("kind") == "vote" else frozenset())
        case "event":
            return _Kept(_EVENT, "data", _EVENT_DATA)
        case "turn":
            return _Kept(_TURN)
        case "ended" | "note":
            return _Kept(_END)
        case _:
            return _ALL


def split(kind: str, data: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What of a record of this kind stays, and what an erasure takes away."""
    rule = _rule(kind, data)
    if rule.fields is None:
        return dict(data), {}
    kept = {name: value for name, value in data.items() if name in rule.fields}
    erased = {name: value for name, value in data.items() if name not in rule.fields}
    inner = kept.get(rule.inner)
    if isinstance(inner, Mapping):
        kept[rule.inner] = {name: value for name, value in inner.items() if name in rule.of_inner}
        erased[rule.inner] = {name: value for name, value in inner.items() if name not in rule.of_inner}
    return kept, erased


def content_digest(erased: Mapping[str, object], salt: str) -> str:
    """SHA-256 in hex over the part that can be erased."""
    return hashlib.sha256(salt.encode() + b"\n" + _canonical(erased)).hexdigest()


def digest(kept: Mapping[str, object], content: str) -> str:
    """SHA-256 in hex over the part that stays and the content's digest."""
    return hashlib.sha256(_canonical(kept) + b"\n" + content.encode()).hexdigest()


def link(before: str, position: int, kind: str, at: int, of: str) -> str:
    """The chain's value at a record: SHA-1 in hex over the value before it and all that the record is.

    The store's scripts compute the same (prelude.lua); SHA-1 is the only digest that they have.
    """
    return hashlib.sha1(f"{before}\n{position}\n{kind}\n{at}\n{of}".encode(), usedforsecurity=False).hexdigest()


def seal(kind: str, data: Mapping[str, object], stored: str = "") -> str:
    """A record as the scripts take it: digest, salt, JSON. `stored` is its JSON where that names a blob instead."""
    salt = secrets.token_hex(SALT // 2)
    kept, erased = split(kind, data)
    return digest(kept, content_digest(erased, salt)) + salt + (stored or json.dumps(data, separators=(",", ":")))


async def seal_entry(entry: Entry, blobs: RedisBlobs) -> str:
    """An entry as a sealed record; its JSON becomes a blob where it is long."""
    data = entry.model_dump(mode="json")
    return seal("entry", data, await pack(data, blobs))


def seal_event(event: Event) -> str:
    """An event as a sealed record."""
    return seal("event", event.model_dump(mode="json"))


def _canonical(data: Mapping[str, object]) -> bytes:
    """One spelling for the same JSON."""
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
