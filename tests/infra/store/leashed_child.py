"""A process that starts a leashed server and then waits to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from infra.store import embedded

if __name__ == "__main__":
    embedded.start(Path(sys.argv[1]), leashed=True)
    print("up", flush=True)
    time.sleep(60)
