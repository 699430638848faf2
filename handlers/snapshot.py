"""Which text of an issue somebody meant when they let the team begin."""

from __future__ import annotations

from hashlib import sha256


def text_digest(title: str | None, body: str | None) -> str:
    """What tells one text of an issue from another; a missing body is an empty one."""
    return sha256(f"{title or ''}\0{body or ''}".encode("utf-8", "surrogatepass")).hexdigest()
