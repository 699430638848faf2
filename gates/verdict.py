"""What a gate says. Only `Pass` lets anything through; whatever could not be judged is `Blocked`."""

from __future__ import annotations

from dataclasses import dataclass

from gates.evidence import Person


@dataclass(frozen=True)
class Pass:
    """The gate is open: who opened it, and why in a few words."""

    by: tuple[Person, ...]
    why: str


@dataclass(frozen=True)
class Wait:
    """People are still to decide: what is needed, who of those known could give it, and why it is not there yet.

    An empty `eligible` means that nobody known so far could decide, which a reader should be told with the way out.
    """

    need: str
    eligible: tuple[Person, ...]
    why: str


@dataclass(frozen=True)
class Refuse:
    """A person said no."""

    reason: str
    by: tuple[Person, ...]


@dataclass(frozen=True)
class Blocked:
    """It could not be judged, or may not be: error, time-out, malformed or missing evidence, closed, on hold."""

    reason: str


Verdict = Pass | Wait | Refuse | Blocked
