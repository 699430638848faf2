"""The local GitHub as one ASGI app, and as a server in this process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from infra.local_github import (
    graphql,
    routes_app,
    routes_checks,
    routes_git,
    routes_issues,
    routes_pulls,
    routes_repos,
    routes_reviews,
    routes_rules,
    routes_teams,
)
from infra.local_github.api import Answer, Api, Endpoint, Request
from infra.local_github.auth import Actor, identify
from infra.local_github.errors import ApiError
from infra.local_github.git_http import PATH as GIT_PATH
from infra.local_github.git_http import GitHttp
from infra.local_github.git_store import GitFailed
from infra.local_github.pages import Pages
from infra.local_github.records import Json
from infra.local_github.webhooks import Deliverer
from infra.local_github.world import Clock, World, utc_now

ENDPOINTS: tuple[Endpoint, ...] = (
    *routes_app.ENDPOINTS,
    *routes_checks.ENDPOINTS,
    *routes_git.ENDPOINTS,
    *routes_issues.ENDPOINTS,
    *routes_pulls.ENDPOINTS,
    *routes_reviews.ENDPOINTS,
    *routes_rules.ENDPOINTS,
    *routes_teams.ENDPOINTS,
    *routes_repos.ENDPOINTS,
    *graphql.ENDPOINTS,
    *routes_repos.GREEDY,
)
_PREFIXES = ("/api/v3", "/api/graphql", "/graphql")
_BODY_LIMIT = 140 * 2**20
_ROOTS = ("app", "installation", "orgs", "repos", "repositories", "user", "users", "rate_limit")


class LostReply(Exception):
    """A planned fault: the connection closes without an answer."""


class Site:
    """Routes each request to git, to the API or to the pages."""

    def __init__(self, world: World, api: Api, pages: ASGIApp) -> None:
        self.world, self.api, self.pages, self.git = world, api, pages, GitHttp(world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        path = scope.get("raw_path", scope["path"].encode()).split(b"?")[0].decode("ascii", "replace")
        if GIT_PATH.fullmatch(scope["path"]) and not path.startswith("/api/"):
            await self.git(scope, receive, send)
        elif _is_api(path):
            await self._api(scope, receive, send, path)
        else:
            await self.pages(scope, receive, send)

    async def _api(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        path = "/graphql" if path == "/api/graphql" else path.removeprefix("/api/v3") or "/"
        actor = Actor()
        try:
            await self._fault_before(scope["method"], path)
            actor = identify(self.world, headers.get("authorization", ""))
            self._spend(actor)
            body = await _body(receive, headers)
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            request = Request(scope["method"], path, body, query, headers.get("accept", ""))
            answer = await self.api.perform(actor, request)
            if self.world.faults.take(scope["method"], path, "drop_after"):
                raise LostReply
        except LostReply:
            await _lose(send)
            return
        except ApiError as refused:
            answer = Answer(refused.status, refused.body(), refused.headers)
        except GitFailed as failed:  # a fault of ours, not of the caller: said, so that it can be found
            answer = Answer(500, ApiError(500, f"Server Error: {failed}").body())
        await _reply(send, answer, self._limits(actor))

    async def _fault_before(self, method: str, path: str) -> None:
        fault = self.world.faults.take(method, path, "status", "drop_before", "delay")
        if fault is None:
            return
        if fault.kind == "drop_before":
            raise LostReply
        if fault.kind == "status":
            raise ApiError(fault.status, fault.message, headers=fault.headers)
        await asyncio.sleep(fault.seconds)

    def _spend(self, actor: Actor) -> None:
        limit, used, _ = self.world.rate(actor.key, 1)
        if used > limit:
            raise ApiError(403, f"API rate limit exceeded for {actor.key}.")

    def _limits(self, actor: Actor) -> dict[str, str]:
        limit, used, reset = self.world.rate(actor.key)
        return {
            "x-ratelimit-limit": str(limit),
            "x-ratelimit-remaining": str(max(0, limit - used)),
            "x-ratelimit-used": str(min(used, limit)),
            "x-ratelimit-reset": str(reset),
            "x-ratelimit-resource": "core",
            "x-github-media-type": "github.v3; format=json",
        }


def _is_api(path: str) -> bool:
    if path.startswith(_PREFIXES):
        return True
    return path.split("/")[1] in _ROOTS


async def _body(receive: Receive, headers: Mapping[str, str]) -> Json:
    raw, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "The connection was closed.")
        raw += message.get("body", b"")
        more = message.get("more_body", False)
        if len(raw) > _BODY_LIMIT:
            raise ApiError(413, "Payload too large")
    if not raw:
        return {}
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()  # a lone surrogate could be neither stored nor sent on
    except (ValueError, RecursionError):
        raise ApiError(400, "Problems parsing JSON") from None
    if isinstance(body, list) and all(isinstance(item, str) for item in body):
        return {"labels": body}  # the label endpoints also take a bare list
    if not isinstance(body, dict):
        raise ApiError(400, "Body should be a JSON object")
    return body


async def _reply(send: Send, answer: Answer, more: Mapping[str, str]) -> None:
    raw = isinstance(answer.body, bytes)
    body = answer.body if isinstance(answer.body, bytes) else b""
    if not raw and answer.body is not None:
        body = json.dumps(answer.body, ensure_ascii=True).encode()
    kind = "application/octet-stream" if raw else "application/json; charset=utf-8"
    headers = {"content-type": kind, "content-length": str(len(body)), **more, **answer.headers}
    lines = [(k.lower().encode("latin-1"), v.encode("latin-1", "replace")) for k, v in headers.items()]
    if answer.status == HTTPStatus.NO_CONTENT:
        lines = [line for line in lines if line[0] not in (b"content-type", b"content-length")]
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def _lose(send: Send) -> None:
    """End an answer before its promised length: the server then closes the connection and the client sees a break."""
    headers = [(b"content-length", b"1000000"), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{", "more_body": True})


def create_app(world: World) -> Site:
    """The ASGI app over a world; webhooks go out only while a `Deliverer` runs (see `LocalGitHub.start`)."""
    api = Api(world, ENDPOINTS)
    return Site(world, api, Pages(world, api))


class _Server(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Do nothing: whoever starts us decides when to stop."""
        yield


