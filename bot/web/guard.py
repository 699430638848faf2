"""Who may see a page, and the headers that every answer carries, as plain ASGI middleware that streams through.

Sources: OWASP Secure Headers Project; OWASP on DNS rebinding (check the Host header).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Admit = Callable[[Request], Awaitable[bool]]

OPEN = frozenset({"/webhook", "/healthz", "/readyz"})
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[str, str], ...] = (
    ("content-security-policy", POLICY),
    ("strict-transport-security", "max-age=31536000"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("cache-control", "no-store"),
)
REFUSAL = (
    "Seconder shows its pages on its own machine only, because there is no login here yet.\n"
    "Open http://127.0.0.1 there, or forward the port: ssh -L 8080:127.0.0.1:8080 HOST\n"
)


class SecurityHeaders:
    """Adds the headers above to every answer of `app`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS:
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class Guard:
    """Lets everybody reach what is `OPEN`, and only admitted requests the rest; others get a 403 that says why.

    `admit` decides; None admits whoever sits at this machine.
    """

    def __init__(self, app: ASGIApp, admit: Admit | None = None) -> None:
        self._app, self._admit = app, admit or at_this_machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN and not await self._admit(Request(scope)):
            await PlainTextResponse(REFUSAL, status_code=403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def at_this_machine(request: Request) -> bool:
    """Whether a request comes from this machine itself.

    A tunnel or proxy also connects from here, so anything forwarded is from elsewhere; and a page elsewhere may have
    its name resolve to this machine, so the name that the browser asked for must be local, too.
    """
    if any(name in request.headers for name in FORWARDED):
        return False
    return _loopback(request.client.host if request.client else "") and _loopback(_host_name(request))


def _host_name(request: Request) -> str:
    """The Host header without its port."""
    host = request.headers.get("host", "")
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
