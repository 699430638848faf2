"""The store has no stand-in: the embedded server starts in 50 ms. Each `RealStore` lives on a prefix of its own."""

from __future__ import annotations

import secrets

from infra.store import embedded
from infra.store.blobs import RedisBlobs
from infra.store.bus import RedisBus
from infra.store.checkpoints import RedisCheckpoints
from infra.store.chores import RedisChores
from infra.store.configs import RedisConfigs
from infra.store.connection import Scripts, connect
from infra.store.open_runs import RedisOpenRuns
from infra.store.renewer import Renewer
from infra.store.runs import RedisRunLog
from infra.store.tasks import RedisEffects, RedisTasks, RedisTurns
from infra.store.trail import RedisTrail


class RealStore:
    """Everything of the store on one prefix of its own."""

    def __init__(self, server: embedded.EmbeddedServer, lease_s: float, prefix: str = "") -> None:
        prefix = prefix or "{t" + secrets.token_hex(4) + "}:"
        self.client = connect(server.address)
        self.scripts = Scripts(self.client, prefix)
        self.blobs = RedisBlobs(self.scripts)
        self.bus = RedisBus(self.scripts)
        self.renewer = Renewer(server.address, lease_s, prefix)
        self.runs = RedisRunLog(self.scripts, self.blobs)
        self.tasks = RedisTasks(self.scripts, self.blobs, self.renewer)
        self.turns = RedisTurns(self.scripts, self.blobs)
        self.effects = RedisEffects(self.scripts)
        self.open_runs = RedisOpenRuns(self.scripts)
        self.configs = RedisConfigs(self.scripts)
        self.chores = RedisChores(self.scripts)
        self.checkpoints = RedisCheckpoints(self.scripts)
        self.trail = RedisTrail(self.scripts, self.blobs)

    async def close(self) -> None:
        self.renewer.close()
        await self.client.aclose()
