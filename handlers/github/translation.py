"""What every translator is given and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from handlers.events import Event, GitHubEvent, InstallationChanged

Payload = Mapping[str, object]


class PayloadError(ValueError):
    """A payload whose shape is not what GitHub documents; the text names the event and the fields, never a value."""


@dataclass(frozen=True)
class AppIdentity:
    """Who we are on GitHub: the App's number, its bot user's number (None if not known yet) and its slug.

    `short_commands` says whether `/verb` counts besides `/seconder verb`.
    """

    app_id: int
    bot_id: int | None
    slug: str
    short_commands: bool = True


class Found(NamedTuple):
    """One record, and when it happened by GitHub's clock (milliseconds UTC; 0 if the payload does not say)."""

    record: GitHubEvent | InstallationChanged
    at: int = 0


@dataclass(frozen=True)
class Translation:
    """The events of one delivery. `dedupe_body` is False for kinds that repeat byte for byte, as button presses do."""

    events: tuple[Event, ...] = ()
    dedupe_body: bool = True