@dataclass
class LocalGitHub:
    """A running local GitHub: `world` sets it up, `api` acts as its users, the addresses are where it listens."""

    world: World
    api: Api
    deliverer: Deliverer
    port: int

    @property
    def url(self) -> str:
        """Where pages and git are."""
        return self.world.base_url

    @property
    def api_url(self) -> str:
        """What githubkit takes as `base_url`."""
        return f"{self.world.base_url}/api/v3"

    def git_url(self, full_name: str) -> str:
        """The address for `git clone`."""
        return f"{self.world.base_url}/{full_name}.git"

    async def act(self, login: str, method: str, path: str, body: Json | None = None) -> Json:
        """Do one REST call as a user, without HTTP: `await gh.act("ada", "POST", "/repos/o/r/issues", {...})`."""
        return await self.api.act(login, method, path, body)

    async def webhooks_idle(self) -> None:
        """Wait until every queued webhook has been attempted."""
        await self.deliverer.idle()

    @staticmethod
    @asynccontextmanager
    async def start(
        data_dir: Path, port: int = 0, host: str = "127.0.0.1", clock: Clock = utc_now
    ) -> AsyncIterator[LocalGitHub]:
        """Open `data_dir` and serve it until the block ends; port 0 takes a free one.

        Raises ValueError for a host other than loopback: the pages let anyone who reaches them act as any user.
        """
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError(f"the local GitHub listens on loopback only, not on {host!r}; use 127.0.0.1")
        world = World.load(data_dir, clock)
        with socket.create_server((host, port), backlog=128) as listener:
            # Accepted connections inherit it; else each small answer waits 40 ms for a delayed acknowledgement.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            bound = int(listener.getsockname()[1])
            world.base_url = f"http://{host}:{bound}"
            site = create_app(world)
            server = _Server(
                uvicorn.Config(site, log_level="error", lifespan="off", ws="none", timeout_graceful_shutdown=5)
            )
            deliverer = Deliverer(world)
            serving = asyncio.create_task(server.serve([listener]), name="local-github")
            deliverer.start()
            try:
                while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn offers no event
                    await asyncio.sleep(0.005)
                yield LocalGitHub(world, site.api, deliverer, bound)
            finally:
                await deliverer.stop()
                server.should_exit = True
                await serving
                world.save()
