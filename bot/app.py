"""The web process as one ASGI application: the webhook, health, counters and the pages of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from bot.web.guard import Admit, Guard, SecurityHeaders
from bot.web.metrics import Counters
from bot.web.runs import WEB, RunPages, Runs
from handlers.ports import Events

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class WebDeps:
    """What the web process needs from outside.

    `ready` answers whether the store can be reached. `unavailable` are the exceptions by which the store says that it
    cannot. `admit` decides who sees pages; None: whoever sits at this machine. `lifespan` opens and closes clients.
    """

    webhook: ASGIApp
    ready: Callable[[], Awaitable[bool]]
    runs: Runs
    events: Events
    counters: Counters = field(default_factory=Counters)
    unavailable: tuple[type[Exception], ...] = (OSError,)
    admit: Admit | None = None
    lifespan: Lifespan | None = None
    heartbeat_s: float = 15.0


def create_app(deps: WebDeps) -> FastAPI:
    """The application. It starts nothing by itself and holds no state but its counters."""
    app = FastAPI(title="Seconder", docs_url=None, redoc_url=None, openapi_url=None, lifespan=deps.lifespan)
    pages = RunPages(deps.runs, deps.events, deps.heartbeat_s)

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        try:
            ready = await deps.ready()
        except deps.unavailable:
            ready = False
        return PlainTextResponse("ready\n" if ready else "the store cannot be reached\n", 200 if ready else 503)

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(deps.counters.text(), media_type="text/plain; version=0.0.4")

    app.router.routes.extend(
        [
            Route("/webhook", deps.webhook, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            Route("/runs/{run}", pages.page),
            Route("/runs/{run}/events", pages.events),
            _static("run.js", "text/javascript"),
            _static("run.css", "text/css"),
        ]
    )
    for kind in deps.unavailable:
        app.add_exception_handler(kind, _store_down)
    app.add_middleware(Guard, admit=deps.admit)
    app.add_middleware(SecurityHeaders)
    return app


def _static(name: str, kind: str) -> Route:
    """A file of ours, read once."""
    content = (WEB / "static" / name).read_bytes()

    async def file(request: Request) -> Response:
        return Response(content, media_type=kind)

    return Route(f"/static/{name}", file)


async def _store_down(request: Request, error: Exception) -> Response:
    return PlainTextResponse("The store cannot be reached. Try again in a moment.\n", status_code=503)
