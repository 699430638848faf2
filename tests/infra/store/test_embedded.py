"""The embedded server: adopted, never two on one directory, clean, private, and it keeps what it acknowledged."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from infra.store import embedded
from infra.store.connection import Address


def client(address: Address) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(address.socket), password=address.password)


def run_id(address: Address) -> str:
    """A server's own name: another one after each start."""
    found = client(address).info("server")
    assert isinstance(found, dict)
    return str(found["run_id"])


def test_a_second_start_adopts_the_first_server(tmp_path: Path) -> None:
    first = embedded.start(tmp_path)
    second = embedded.start(tmp_path)
    try:
        assert first.owned
        assert not second.owned
        client(second.address).set("k", "v")
        assert client(first.address).get("k") == b"v"
    finally:
        second.stop()


def test_many_starts_at_once_make_one_server(tmp_path: Path) -> None:
    """Never two on one directory: each would write a log that the other does not know."""
    script = Path(__file__).with_name("starting_child.py")
    children = [
        subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    try:
        said = [child.stdout.readline().decode().split() for child in children if child.stdout is not None]
        assert sorted(owned for owned, _ in said) == ["adopted", "adopted", "adopted", "owned"]
        assert len({run_id for _, run_id in said}) == 1, "all of them talk to one server"
    finally:
        for child in children:
            child.kill()
            child.communicate()
        embedded.start(tmp_path).stop()


def test_it_outlives_its_process_and_is_adopted(tmp_path: Path) -> None:
    """`seconder up` was killed: its store still has everything, in memory too, and is taken over as it is."""
    script = Path(__file__).with_name("starting_child.py")
    child = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline().startswith(b"owned ")
    client(embedded.start(tmp_path).address).set("k", "v")
    before = run_id(embedded.start(tmp_path).address)
    child.kill()
    child.communicate()
    adopted = embedded.start(tmp_path)
    try:
        assert not adopted.owned
        assert run_id(adopted.address) == before
        assert client(adopted.address).get("k") == b"v"
    finally:
        adopted.stop()
    with pytest.raises((redis.ConnectionError, FileNotFoundError)):
        client(adopted.address).ping()
    assert "bye bye" in (tmp_path / "valkey.log").read_text(), "it was stopped, not killed"
    last = embedded.start(tmp_path)
    try:
        assert last.owned
        assert client(last.address).get("k") == b"v"
    finally:
        last.stop()


def test_a_server_that_was_killed_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    first = embedded.start(tmp_path)
    client(first.address).set("k", "v")
    os.kill(int(first.pid_file.read_text()), signal.SIGKILL)
    assert first.process is not None
    first.process.wait(5)
    second = embedded.start(tmp_path)
    try:
        assert second.owned
        assert client(second.address).get("k") == b"v"
    finally:
        second.stop()


def test_a_start_right_after_a_kill_waits_for_the_dead_to_be_cleared_away(tmp_path: Path) -> None:
    server = embedded.start(tmp_path)
    try:
        for number in range(5):
            client(server.address).set("k", number)
            os.kill(int(server.pid_file.read_text()), signal.SIGKILL)
            dead, server = server, embedded.start(tmp_path)
            assert server.owned
            assert client(server.address).get("k") == str(number).encode()
            assert dead.process is not None
            dead.process.wait(5)
    finally:
        server.stop()


def test_only_its_owner_can_reach_it(tmp_path: Path) -> None:
    server = embedded.start(tmp_path / "store")
    try:
        assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "store" / "password").stat().st_mode) == 0o600
        stranger = redis.Redis(unix_socket_path=str(server.address.socket))
        with pytest.raises(redis.exceptions.AuthenticationError):
            stranger.get("k")
        assert client(server.address).config_get("port") == {"port": "0"}
    finally:
        server.stop()


def test_a_long_path_still_gets_a_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    server = embedded.start(deep)
    try:
        assert len(str(server.address.socket)) < 108
        assert client(embedded.start(deep).address).ping()
    finally:
        server.stop()
    assert not Path(str(server.address.socket)).parent.exists(), "the socket's own directory goes with the server"


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_a_leashed_server_ends_with_the_process_that_was_killed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("leashed_child.py")
    child = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    pid = int((tmp_path / "valkey.pid").read_text())
    child.kill()
    child.wait()
    child.stdout.close()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
