"""The team, written out once: one file adds a role, beside its prompt."""

from __future__ import annotations

from agents.role import Role
from agents.roles import architect, developer, product_manager, reviewer, tester

ROLES: tuple[Role, ...] = (
    product_manager.ROLE,
    architect.ROLE,
    developer.ROLE,
    tester.ROLE,
    reviewer.ROLE,
)


def role(name: str) -> Role:
    """The role of this name. Raises `KeyError` that names those there are."""
    for known in ROLES:
        if known.name == name:
            return known
    raise KeyError(f"no role {name!r}; there are {', '.join(known.name for known in ROLES)}")
