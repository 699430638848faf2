"""The inner end of the way out: listens on the sandbox's own loopback and passes every connection on to a unix socket.

It is handed to `python -c` inside, starts the job's command as its child, and ends with it. Whoever is at the other end
of the socket decides where a connection may lead; the sandbox itself has no network.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

_PORT = 3128


def command(inner_socket: str) -> tuple[str, ...]:
    """The words that go before a job's command, so that it finds a proxy on its loopback."""
    return ("python", "-I", "-S", "-c", Path(__file__).read_text(encoding="utf-8"), inner_socket)


def main() -> NoReturn:
    """Forward, run the command, and end with its exit code."""
    path, words = sys.argv[1], sys.argv[2:]
    listener = socket.create_server(("127.0.0.1", _PORT), backlog=64)
    threading.Thread(target=_accept, args=(listener, path), daemon=True).start()
    names = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")
    variables = {**os.environ, **dict.fromkeys(names, f"http://127.0.0.1:{_PORT}")}
    code = subprocess.run(words, env=variables, check=False).returncode
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        inner, _ = listener.accept()
        outer = socket.socket(socket.AF_UNIX)
        try:
            outer.connect(path)
        except OSError as error:
            print(f"the way out is closed: {error}", file=sys.stderr, flush=True)
            inner.close()
            continue
        for ends in ((inner, outer), (outer, inner)):
            threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()


if __name__ == "__main__":
    main()
