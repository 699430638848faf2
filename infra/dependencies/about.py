"""What a project says about itself, whichever file says it; and how values of unknown shape are taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.utils import canonicalize_name

Listed = tuple[object, ...]


@dataclass(frozen=True)
class Metadata:
    """A project's word on itself. `dependencies` is None when they are not written down in a form that we read.

    `groups` are dependency groups (PEP 735) with their includes; `entry_points` are (group, name, object) triples,
    console scripts among them; `roots` are folders, besides the root and src, that hold its packages.
    """

    where: str = ""
    name: str = ""
    version: str = ""
    requires_python: str = ""
    dependencies: Listed | None = None
    extras: Mapping[str, Listed] = field(default_factory=dict)
    groups: Mapping[str, Listed] = field(default_factory=dict)
    entry_points: tuple[tuple[str, str, str], ...] = ()
    roots: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)


def normal(name: str) -> str:
    """A package's, an extra's or a group's name in normal form."""
    return canonicalize_name(name)


def table(value: object) -> dict[str, object]:
    """A table, or an empty one in place of anything else."""
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def listed(value: object) -> Listed:
    """A list as a tuple; a single text as one; nothing in place of anything else."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else ()
