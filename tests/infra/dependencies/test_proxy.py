"""The proxy lets nothing through but CONNECT to what is on its list, and lists what it refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from infra.dependencies.proxy import Caps, Proxy, Way, is_name, may_reach, serving

QUICK = Caps(down_bytes=100_000, up_bytes=10_000, head_s=0.3, idle_s=5.0)


@contextlib.asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """A server on loopback that sends back what it gets; its port."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


async def said(proxy: Proxy, request: bytes) -> bytes:
    """The first bytes that the proxy answers; empty when it only hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        writer.write(request)
        return await reader.read(200)
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("request_line", "status", "blocked"),
    [
        pytest.param("CONNECT localhost:{port} HTTP/1.1", b"200", [], id="on the list"),
        pytest.param("CONNECT LOCALHOST.:{port} HTTP/1.1", b"200", [], id="another spelling"),
        pytest.param("CONNECT localhost:1 HTTP/1.1", b"403", ["localhost:1"], id="another port"),
        pytest.param("CONNECT evil.test:443 HTTP/1.1", b"403", ["evil.test"], id="another host"),
        pytest.param("CONNECT 127.0.0.1:{port} HTTP/1.1", b"403", ["127.0.0.1:{port}"], id="address"),
        pytest.param("CONNECT 169.254.169.254:80 HTTP/1.1", b"403", ["169.254.169.254:80"], id="metadata"),
        pytest.param("CONNECT [::1]:{port} HTTP/1.1", b"405", ["[::1]:{port}"], id="address, version 6"),
        pytest.param("CONNECT localhost.evil.test:{port} HTTP/1.1", b"403", None, id="longer name"),
        pytest.param("CONNECT u:p@localhost:{port} HTTP/1.1", b"405", ["localhost:{port}"], id="with credentials"),
        pytest.param("CONNECT localhost:{port}x HTTP/1.1", b"405", None, id="odd port"),
        pytest.param("GET http://localhost:{port}/secret?q HTTP/1.1", b"405", ["localhost:{port}"], id="GET"),
        pytest.param("POST / HTTP/1.1", b"405", None, id="POST"),
        pytest.param("\x00\xff", b"405", ["something unreadable"], id="binary"),
    ],
)
async def test_requests(request_line: str, status: bytes, blocked: list[str] | None) -> None:
    async with echoing() as port, serving([Way("localhost", port, inside=True)]) as proxy:
        line = request_line.format(port=port)
        answer = await said(proxy, f"{line}\r\nHost: x\r\n\r\n".encode("latin-1"))
        assert answer.split(b" ", 2)[1] == status
        if blocked is not None:
            assert list(proxy.blocked) == [one.format(port=port) for one in blocked]


async def test_bytes_pass_both_ways_until_the_limit() -> None:
    async with echoing() as port, serving([Way("localhost", port, inside=True)], caps=QUICK) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"ping")
        assert await reader.readexactly(4) == b"ping"
        writer.write(b"x" * 20_000)
        assert len(await reader.read()) < 20_000
        writer.close()
        assert (proxy.is_spent, list(proxy.blocked)) == (True, [])
        assert b" 403 " in await said(proxy, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"CONNECT local", id="half a line, then silence"),
        pytest.param(b"CONNECT a:1 HTTP/1.1\r\n" + b"x" * 20_000, id="endless head"),
    ],
)
async def test_slow_and_endless_heads_are_cut_off(request_bytes: bytes) -> None:
    async with serving([], caps=QUICK) as proxy:
        assert await asyncio.wait_for(said(proxy, request_bytes), 5) == b""


async def test_a_name_on_the_list_may_not_lead_inside_unless_the_operator_named_it() -> None:
    async with echoing() as port, serving([Way("localhost", port)]) as proxy:
        assert b" 403 " in await said(proxy, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())


async def test_a_listed_name_that_leads_nowhere_is_an_outage_and_not_refused() -> None:
    async with serving([Way("nowhere.invalid")]) as proxy:
        assert b" 502 " in await said(proxy, b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n")
        assert list(proxy.blocked) == []


async def test_the_sandbox_comes_by_a_socket(tmp_path: Path) -> None:
    async with echoing() as port, serving([Way("localhost", port, inside=True)], tmp_path / "p") as proxy:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "p")
        writer.write(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
        assert b" 403 " in await reader.read(200)
        assert list(proxy.blocked) == ["evil.test"]
        writer.close()


async def test_what_is_refused_is_listed_once_and_not_without_end() -> None:
    async with serving([]) as proxy:
        for number in range(120):
            await said(proxy, f"CONNECT h{number // 2}.test:443 HTTP/1.1\r\n\r\n".encode())
        assert len(proxy.blocked) == 50


@pytest.mark.parametrize(
    ("address", "outside", "inside"),
    [
        pytest.param("8.8.8.8", True, True, id="public"),
        pytest.param("2606:4700::1", True, True, id="public, version 6"),
        pytest.param("127.0.0.1", False, True, id="loopback"),
        pytest.param("::1", False, True, id="loopback, version 6"),
        pytest.param("10.1.2.3", False, True, id="private"),
        pytest.param("192.168.1.1", False, True, id="private, small"),
        pytest.param("100.64.0.1", False, True, id="carrier"),
        pytest.param("fd00::1", False, True, id="unique local"),
        pytest.param("169.254.169.254", False, False, id="metadata"),
        pytest.param("fe80::1", False, False, id="link"),
        pytest.param("0.0.0.0", False, False, id="unspecified"),
        pytest.param("224.0.0.1", False, False, id="multicast"),
        pytest.param("255.255.255.255", False, False, id="broadcast"),
        pytest.param("::ffff:127.0.0.1", False, False, id="mapped"),
        pytest.param("64:ff9b::7f00:1", False, False, id="translated"),
        pytest.param("2002:7f00:1::", False, False, id="6to4"),
        pytest.param("::127.0.0.1", False, False, id="compatible"),
    ],
)
def test_addresses(address: str, outside: bool, inside: bool) -> None:
    assert (may_reach(ip_address(address), False), may_reach(ip_address(address), True)) == (outside, inside)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        pytest.param("index.test", True, id="name"),
        pytest.param("xn--bcher-kva.test", True, id="international"),
        pytest.param("127.0.0.1", False, id="address"),
        pytest.param("2130706433", False, id="one number"),
        pytest.param("0x7f.1", False, id="short"),
        pytest.param("0x7f000001", False, id="hexadecimal"),
        pytest.param("", False, id="empty"),
        pytest.param("-a.test", False, id="hyphen first"),
    ],
)
def test_names(host: str, expected: bool) -> None:
    assert is_name(host) is expected
