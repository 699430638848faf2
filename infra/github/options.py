"""Where GitHub is and how politely to talk to it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

NEWEST_API = "2026-03-10"
GHES_API = "2022-11-28"


@dataclass(frozen=True)
class Options:
    """How to reach GitHub.

    `api_url` is the REST root: `https://api.github.com`, `https://HOST/api/v3` for GitHub Enterprise Server.
    `api_version` and `write_gap_s` (seconds between two writes of one installation) are chosen by host when None.
    Only branches that begin with `branch_prefix` are ever created, moved or deleted.
    `proxy` is an HTTP proxy's address. Raises `ValueError` for an address that cannot be used.
    """

    api_url: str = "https://api.github.com"
    api_version: str | None = None
    write_gap_s: float | None = None
    concurrency: int = 8
    timeout_s: float = 20.0
    connect_timeout_s: float = 5.0
    user_agent: str = "seconder"
    branch_prefix: str = "seconder/"
    proxy: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"GITHUB_API_URL is {self.api_url!r}: give an address such as https://api.github.com")
        if parts.scheme == "http" and not self.on_loopback:
            raise ValueError(f"GITHUB_API_URL is {self.api_url!r}: tokens travel over https only (http: loopback only)")
        if parts.query or parts.fragment or parts.username:
            raise ValueError(f"GITHUB_API_URL is {self.api_url!r}: it takes no query, fragment or credentials")

    @property
    def root(self) -> str:
        """The REST root without a trailing slash."""
        return self.api_url.rstrip("/")

    @property
    def graphql_url(self) -> str:
        """GraphQL's address (GitHub GraphQL: Forming calls; GHES serves it beside `/api/v3`)."""
        return self.root.removesuffix("/v3") + "/graphql"

    @property
    def on_loopback(self) -> bool:
        """Whether the address is this machine's own (a local GitHub)."""
        host = urlsplit(self.api_url).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def version(self) -> str:
        """The API version to ask for by name, since a server's default differs between REST and GraphQL calls."""
        if self.api_version:
            return self.api_version
        host = urlsplit(self.api_url).hostname or ""
        in_the_cloud = host == "api.github.com" or host.endswith(".ghe.com")
        return NEWEST_API if in_the_cloud or self.on_loopback else GHES_API

    @property
    def gap(self) -> float:
        """Seconds between writes: GitHub asks for one (GitHub REST: Best practices), a local one for none."""
        if self.write_gap_s is not None:
            return self.write_gap_s
        return 0.0 if self.on_loopback else 1.0
