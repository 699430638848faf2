"""One request to GitHub and what came of it, without judging it: the only module that speaks githubkit."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx
import structlog
from githubkit import GitHub, TokenAuthStrategy
from githubkit.auth.base import BaseAuthStrategy
from githubkit.exception import RequestError, RequestFailed
from githubkit.throttling import LocalThrottler

from handlers.ports import Later, Missing, Refused, Unknown
from infra.github.limits import limited_for, retry_after
from infra.github.options import Options
from infra.github.timing import Time
from infra.github.transport import SharedTransport

log = structlog.get_logger(__name__)

MAX_REDIRECTS = 3
QUICK_RETRIES = (0.5, 1.5)
OVERLOADED_S = 15.0
TEXT_SHOWN = 500

Kit = GitHub[BaseAuthStrategy]


def path(*segments: str | int) -> str:
    """A request path of encoded segments: `path("repos", "o/r", "issues", 1)`. A slash inside a segment stays.

    Raises `Refused` for empty, `.` and `..` segments: HTTP clients fold them, and the path would lead elsewhere.
    """
    joined = "/".join(str(segment) for segment in segments)
    if not {"", ".", ".."}.isdisjoint(joined.split("/")):
        raise Refused(f"GitHub: {joined!r} is no path: it has an empty or dotted segment")
    return "/" + quote(joined, safe="/")


@dataclass(frozen=True)
class Call:
    """A request: method, path below the REST root (or an absolute address of the same host), query, JSON body.

    `harmless` marks a POST that changes nothing that matters when it happens twice (a token, a GraphQL query).
    `repository` is the id of the repository that is meant: a redirect to another one is not followed.
    """

    method: str
    path: str
    params: Mapping[str, str] | None = None
    json: object = None
    harmless: bool = False
    repository: int | None = None
    accept: str = "application/vnd.github+json"

    @property
    def writes(self) -> bool:
        return self.method != "GET" and not self.harmless

    def __str__(self) -> str:
        return f"{self.method} {urlsplit(self.path).path}"


@dataclass(frozen=True)
class Reply:
    """An answer of any status; `next` is the next page's address."""

    status: int
    headers: httpx.Headers
    content: bytes
    next: str | None

    @property
    def text(self) -> str:
        """What GitHub said: the message and its field errors, cut to `TEXT_SHOWN` characters."""
        try:
            body = json.loads(self.content)
        except ValueError:
            return self.content[:TEXT_SHOWN].decode("utf-8", "replace").strip()
        if not isinstance(body, dict):
            return ""
        errors = body.get("errors")
        parts = [str(body.get("message") or ""), *map(_detail, errors if isinstance(errors, list) else [errors])]
        return ": ".join(part for part in parts if part)[:TEXT_SHOWN]


def _detail(error: object) -> str:
    if isinstance(error, dict):
        named = " ".join(str(error[key]) for key in ("resource", "field", "code") if error.get(key))
        return str(error.get("message") or named)
    return str(error or "")


