"""The REST frame: endpoints, calls, answers, checks before each call, and what happens around it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import unquote, urlencode

from pydantic import ValidationError

from infra.local_github.auth import Actor, Needs, check_repo, check_who
from infra.local_github.errors import ApiError, invalid, not_found, unprocessable
from infra.local_github.git_store import GitStore
from infra.local_github.records import Json, Repo, User
from infra.local_github.webhooks import Notice, enqueue
from infra.local_github.world import World

T = TypeVar("T")
TEXT_LIMIT = 65_536


@dataclass(frozen=True)
class Answer:
    """What goes back: `body` None sends no content; bytes go as they are."""

    status: int = 200
    body: Json | Sequence[object] | bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Call:
    """One authorised request: who asks (`actor`), where (`params`, `repo`), and for what (`query`, `body`)."""

    world: World
    actor: Actor
    path: str = ""
    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Json = field(default_factory=dict)
    accept: str = ""
    found_repo: Repo | None = None

    @property
    def repo(self) -> Repo:
        """The repository in the path."""
        if self.found_repo is None:
            raise not_found()
        return self.found_repo

    @property
    def user(self) -> User:
        """Whose name stands on what this call writes."""
        if self.actor.user is None:
            raise ApiError(401, "Requires authentication")
        return self.actor.user

    @property
    def git(self) -> GitStore:
        return self.world.git

    @property
    def app_id(self) -> int | None:
        """The App through which the caller writes, or None for people."""
        return self.actor.app.id if self.actor.app else None

    def number(self, name: str) -> int:
        """A numeric path parameter; anything else is a 404."""
        value = self.params[name]
        if not (value.isascii() and value.isdigit() and len(value) < 19):
            raise not_found()
        return int(value)

    def text(self, name: str, resource: str, required: bool = False, limit: int = TEXT_LIMIT) -> str | None:
        """A string of the body, or None; raises 422 when missing, of another type, or over `limit` characters."""
        value = self.body.get(name)
        if value is None or (value == "" and required):
            if required:
                raise invalid(resource, name, "missing_field")
            return None
        if not isinstance(value, str):
            raise unprocessable(f"Invalid request.\n\nFor 'properties/{name}', {json.dumps(value)} is not a string.")
        if len(value) > limit:
            message = f"{name} is too long (maximum is {limit} characters)"
            error = {"resource": resource, "code": "custom", "field": name, "message": message}
            raise ApiError(422, "Validation Failed", [error])
        return value

    def need(self, name: str, resource: str, limit: int = TEXT_LIMIT) -> str:
        """A required string of the body."""
        return self.text(name, resource, True, limit) or ""

    def strings(self, name: str) -> list[str]:
        """A list of strings of the body (missing: empty); label objects count by their name."""
        value = self.body.get(name, [])
        items = [v.get("name") if isinstance(v, dict) else v for v in value] if isinstance(value, list) else None
        if items is None or not all(isinstance(item, str) for item in items):
            raise unprocessable(f"Invalid request.\n\nFor 'properties/{name}', expected an array of strings.")
        return [item for item in items if isinstance(item, str)]

    def emit(self, event: str, action: str | None, body: Json, only_app: int | None = None) -> None:
        """Queue a webhook about this call's repository, sent by this call's user."""
        notice = Notice(self.repo, event, action, body, self.user.id, only_app)
        enqueue(self.world, notice)

    def page(self, items: Sequence[T], shape: Callable[[T], object], wrap: str = "") -> Answer:
        """One page of a list with GitHub's Link header; `wrap` names the key for lists with a total."""
        size = min(max(_int(self.query.get("per_page"), 30), 1), 100)
        at = max(_int(self.query.get("page"), 1), 1)
        items = self._lagging(items)
        shown = [shape(item) for item in items[(at - 1) * size : at * size]]
        last = max(1, -(-len(items) // size))
        links = {"prev": at - 1, "next": at + 1, "last": last, "first": 1}
        if at <= 1:
            links = {k: v for k, v in links.items() if k not in ("prev", "first")}
        if at >= last:
            links = {k: v for k, v in links.items() if k not in ("next", "last")}
        headers = {"Link": ", ".join(f'<{self._link(v)}>; rel="{k}"' for k, v in links.items())} if links else {}
        return Answer(200, {"total_count": len(items), wrap: shown} if wrap else shown, headers)

    def _lagging(self, items: Sequence[T]) -> Sequence[T]:
        """What a replica that lags behind would list."""
        fault = self.world.faults.take("GET", self.path, "lag") if items else None
        if fault is None:
            return items
        if not fault.seconds:
            return items[:-1] if len(items) > 1 else items
        return [item for item in items if self.world.age_s(getattr(item, "id", 0)) >= fault.seconds]

    def _link(self, page: int) -> str:
        query = urlencode({**self.query, "page": page})
        return f"{self.world.base_url}/api/v3{self.path}?{query}"


Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True)
class Endpoint:
    """One line of the API: `{name}` in a path is one segment, `{name+}` is the rest."""

    method: str
    path: str
    run: Handler
    needs: Needs = Needs()  # noqa: RUF009 - frozen, so shared safely


def compiled(path: str) -> re.Pattern[str]:
    """A route's path as a pattern: `{name}` is one segment, `{name+}` any number of them."""
    pattern = re.sub(r"\\\{(\w+)\\\+\\\}", r"(?P<\1>.+)", re.escape(path))
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", pattern))


@dataclass(frozen=True)
class Request:
    """What is asked for: `path` is percent-encoded, without /api/v3."""

    method: str
    path: str
    body: Json = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""


class Api:
    """All endpoints over one world; `perform` is the one way in, for HTTP, for pages and for Python."""

    def __init__(self, world: World, endpoints: Sequence[Endpoint]) -> None:
        self.world = world
        self.endpoints = [(e, compiled(e.path)) for e in endpoints]

    async def perform(self, actor: Actor, request: Request) -> Answer:
        """Do one call as `actor`. Raises ApiError when refused."""
        method, path = request.method, self._by_name(request.path)
        endpoint, params = self._find(method, path)
        call = Call(self.world, actor, path, params, dict(request.query), request.body, request.accept)
        check_who(actor, endpoint.needs)
        if method == "GET":
            self._authorise(call, endpoint.needs)
            return await endpoint.run(call)
        async with self.world.lock:
            self._authorise(call, endpoint.needs)
            mark = len(self.world.outbox)
            done = False
            try:
                answer = await endpoint.run(call)
                done = True
            except ValidationError as wrong:  # a value of a type that no record takes
                field = ".".join(str(part) for part in wrong.errors()[0]["loc"])
                raise unprocessable(f"Invalid request.\n\nFor 'properties/{field}': wrong type.") from wrong
            finally:
                if not done:  # refused or broken: what it had queued did not happen
                    del self.world.outbox[mark:]
            self.world.commit()
            return answer

    async def act(self, login: str, method: str, path: str, body: Json | None = None) -> Json:
        """Do one call as a user, by login; returns the answer's object (empty when there is none)."""
        user = self.world.user(login)
        if user is None:
            raise ValueError(f"no user {login!r}; add them first")
        answer = await self.perform(Actor(user=user), Request(method, path, body or {}))
        return answer.body if isinstance(answer.body, dict) else {}

    def _by_name(self, path: str) -> str:
        """`/repositories/ID/...` as `/repos/OWNER/NAME/...`: every address of a repository also works by id."""
        found = re.fullmatch(r"/repositories/(\d{1,18})(/.*)?", path)
        repo = self.world.state.repos.get(int(found[1])) if found else None
        return f"/repos/{self.world.full_name(repo)}{found[2] or ''}" if found and repo else path

    def _find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
        for endpoint, pattern in self.endpoints:
            if endpoint.method == method and (found := pattern.fullmatch(path)):
                return endpoint, {k: unquote(v) for k, v in found.groupdict().items()}
        raise not_found()

    def _authorise(self, call: Call, needs: Needs) -> None:
        params = call.params
        if "owner" in params and "repo" in params:
            call.found_repo = self.world.repo(f"{params['owner']}/{params['repo']}")
        else:
            return
        check_repo(self.world, call.actor, call.repo, needs)


def _int(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default
