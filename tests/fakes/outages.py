"""Ways in which a store can be away, each on a real server of the test's own, and back."""

from __future__ import annotations

import gc
import os
import signal
import time
from pathlib import Path

import redis

from infra.store import embedded
from infra.store.connection import Address


class Server:
    """A Valkey server on a directory, to be taken away and brought back."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.running = embedded.start(directory)

    @property
    def address(self) -> Address:
        """Where it is, also while it is away."""
        return self.running.address

    def away(self, how: str) -> None:
        """Take it away: `stopped`, `killed` (-9), `frozen` (SIGSTOP), `read-only` (a replica of nobody), `full`."""
        if how == "stopped":
            self.running.stop()
        elif how == "killed":
            self._signal(signal.SIGKILL)
            assert self.running.process is not None
            self.running.process.wait(10)
        elif how == "frozen":
            self._signal(signal.SIGSTOP)
        elif how == "read-only":
            self._say("REPLICAOF", "127.0.0.1", "1")
        else:
            assert how == "full"
            self._say("CONFIG", "SET", "maxmemory", "1")

    def back(self, how: str) -> None:
        """Undo what `away` did."""
        if how in ("stopped", "killed"):
            self.running = embedded.start(self._directory)
        elif how == "frozen":
            self._signal(signal.SIGCONT)
        elif how == "read-only":
            self._say("REPLICAOF", "NO", "ONE")
        else:
            self._say("CONFIG", "SET", "maxmemory", "0")

    def close(self) -> None:
        """Stop it for good, in whatever state it is."""
        process = self.running.process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
            process.wait(10)
        # Broken connections are cleared away here, and not in the middle of whatever test comes next.
        gc.collect()

    def _signal(self, number: signal.Signals) -> None:
        os.kill(int(self.running.pid_file.read_text()), number)
        if number == signal.SIGSTOP:
            time.sleep(0.05)

    def _say(self, *words: str) -> None:
        client = redis.Redis(unix_socket_path=str(self.address.socket), password=self.address.password)
        try:
            client.execute_command(*words)  # type: ignore[no-untyped-call]
        finally:
            client.close()


HOW = ("stopped", "killed", "frozen", "read-only", "full")
