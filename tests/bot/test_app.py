"""The web process: who may see what, and what it shows."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from starlette.requests import Request

from bot.app import WebDeps, create_app
from bot.web.guard import Admit
from bot.web.metrics import Counters
from bot.web.runs import frame, visible
from bot.webhook import Webhook
from handlers.github import AppIdentity
from handlers.ports import LogRecord
from tests.fakes.bus import FakeBus
from tests.fakes.runs import WatchedRuns


class Client:
    """A browser and the application, with the fakes at hand."""

    def __init__(self, admit: Admit | None = None) -> None:
        self.runs, self.bus, self.counters = WatchedRuns(), FakeBus(), Counters()
        self.ready = True
        hook = Webhook(self.bus, AppIdentity(77, None, "seconder"), ("a test secret",), count=self.counters.delivery)
        self.app = create_app(
            WebDeps(
                webhook=hook,
                ready=self.is_ready,
                runs=self.runs,
                events=self.runs,
                counters=self.counters,
                admit=admit,
                heartbeat_s=0.05,
            )
        )

    async def is_ready(self) -> bool:
        if self.runs.broken:
            raise self.runs.broken
        return self.ready

    async def send(
        self,
        path: str,
        client: str = "127.0.0.1",
        host: str = "127.0.0.1:8080",
        headers: dict[str, str] | None = None,
        method: str = "GET",
    ) -> httpx.Response:
        """One request from `client`, which asked for `host`."""
        transport = httpx.ASGITransport(self.app, client=(client, 50000))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as browser:
            return await browser.request(method, path, headers={"host": host, **(headers or {})})


@pytest.mark.parametrize("path", ["/runs/r1", "/metrics", "/static/run.js", "/static/run.css"])
@pytest.mark.parametrize(
    ("client", "host", "headers", "status"),
    [
        pytest.param("127.0.0.1", "127.0.0.1:8080", {}, 200, id="this machine"),
        pytest.param("127.0.0.1", "localhost", {}, 200, id="by name"),
        pytest.param("::1", "[::1]:8080", {}, 200, id="IPv6"),
        pytest.param("::ffff:127.0.0.1", "127.0.0.1", {}, 200, id="IPv4 in IPv6"),
        pytest.param("10.0.0.9", "10.0.0.1:8080", {}, 403, id="the network"),
        pytest.param("203.0.113.9", "127.0.0.1", {}, 403, id="elsewhere, with a local name"),
        pytest.param("127.0.0.1", "rebound.example:8080", {}, 403, id="a name that resolves to this machine"),
        pytest.param("127.0.0.1", "127.0.0.1.example", {}, 403, id="a name that looks local"),
        pytest.param("127.0.0.1", "", {}, 403, id="no name"),
        pytest.param("127.0.0.1", "127.0.0.1", {"x-forwarded-for": "203.0.113.9"}, 403, id="proxy"),
        pytest.param("127.0.0.1", "127.0.0.1", {"x-forwarded-for": "127.0.0.1"}, 403, id="proxy that says local"),
        pytest.param("127.0.0.1", "127.0.0.1", {"forwarded": "for=_x"}, 403, id="standard proxy"),
        pytest.param("", "127.0.0.1", {}, 403, id="no address"),
        pytest.param("testclient", "127.0.0.1", {}, 403, id="not an address"),
    ],
)
async def test_pages_are_for_this_machine(
    path: str, client: str, host: str, headers: dict[str, str], status: int
) -> None:
    response = await Client().send(path, client, host, headers)
    assert response.status_code == status
    assert ("on its own machine only" in response.text) == (status == 403)


async def test_an_unknown_page_beyond_this_machine_is_also_refused() -> None:
    assert (await Client().send("/nothing", client="10.0.0.9")).status_code == 403


async def test_whoever_is_admitted_sees_pages() -> None:
    async def admit(request: Request) -> bool:
        return request.headers.get("x-who") == "ada"

    client = Client(admit)
    assert (await client.send("/runs/r1", "10.0.0.9", headers={"x-who": "ada"})).status_code == 200
    assert (await client.send("/runs/r1", "10.0.0.9", headers={"x-who": "bob"})).status_code == 403


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/healthz", 200, id="health"),
        pytest.param("/readyz", 200, id="ready"),
        pytest.param("/metrics", 200, id="metrics"),
        pytest.param("/runs/r1", 200, id="run"),
        pytest.param("/runs/none", 404, id="no such run"),
        pytest.param("/runs/none/events", 404, id="events of no run"),
        pytest.param("/docs", 404, id="no generated docs"),
        pytest.param("/openapi.json", 404, id="no schema"),
        pytest.param("/webhook", 405, id="webhook by get"),
        pytest.param("/static/../app.py", 404, id="no way out of static"),
    ],
)
async def test_every_answer_carries_the_security_headers(path: str, status: int) -> None:
    response = await Client().send(path)
    assert response.status_code == status
    assert response.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers


async def test_the_webhook_is_open_to_everybody_and_counted() -> None:
    client = Client()
    response = await client.send("/webhook", "203.0.113.9", "seconder.example", {"x-forwarded-for": "1"}, "POST")
    assert (response.status_code, response.headers["x-content-type-options"]) == (401, "nosniff")
    assert 'seconder_deliveries_total{outcome="signature"} 1\n' in (await client.send("/metrics")).text


async def test_readiness_is_the_stores_and_health_is_not() -> None:
    client = Client()
    client.ready = False
    assert (await client.send("/readyz", "10.0.0.9")).status_code == 503
    client.ready, client.runs.broken = True, ConnectionRefusedError()
    assert (await client.send("/readyz", "10.0.0.9")).status_code == 503
    assert (await client.send("/healthz", "10.0.0.9")).status_code == 200
    response = await client.send("/runs/r1")
    assert (response.status_code, response.text) == (503, "The store cannot be reached. Try again in a moment.\n")


async def test_a_page_shows_the_run_and_escapes_what_others_wrote() -> None:
    client = Client()
    client.runs.add({"text": "<script>alert(1)</script> a\u202eb\u200b"}, at=3_661_000)
    page = (await client.send("/runs/r1")).text
    assert "o/r#4" in page
    assert "$1.23 of $5.00" in page
    assert "01:01:01" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; a&lt;U+202E&gt;b&lt;U+200B&gt;" in page
    assert 'data-after="1"' in page


async def test_a_page_shows_the_end_of_a_long_log() -> None:
    client = Client()
    for number in range(250):
        client.runs.add({"number": number})
    page = (await client.send("/runs/r1")).text
    assert page.count("<tr><td>") == 200
    assert "<td>50</td>" not in page
    assert 'data-after="250"' in page


@pytest.mark.parametrize(
    ("headers", "path", "positions"),
    [
        pytest.param({}, "/runs/r1/events", [1, 2, 3], id="from the start"),
        pytest.param({"last-event-id": "1"}, "/runs/r1/events", [2, 3], id="behind the last seen"),
        pytest.param({}, "/runs/r1/events?after=2", [3], id="behind the page"),
        pytest.param({"last-event-id": "2"}, "/runs/r1/events?after=0", [3], id="last seen wins"),
        pytest.param({"last-event-id": "99"}, "/runs/r1/events", [], id="beyond the end"),
    ],
)
async def test_events_replay(headers: dict[str, str], path: str, positions: list[int]) -> None:
    client = Client()
    for number in range(3):
        client.runs.add({"number": number})
    client.runs.end()
    response = await client.send(path, headers=headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    frames = response.text.split("\n\n")
    assert [int(one.split("\n")[0][4:]) for one in frames if one.startswith("id: ")] == positions
    assert frames[-2:] == ["event: end\ndata: {}", ""]
    assert client.runs.following == 0


async def test_events_come_live_with_heartbeats_between() -> None:
    client = Client()

    async def work() -> None:
        await asyncio.sleep(0.12)
        client.runs.add({"late": True})
        client.runs.end()

    response, _ = await asyncio.gather(client.send("/runs/r1/events"), work())
    kinds = [one.split(":")[0] for one in response.text.split("\n\n")]
    assert kinds == ["retry", "", "", "id", "event", ""]


@pytest.mark.parametrize("position", ["x", "-1", "1.5", "%D9%A3", "9" * 16])
async def test_an_odd_position_is_refused(position: str) -> None:
    response = await Client().send(f"/runs/r1/events?after={position}")
    assert response.status_code == 400


def test_text_cannot_forge_a_frame() -> None:
    text = "x\n\nevent: end\ndata: {}\r\n\u2028"
    raw = frame(LogRecord(7, "turn", {"output": text}, 0)).decode("ascii")
    assert raw.count("\n\n") == 1
    head, kind, data = raw.removesuffix("\n\n").split("\n")
    assert (head, kind) == ("id: 7", "event: record")
    assert json.loads(data.removeprefix("data: "))["data"] == {"output": text}


def test_hidden_characters_are_written_out() -> None:
    assert visible("a\u200b\x1b[0m\u00ad é ☃") == "a<U+200B><U+001B>[0m<U+00AD> é ☃"