class Broken(Exception):
    """No answer. `sent` is False when the request certainly never left this machine."""

    def __init__(self, reason: str, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class BearerStrategy(BaseAuthStrategy):
    """`Authorization: Bearer`, which GitHub wants for an App's JWT."""

    def __init__(self, jwt: str) -> None:
        self._jwt = jwt

    def get_auth_flow(self, github: object) -> httpx.Auth:
        return _Bearer(self._jwt)


class _Bearer(httpx.Auth):
    def __init__(self, jwt: str) -> None:
        self._header = f"Bearer {jwt}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = self._header
        yield request


class Wire:
    """Sends calls. Follows redirects of the same host only, so that a token never goes anywhere else."""

    def __init__(self, options: Options, transport: SharedTransport, time: Time) -> None:
        self.options = options
        self._transport = transport
        self._time = time
        self._throttler = LocalThrottler(options.concurrency)

    def kit(self, auth: BaseAuthStrategy) -> Kit:
        """A githubkit client with this authentication, on the shared pool."""
        options = self.options
        return GitHub(
            auth,
            base_url=options.root,
            user_agent=options.user_agent,
            follow_redirects=False,
            timeout=httpx.Timeout(options.timeout_s, connect=options.connect_timeout_s),
            async_transport=self._transport,
            http_cache=False,
            throttler=self._throttler,
            auto_retry=False,
        )

    def with_token(self, token: str) -> Kit:
        return self.kit(TokenAuthStrategy(token))

    def with_jwt(self, jwt: str) -> Kit:
        return self.kit(BearerStrategy(jwt))

    async def steady(self, kit: Kit, call: Call) -> Reply:
        """Send, and send again (twice at most) what did nothing: reads that failed, and requests that never left.

        Returns an answer below 500. Raises `Later` for a read, `Unknown` for a write that got no clear answer.
        """
        for wait in (*QUICK_RETRIES, None):
            try:
                reply = await self.send(kit, call)
            except Broken as broken:
                if call.writes and broken.sent:
                    raise Unknown(f"GitHub: {call}: no answer ({broken}); it may have happened") from broken
                if wait is None:
                    raise Later(f"GitHub: {call}: no answer ({broken})", OVERLOADED_S) from broken
            else:
                if reply.status < 500:
                    return reply
                if call.writes:
                    raise Unknown(f"GitHub: {call}: {reply.status} {reply.text}; it may have happened")
                if wait is None:
                    asked = reply.headers.get("retry-after")
                    seconds = retry_after(asked, self._time.now()) if asked else OVERLOADED_S
                    raise Later(f"GitHub: {call}: {reply.status} {reply.text}", seconds)
            await self._time.sleep(wait)
        raise AssertionError("the last round returns or raises")

    async def send(self, kit: Kit, call: Call) -> Reply:
        """Send once, following redirects. Raises `Broken` without an answer, `Refused` for a redirect elsewhere."""
        target = call.path
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._exchange(kit, call, self._address(call, target))
            if response.status_code not in (301, 302, 307, 308):
                return self._reply(response)
            target = str(response.url.join(response.headers.get("location", "")))
            log.info("github_redirect", call=str(call), to=urlsplit(target).path)
        raise Refused(f"GitHub: {call}: more than {MAX_REDIRECTS} redirects")

    def _address(self, call: Call, target: str) -> str:
        """The absolute address of a path. Raises `Refused` for another host, `Missing` for another repository.

        A name can come to belong to another repository; GitHub's redirects and page links name the numeric id.
        """
        if target.startswith("/"):
            return self.options.root + target
        root, parts = urlsplit(self.options.root), urlsplit(target)
        if (parts.scheme, parts.hostname, parts.port) != (root.scheme, root.hostname, root.port):
            raise Refused(f"GitHub: {call}: the answer points to another host ({parts.hostname}); not followed")
        _, mark, rest = parts.path.partition("/repositories/")
        if mark and call.repository is not None and rest.split("/")[0] != str(call.repository):
            raise Missing(
                f"GitHub: {call}: the name leads to another repository than the one with id {call.repository}"
            )
        return target

    async def _exchange(self, kit: Kit, call: Call, address: str) -> httpx.Response:
        # A redirect's or a page's address brings its own query, which `params` would replace.
        params = None if urlsplit(address).query else call.params
        headers = {"X-GitHub-Api-Version": self.options.version, "Accept": call.accept}
        try:
            answer = await kit.arequest(call.method, address, params=params, json=call.json, headers=headers)
        except RequestFailed as failed:
            return failed.response.raw_response
        except RequestError as error:
            raise _broken(error.exc) from error
        return answer.raw_response

    def _reply(self, response: httpx.Response) -> Reply:
        following = response.links.get("next", {}).get("url")
        return Reply(response.status_code, response.headers, response.content, following)

    def limited_for(self, reply: Reply) -> float | None:
        """Seconds to wait if the answer is a rate limit, else None."""
        return limited_for(reply.status, reply.headers, reply.text, self._time.now())


def _broken(cause: BaseException) -> BaseException:
    """What githubkit wrapped: a transport's failure is `Broken`, anything else is shown as it is."""
    if isinstance(cause, httpx.TransportError | httpx.DecodingError):
        sent = not isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        return Broken(f"{type(cause).__name__}: {cause}".rstrip(": "), sent)
    return cause
