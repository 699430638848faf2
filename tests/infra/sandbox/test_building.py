"""Directories that a job of ours fills, and that code under test then only sees; the one way out while filling."""

from __future__ import annotations

import asyncio
from pathlib import Path

from infra.sandbox.bubblewrap import Sandbox


async def test_a_build_fills_a_directory_that_tests_then_cannot_change(
    sandbox: Sandbox, source: Path, tmp_path: Path
) -> None:
    given, into = tmp_path / "given", tmp_path / "into"
    for made in (given, into):
        made.mkdir(mode=0o755)
    (given / "a").write_text("of the host")
    script = (
        "mkdir -p {into}/bin && cp {given}/a {into}/b && echo 'echo own' > {into}/bin/tool && chmod 755 {into}/bin/tool"
    )
    built = await sandbox.build(("sh", "-c", f"{script}; echo x > {{given}}/a; ls /seconder"), into, given)
    assert "Read-only file system" in built.output.decode()
    assert built.exit_code == 0, built.output
    assert ((into / "b").read_text(), (given / "a").read_text()) == ("of the host", "of the host")
    words = ("sh", "-c", "tool; echo x > /seconder/environment/b; cat /seconder/environment/b; ls /seconder")
    result = await sandbox.run_tree(source, words, {}, {"python": into})
    said = result.output.decode()
    assert "own\n" in said
    assert "Read-only file system" in said
    assert "of the host" in said
    assert "given" not in said


async def test_a_build_has_one_way_out(sandbox: Sandbox, tmp_path: Path) -> None:
    """Through the socket it was given, which appears as a proxy on its loopback; nothing else answers."""
    given, into, way = tmp_path / "given", tmp_path / "into", tmp_path / "way"
    for made in (given, into, way):
        made.mkdir(mode=0o755)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nX-Asked: " + asked.split(b"\r\n")[0] + b"\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(answer, way / "p")
    (way / "p").chmod(0o666)
    script = (
        "import socket, urllib.request\n"
        "try: urllib.request.urlopen('https://evil.test/x', timeout=5)\n"
        "except OSError as error: print(error)\n"
        "try: socket.create_connection(('8.8.8.8', 53), 2)\n"
        "except OSError as error: print(error)\n"
        "raise SystemExit(7)\n"
    )
    async with server:
        result = await sandbox.build(("python", "-c", script), into, given, way / "p")
    said = result.output.decode()
    assert "403 No" in said
    assert "unreachable" in said
    assert result.exit_code == 7
