"""The whole product in one process: embedded store, local GitHub, scripted models, web, worker, real sandbox.

A house is opened once per session; each test has a repository, a script and an issue of its own in it. The models'
server finds out by a file's name which test's script a request belongs to.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot import wiring
from bot.serving import serve
from bot.settings import load
from bot.wiring import Hub
from bot.worker import Pace, work
from handlers.github.translation import AppIdentity
from infra.llm.faults import Faults
from infra.llm.script import Script
from infra.llm.scripted import ScriptedModel
from infra.local_github import LocalGitHub

OWNER = "acme"
ROLES: Mapping[str, str | None] = {
    "requester": "write",
    "writer": "write",
    "maintainer": "maintain",
    "reader": "read",
    "triager": "triage",
    "outsider": None,
}
_CASE = re.compile(rb"case-([a-z0-9]+(?:-[a-z0-9]+)*)\.txt")


class Troupe:
    """One Messages endpoint for all scripts: the file `case-NAME.txt` in a request's listing names the script."""

    def __init__(self) -> None:
        self._models: dict[str, ScriptedModel] = {}

    def play(self, case: str, script: Script) -> tuple[ScriptedModel, Faults]:
        """Play `script` for requests of this case."""
        faults = Faults()
        self._models[case] = ScriptedModel(script, faults=faults)
        return self._models[case], faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        found = _CASE.search(body)
        model = self._models.get(found[1].decode()) if found else None
        app: ASGIApp = model.app if model is not None else PlainTextResponse("no case", 500)
        await app(scope, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    """`receive` that hands out a body that was read before."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


@dataclass
class House:
    """A running product. `people` speak to the local GitHub's REST API, each with a token of their own."""

    hub: Hub
    github: LocalGitHub
    troupe: Troupe
    web: str
    webhook_secret: str
    bot_id: int
    app_id: int
    people: dict[str, httpx.AsyncClient] = field(default_factory=dict)
    workers: int = 0
    env: Mapping[str, str] = field(default_factory=dict)
    _working: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start_worker(self) -> None:
        """Start a worker with nothing in its memory, beside those there are."""
        settings = load(self.env, "demo").model_copy(update={"public_url": self.web})
        workshop = await self._working.enter_async_context(wiring.open_workshop(settings, self.hub))
        self.workers += 1
        pace = Pace(f"e2e-{self.workers}", 0.3)
        task = asyncio.create_task(work(workshop.context, self.hub.bus, workshop.engine, pace))
        self._working.push_async_callback(_cancelled, task)

    async def stop_workers(self) -> None:
        """Stop all workers in the middle of whatever they do; nothing is handed over."""
        await self._working.aclose()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@contextlib.asynccontextmanager
async def open_house(**settings: str) -> AsyncIterator[House]:
    """Start everything, with more settings as the environment would give them; it is all gone at the end."""
    data = Path(tempfile.mkdtemp(prefix="seconder-e2e-"))
    store = wiring.start_embedded(data, leashed=True)
    try:
        async with contextlib.AsyncExitStack() as stack:
            hub = await stack.enter_async_context(wiring.open_hub(store.address))
            github = await stack.enter_async_context(wiring.local_github(data / "github"))
            house = await _furnish(stack, hub, github, data, settings)
            await house.start_worker()
            stack.push_async_callback(house.stop_workers)
            yield house
    finally:
        store.stop()
        shutil.rmtree(data, ignore_errors=True)


async def _furnish(
    stack: contextlib.AsyncExitStack, hub: Hub, github: LocalGitHub, data: Path, settings: Mapping[str, str]
) -> House:
    world = github.world
    world.rate_limit = 1_000_000  # the tests look far more often than people would
    world.add_user(OWNER, kind="Organization")
    secret = secrets.token_hex(20)
    app = world.add_app(OWNER, wiring.app_spec("http://127.0.0.1:1/webhook", secret))
    troupe = Troupe()
    models = await stack.enter_async_context(serve(troupe))
    web = await stack.enter_async_context(
        serve(wiring.web_app(hub, AppIdentity(app.id, app.bot_id, app.slug), (secret,)))
    )
    world.set_webhook(app.slug, f"{web}/webhook", secret)
    env = {
        "GITHUB_APP_ID": str(app.id),
        "GITHUB_APP_PRIVATE_KEY": app.private_key_pem,
        "GITHUB_API_URL": github.api_url,
        "ANTHROPIC_BASE_URL": models,
        "ANTHROPIC_API_KEY": "scripted",
        "SECONDER_DATA_DIR": str(data),
        "SECONDER_LEASE_S": "3",
        "SECONDER_SETTLE_S": "1",
        "SECONDER_TEST_SECONDS": "6",
        **settings,
    }
    house = House(hub, github, troupe, web, secret, app.bot_id, app.id, env=env)
    for login in ROLES:
        world.add_user(login)
        headers = {"Authorization": f"Bearer {world.add_token(login)}"}
        # A connection of its own for each call: a kept one may be closed by the server just when it is used again.
        limits = httpx.Limits(max_keepalive_connections=0)
        client = httpx.AsyncClient(base_url=github.api_url, headers=headers, timeout=30, limits=limits)
        house.people[login] = await stack.enter_async_context(client)
    return house
