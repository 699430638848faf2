"""What a check-up is told of the store and of the App at GitHub: facts only, to be judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StoreHealth:
    """A store that answers. `settings` are those of CONFIG GET that matter, None where the server does not show them.

    `ahead_ms` is how far its clock is ahead of this machine's; `replica`: it takes no writes.
    `aside` is how many events the router has put aside since nothing could be done with them, up to a thousand.
    """

    server: str
    version: str
    replica: bool
    settings: Mapping[str, str] | None
    memory: int
    ahead_ms: int
    aside: int = 0


@dataclass(frozen=True)
class AppHealth:
    """The App, as its own key shows it. `ahead_s` is how far GitHub's clock is ahead of this machine's, None when the
    answer has no date."""

    slug: str
    permissions: Mapping[str, str]
    events: tuple[str, ...]
    ahead_s: float | None


@dataclass(frozen=True)
class HookHealth:
    """Where GitHub delivers to, whether it signs what it delivers, and whether it looks at the certificate."""

    url: str
    secret: bool
    verifies: bool
