"""Pages."""

from starlette.types import Receive, Scope, Send

from infra.local_github.api import Api
from infra.local_github.world import World


class Pages:
    def __init__(self, world: World, api: Api) -> None:
        self.world, self.api = world, api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})
