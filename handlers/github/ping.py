"""GitHub's `ping`: the webhook was set up, or somebody tests it. The web process answers; nothing has happened."""

from __future__ import annotations

from handlers.github.translation import AppIdentity, Found, Payload


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """Nothing, ever."""
    return ()
