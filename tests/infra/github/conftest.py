"""A GitHub that answers what a test says, a clock that moves only by pauses, and the adapters between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx
import pytest
import respx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from handlers.events import RepoRef
from infra.github.connect import GitHubAdapters, connect
from infra.github.options import Options
from infra.github.tokens import AppKey

API = "https://api.github.com"
REPO = RepoRef(id=42, full_name="octo/app", installation=9)
APP_ID = 7
START = 1_800_000_000.0


@dataclass
class FakeTime:
    """Wall clock and monotonic clock that only `sleep` moves; `pauses` lists what was slept."""

    seconds: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def now(self) -> float:
        return START + self.seconds

    def monotonic(self) -> float:
        return 1000.0 + self.seconds

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds


@dataclass
class Hub:
    """The playing field: `router` answers below `API`, `mint` is its route for tokens."""

    router: respx.MockRouter
    time: FakeTime
    ports: GitHubAdapters
    mint: respx.Route


def minted(request: httpx.Request, route: respx.Route) -> httpx.Response:
    """A new token at each mint: `ghs_1`, `ghs_2`, … good for an hour."""
    token = {"token": f"ghs_{route.call_count + 1}", "expires_at": "2027-01-15T09:00:00Z"}
    return httpx.Response(201, json=token, headers={"date": "Fri, 15 Jan 2027 08:00:00 GMT"})


@pytest.fixture(scope="session")
def pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture
def hub(pem: str) -> Hub:
    router = respx.MockRouter(base_url=API, assert_all_called=False)
    mint = router.post("/app/installations/9/access_tokens").mock(side_effect=minted)
    time = FakeTime()
    transport = httpx.MockTransport(router.async_handler)
    return Hub(router, time, connect(AppKey(APP_ID, pem), Options(), transport, time), mint)
