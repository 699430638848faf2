"""The client that all adapters share: tokens, pace, cool-downs, retries, pages and GraphQL around every call."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import httpx
from pydantic import ValidationError

from handlers.events import Actor, RepoRef
from handlers.ports import GitHubError, Later, Missing, Refused, Unknown
from infra.github.errors import error_of
from infra.github.limits import UNTOLD_S, Cooldowns, Pace, RateLimited
from infra.github.models import Account, Answer, App, Installation, parse, unreadable
from infra.github.options import Options
from infra.github.timing import SystemTime, Time
from infra.github.tokens import AppKey, Grant, Token, Tokens, date_of
from infra.github.transport import SharedTransport, pool
from infra.github.wire import Call, Reply, Wire, path

MAX_PAGES = 100
PER_PAGE = "100"
LAG_WAITS = (1.0, 2.0, 4.0)
APP = 0
"""Stands for the App itself where pace and cool-downs are kept by installation."""
FRESH_S = 10.0
"""How long a new token may still be unknown to some of GitHub's replicas."""

Permissions = Mapping[str, str]
M = TypeVar("M", bound=Answer)


class GitHubClient:
    """One per process. `transport` is for tests; `close` it when the process ends."""

    def __init__(
        self,
        key: AppKey,
        options: Options | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        time: Time | None = None,
    ) -> None:
        self.options = options or Options()
        self.app_id = key.app_id
        self._time = time or SystemTime()
        self._transport = SharedTransport(transport or pool(self.options), self._time)
        self._wire = Wire(self.options, self._transport, self._time)
        self._tokens = Tokens(self._wire, key, self._time)
        self._pace = Pace(self._time, self.options.gap)
        self._cooldowns = Cooldowns(self._time)
        self._bot: Actor | None = None

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def token(self, repo: RepoRef) -> str:
        """A token that may read this repository's contents and nothing else, for git over HTTPS.

        Good for at least 5 minutes. Raises `GitHubError`.
        """
        self._cooldowns.check(repo.installation)
        return (await self._tokens.get(_grant(repo, {"contents": "read", "metadata": "read"}))).text

    def forget(self, installation: int) -> None:
        """Forget an installation's tokens, when its permissions or repositories have changed."""
        self._tokens.forget(installation)

    async def send(
        self, repo: RepoRef, permissions: Permissions, call: Call, allow: Collection[int] = frozenset()
    ) -> Reply:
        """Send a call with a token of this repository and these permissions.

        Returns a success, or an answer with a status among `allow`. Raises `GitHubError`.
        """
        self._cooldowns.check(repo.installation)
        if call.writes:
            await self._pace.wait(repo.installation)
        try:
            reply = await self._authorised(_grant(repo, permissions), replace(call, repository=repo.id or None))
            if reply.status in allow and self._wire.limited_for(reply) is None:
                return reply
            if error := error_of(self._wire, call, reply):
                raise error
        except RateLimited as limit:
            self._cooldowns.start(repo.installation, limit.seconds)
            raise
        return reply

    async def as_app(self, call: Call) -> Reply:
        """Send a call as the App itself, writes at their pace. Raises `GitHubError` for any answer but success."""
        self._cooldowns.check(APP)
        if call.writes:
            await self._pace.wait(APP)
        try:
            return await self._tokens.as_app(call)
        except RateLimited as limit:
            self._cooldowns.start(APP, limit.seconds)
            raise

    def ahead(self, reply: Reply) -> float | None:
        """Seconds that GitHub's clock was ahead of this machine's when it answered; None when it did not say."""
        theirs = date_of(reply.headers)
        return None if theirs is None else theirs - self._time.now()

    async def read(self, repo: RepoRef, permissions: Permissions, call: Call, model: type[M]) -> M:
        """Send a call and read its answer. Raises `GitHubError`."""
        return parse(call, await self.send(repo, permissions, call), model)

    async def pages(
        self, repo: RepoRef, permissions: Permissions, call: Call, model: type[M], key: str | None = None
    ) -> list[M]:
        """All items of a list (of the field `key`, if the list is wrapped), following GitHub's own links.

        Raises `GitHubError`, also when the pages do not end: half a list is worse than none.
        """
        call = Call(call.method, call.path, {"per_page": PER_PAGE, **(call.params or {})})
        found: list[M] = []
        seen: set[str] = set()
        page = call
        for _ in range(MAX_PAGES):
            reply = await self.send(repo, permissions, page)
            found.extend(_items(call, reply, model, key))
            if reply.next is None:
                return found
            if reply.next in seen:
                raise Refused(f"GitHub: {call}: the pages go round in a circle")
            seen.add(reply.next)
            page = Call("GET", reply.next)
        raise Refused(f"GitHub: {call}: more than {MAX_PAGES} pages of {PER_PAGE}; too many to read")

    async def graphql(
        self, repo: RepoRef, permissions: Permissions, query: str, variables: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Run a GraphQL query or mutation; returns its `data`. Raises `GitHubError` for any entry in `errors`."""
        call = Call(
            "POST",
            self.options.graphql_url,
            json={"query": query, "variables": dict(variables)},
            harmless=query.lstrip().startswith("query"),
        )
        reply = await self.send(repo, permissions, call)
        try:
            body = json.loads(reply.content)
        except ValueError as error:
            raise unreadable(call, error) from error
        if errors := body.get("errors"):
            raise self._graphql_error(repo, call, errors)
        return body.get("data") or {}

    async def bot(self) -> Actor:
        """The App's own bot user, asked once per process. Raises `GitHubError`.

        A user can be looked up by an installation only, so any installation that is not suspended will do.
        """
        if self._bot is None:
            call = Call("GET", path("app"))
            slug = parse(call, await self._tokens.as_app(call), App).slug
            call = Call("GET", path("app", "installations"), {"per_page": PER_PAGE})
            installed = _items(call, await self._tokens.as_app(call), Installation, None)
            live = next((made.id for made in installed if made.suspended_at is None), None)
            if live is None:
                raise Missing(f"GitHub: the App {slug} is not installed anywhere: install it on a repository first")
            call = Call("GET", path("users", f"{slug}[bot]"))
            reply = await self._authorised(Grant(live, None, (("metadata", "read"),)), call)
            if error := error_of(self._wire, call, reply):
                raise error
            self._bot = parse(call, reply, Account).actor()
        return self._bot

    async def _authorised(self, grant: Grant, call: Call) -> Reply:
        """Send with a token; once with another one if it is not accepted, and patiently while it is new.

        A 401, and a 403 for a permission, did nothing, so that repeating a write is safe.
        """
        waits = iter(LAG_WAITS)
        minted_again = False
        while True:
            token = await self._tokens.get(grant)
            reply = await self._wire.steady(token.kit, call)
            if not self._unready(reply):
                return reply
            fresh = self._time.monotonic() - token.minted < FRESH_S
            wait = next(waits, None) if fresh else None
            if wait is not None:
                await self._time.sleep(wait)
            elif reply.status == 401 and not fresh and not minted_again:
                self._tokens.evict(grant, token)
                minted_again = True
            else:
                return self._given_up(grant, token, reply)

    def _unready(self, reply: Reply) -> bool:
        if reply.status == 403 and self._wire.limited_for(reply) is None:
            return "not accessible by integration" in reply.text.casefold()
        return reply.status == 401

    def _given_up(self, grant: Grant, token: Token, reply: Reply) -> Reply:
        """The next call gets a new token: permissions may have been granted meanwhile."""
        self._tokens.evict(grant, token)
        return reply

    def _graphql_error(self, repo: RepoRef, call: Call, errors: Sequence[Mapping[str, object]]) -> GitHubError:
        kinds = {str(error.get("type") or "") for error in errors}
        said = f"GitHub: GraphQL: {'; '.join(str(error.get('message')) for error in errors)}"[:500]
        if "RATE_LIMITED" in kinds:
            self._cooldowns.start(repo.installation, UNTOLD_S)
            return Later(said, UNTOLD_S)
        if kinds == {"NOT_FOUND"}:
            return Missing(said)
        # A refused query names a type or carries `extensions`; an internal failure has neither.
        if any(not error.get("type") and not error.get("extensions") for error in errors):
            return Unknown(f"{said}; it may have happened") if call.writes else Later(said, UNTOLD_S)
        return Refused(said)


def everywhere(installation: int) -> RepoRef:
    """Stands for all repositories of an installation."""
    return RepoRef(id=0, full_name="", installation=installation)


def _grant(repo: RepoRef, permissions: Permissions) -> Grant:
    return Grant(repo.installation, repo.id or None, tuple(sorted(permissions.items())))


def _items(call: Call, reply: Reply, model: type[M], key: str | None) -> list[M]:
    try:
        body = json.loads(reply.content)
        listed = body[key] if key is not None else body
        if not isinstance(listed, list):
            raise ValueError("no list")
        return [model.model_validate(item) for item in listed]
    except (KeyError, TypeError) as error:
        raise unreadable(call, ValueError(f"no field {key}")) from error
    except (ValidationError, ValueError) as error:
        raise unreadable(call, error) from error
