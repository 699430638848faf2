"""The App itself, for a check-up.

Source: GitHub REST, "Get the authenticated app" and "Get a webhook configuration for an app".
"""

from __future__ import annotations

from handlers.ports import AppHealth, HookHealth
from infra.github.client import GitHubClient
from infra.github.models import HookConfig, WholeApp, parse
from infra.github.wire import Call, path


class GitHubApp:
    """What GitHub says of the App whose key we hold."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def health(self) -> AppHealth:
        """Raises `Refused` when GitHub does not accept the key, with the reason, and other `GitHubError`s."""
        call = Call("GET", path("app"))
        reply = await self._client.as_app(call)
        app = parse(call, reply, WholeApp)
        return AppHealth(app.slug, app.permissions or {}, app.events, self._client.ahead(reply))

    async def hook(self) -> HookHealth:
        """Where deliveries go. Raises `Missing` when the App has no webhook."""
        call = Call("GET", path("app", "hook", "config"))
        config = parse(call, await self._client.as_app(call), HookConfig)
        return HookHealth(config.url or "", bool(config.secret), str(config.insecure_ssl) not in ("1", "True"))
