"""The only way out while packages are fetched: an allow-list proxy that speaks CONNECT and nothing else.

It listens for a client on this machine (loopback) and for one in the sandbox (a unix socket that is shown to it). Where
a name leads is looked up here, once, and connected to by address, so that an answer that changes cannot lead a
connection astray. Sources: RFC 9110, section 9.3.6 (CONNECT); IANA's special-purpose address registries (RFC 6890).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from socket import SOCK_STREAM

MAX_BLOCKED = 50
_HEAD_BYTES = 8 << 10
_CHUNK = 64 << 10
_REQUEST = re.compile(r"CONNECT ([A-Za-z0-9._-]{1,253}):(\d{1,5}) HTTP/1\.[01]\Z")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\Z")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)\Z")
# Never, whoever names the host: this machine's neighbours by link, metadata services, and what is no host at all.
_NEVER = tuple(map(ip_network, ("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "fe80::/10", "ff00::/8")))
_INSIDE = tuple(
    map(ip_network, ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "192.0.0.0/24"))
)
_INSIDE_6 = tuple(map(ip_network, ("::1/128", "::/128", "fc00::/7", "fec0::/10")))
# Ways of writing an IPv4 address in IPv6: through these, every rule above could be passed by.
_WRAPPED = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96")))


@dataclass(frozen=True)
class Way:
    """A host and port that may be reached. `inside`: the operator named it, so it may be on a private network."""

    host: str
    port: int = 443
    inside: bool = False


@dataclass(frozen=True)
class Caps:
    """Bounds: bytes down and up through all connections together, seconds for a head, of silence, and in all."""

    down_bytes: int = 4 << 30
    up_bytes: int = 64 << 20
    head_s: float = 10.0
    idle_s: float = 60.0
    total_s: float = 1_800.0
    connections: int = 64


@dataclass
class Proxy:
    """A running proxy. `port` is its loopback port, `blocked` what was asked for and refused, as `host:port`."""

    ways: frozenset[Way]
    caps: Caps
    port: int = 0
    blocked: dict[str, None] = field(default_factory=dict)
    down: int = 0
    up: int = 0
    open: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether more bytes have passed than may."""
        return self.up > self.caps.up_bytes or self.down > self.caps.down_bytes

    @property
    def url(self) -> str:
        """What a client on this machine is told."""
        return f"http://127.0.0.1:{self.port}"

    def refuse(self, what: str) -> None:
        """Note what was refused, for people."""
        shown = "".join(character for character in what if character.isprintable())[:100]
        if len(self.blocked) < MAX_BLOCKED:
            self.blocked[shown] = None


@contextlib.asynccontextmanager
async def serving(ways: Iterable[Way], socket: Path | None = None, caps: Caps | None = None) -> AsyncIterator[Proxy]:
    """A proxy on a free loopback port, and on `socket` if one is named; everything is cut off at the end."""
    proxy = Proxy(frozenset(ways), caps if caps is not None else Caps())
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_serve(proxy, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    servers = [await asyncio.start_server(accept, "127.0.0.1", 0, limit=_HEAD_BYTES)]
    try:
        proxy.port = servers[0].sockets[0].getsockname()[1]
        if socket is not None:
            servers.append(await asyncio.start_unix_server(accept, socket, limit=_HEAD_BYTES))
            # The sandbox's user is another one; the directory above decides who comes this far.
            os.chmod(socket, 0o666)
        yield proxy
    finally:
        for server in servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    proxy.open += 1
    try:
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(proxy.caps.total_s):
                if proxy.open > proxy.caps.connections:
                    await _answer(writer, "503 Too Many Connections")
                else:
                    await _connect(proxy, reader, writer)
    finally:
        proxy.open -= 1
        writer.close()


async def _connect(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async with asyncio.timeout(proxy.caps.head_s):
        head = await reader.readuntil(b"\r\n\r\n")
    line = head.split(b"\r\n", 1)[0].decode("latin-1")
    match = _REQUEST.match(line)
    if match is None:
        proxy.refuse(_named(line))
        await _answer(writer, "405 Only CONNECT")
        return
    if proxy.is_spent:
        await _answer(writer, "403 Too Many Bytes")
        return
    host, port = match[1].lower().rstrip("."), int(match[2])
    way = next((one for one in proxy.ways if (one.host, one.port) == (host, port)), None)
    try:
        address = await _resolved(way) if way is not None and is_name(host) else None
    except (OSError, UnicodeError):
        await _answer(writer, "502 No Such Host")
        return
    if address is None:
        proxy.refuse(f"{host}:{port}" if port != 443 else host)
        await _answer(writer, "403 Not Allowed")
        return
    try:
        async with asyncio.timeout(proxy.caps.idle_s):
            there_reader, there_writer = await asyncio.open_connection(address, port)
    except OSError:
        await _answer(writer, "502 No Connection")
        return
    try:
        await _answer(writer, "200 Connection Established", has_body=False)
        await _pass_on(proxy, (reader, there_writer), (there_reader, writer))
    finally:
        there_writer.close()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _pass_on(proxy: Proxy, upward: Ends, downward: Ends) -> None:
    """Both directions until one has ended; what is under way in the other direction is then of no use to TLS."""
    tasks = {asyncio.ensure_future(_pump(proxy, ends, is_up)) for ends, is_up in ((upward, True), (downward, False))}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(proxy: Proxy, ends: Ends, is_up: bool) -> None:
    reader, writer = ends
    while True:
        async with asyncio.timeout(proxy.caps.idle_s):
            data = await reader.read(_CHUNK)
        if not data:
            return
        if is_up:
            proxy.up += len(data)
        else:
            proxy.down += len(data)
        if proxy.is_spent:
            return
        writer.write(data)
        await writer.drain()


async def _answer(writer: asyncio.StreamWriter, status: str, has_body: bool = True) -> None:
    end = "Content-Length: 0\r\nConnection: close\r\n\r\n" if has_body else "\r\n"
    writer.write(f"HTTP/1.1 {status}\r\n{end}".encode("ascii"))
    await writer.drain()


async def _resolved(way: Way) -> str | None:
    """The address to connect to, or None when the name leads where it may not. Raises `OSError` without any."""
    found = await asyncio.get_running_loop().getaddrinfo(way.host, way.port, type=SOCK_STREAM)
    addresses = [ip_address(str(place[0])) for *_, place in found]
    # One bad address among good ones is no accident.
    if not addresses or not all(may_reach(address, way.inside) for address in addresses):
        return None
    return str(addresses[0])


def is_name(host: str) -> bool:
    """Whether this is a host's name, and no address in any notation that a resolver would read as one."""
    return bool(_HOST.match(host)) and not _NUMERIC.match(host.rpartition(".")[2])


def may_reach(address: IPv4Address | IPv6Address, inside: bool) -> bool:
    """Whether an address may be connected to; `inside`: also on private networks and this machine."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return False
        if any(address in network for network in _WRAPPED) and not (inside and address.is_loopback):
            return False
    if any(address in network for network in _NEVER if network.version == address.version):
        return False
    return inside or not any(address in one for one in (*_INSIDE, *_INSIDE_6) if one.version == address.version)


def _named(line: str) -> str:
    """What a request that is no CONNECT was for, without what else it holds."""
    match = re.match(r"[A-Z]{1,10} (?:https?://)?(?:[^/@\s]*@)?([^/\s?#]{1,253})", line)
    return match[1] if match else "something unreadable"
