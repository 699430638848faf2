"""A process that starts or adopts a server, says which it was, and waits to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

import redis

from infra.store import embedded

if __name__ == "__main__":
    server = embedded.start(Path(sys.argv[1]))
    client = redis.Redis(unix_socket_path=str(server.address.socket), password=server.address.password)
    info = client.info("server")
    assert isinstance(info, dict)
    print("owned" if server.owned else "adopted", info["run_id"], flush=True)
    sys.stdin.read()
