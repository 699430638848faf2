"""A web process on the fakes, for tests that measure a real one: `python -m tests.bot.web_process PORT`."""

from __future__ import annotations

import sys

import uvicorn
from fastapi import FastAPI

from bot.app import WebDeps, create_app
from bot.web.metrics import Counters
from bot.webhook import Webhook
from handlers.github import AppIdentity
from tests.fakes.bus import FakeBus
from tests.fakes.runs import WatchedRuns

SECRET = "a test secret of our own"


def make() -> FastAPI:
    """The application with a run that never ends."""
    counters, runs = Counters(), WatchedRuns()

    async def ready() -> bool:
        return True

    hook = Webhook(FakeBus(), AppIdentity(77, None, "seconder"), (SECRET,), count=counters.delivery)
    return create_app(WebDeps(webhook=hook, ready=ready, runs=runs, events=runs, counters=counters, heartbeat_s=0.1))


if __name__ == "__main__":
    uvicorn.run(make(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
