"""Deliveries and installations: the same on the fakes and on the real adapters with the local GitHub."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.serving import serve
from handlers.events import RepoRef
from handlers.ports import Deliveries, Installations, Missing, Refused
from infra.github.connect import GitHubAdapters, connect
from infra.github.options import Options
from infra.github.tokens import AppKey
from infra.local_github import AppSpec, LocalGitHub
from infra.local_github.records import Installation
from tests.contracts.github.stage import HastyTime
from tests.fakes.deliveries import FakeDeliveries
from tests.fakes.github import FakeGitHub
from tests.fakes.installations import move, suspend


class Scene(Protocol):
    """A GitHub with the App installed on `repo`, and a webhook that works, or does not."""

    repo: RepoRef
    working: bool

    @property
    def deliveries(self) -> Deliveries: ...

    @property
    def installations(self) -> Installations: ...

    async def happen(self) -> None:
        """Something of which the App is told."""
        ...

    async def arrive(self) -> None:
        """Wait for what was asked for again."""
        ...

    async def rename(self, name: str) -> None: ...

    async def suspend(self) -> None: ...


@dataclass
class FakeScene:
    deliveries: FakeDeliveries
    world: FakeGitHub
    repo: RepoRef

    @property
    def working(self) -> bool:
        return self.deliveries.working

    @working.setter
    def working(self, works: bool) -> None:
        self.deliveries.working = works

    @property
    def installations(self) -> Installations:
        return self.world.installations

    async def happen(self) -> None:
        self.deliveries.now_ms += 1000
        self.deliveries.deliver(f"g{self.deliveries.now_ms}")

    async def arrive(self) -> None:
        self.deliveries.arrive()

    async def rename(self, name: str) -> None:
        move(self.world, self.repo, name)

    async def suspend(self) -> None:
        suspend(self.world)


@dataclass
class LocalScene:
    github: LocalGitHub
    ports: GitHubAdapters
    repo: RepoRef
    made: Installation
    working: bool = True

    @property
    def deliveries(self) -> Deliveries:
        return self.ports.deliveries

    @property
    def installations(self) -> Installations:
        return self.ports.installations

    async def happen(self) -> None:
        await self.github.act("ada", "POST", f"/repos/{self.repo.full_name}/issues", {"title": "T"})
        await self.github.webhooks_idle()

    async def arrive(self) -> None:
        await self.github.webhooks_idle()

    async def rename(self, name: str) -> None:
        self.github.world.state.repos[self.repo.id].name = name.partition("/")[2]

    async def suspend(self) -> None:
        self.made.suspended_at = self.github.world.now()

    async def answer(self, request: Request) -> Response:
        """The webhook."""
        return Response(status_code=202 if self.working else 503)


@pytest.fixture(params=["fake", "local"])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    if request.param == "fake":
        world = FakeGitHub()
        yield FakeScene(FakeDeliveries(slow=True), world, world.add_repo("octo/app", {"a.py": ""}))
        return
    async with LocalGitHub.start(tmp_path) as github:
        world_ = github.world
        world_.add_user("octo", kind="Organization")
        world_.add_user("ada")
        permissions = {"issues": "write", "metadata": "read"}
        spec = AppSpec("seconder", permissions, ("issues",), "http://127.0.0.1:1/webhook", "a secret of the webhook's")
        app = world_.add_app("octo", spec)
        made_repo = await world_.add_repo("octo/app", private=False)
        ports = connect(AppKey(app.id, app.private_key_pem), Options(api_url=github.api_url), time=HastyTime())
        made = world_.install("seconder", ["octo/app"])
        await github.webhooks_idle()
        world_.deliveries.clear()  # the installation's own, which nobody was there for
        local = LocalScene(github, ports, RepoRef(id=made_repo.id, full_name="octo/app", installation=made.id), made)
        site = Starlette(routes=[Route("/webhook", local.answer, methods=["POST"])])
        async with serve(site) as url:
            world_.set_webhook("seconder", f"{url}/webhook", "a secret of the webhook's")
            try:
                yield local
            finally:
                await ports.client.close()


async def test_what_failed_is_found_and_comes_again_with_the_same_id(scene: Scene) -> None:
    await scene.happen()
    assert list(await scene.deliveries.failed(0)) == []
    scene.working = False
    await scene.happen()
    await scene.happen()
    first, second = await scene.deliveries.failed(0)
    assert first.attempts == second.attempts == 1
    assert first.guid != second.guid
    assert 0 < first.first_at == first.last_at <= second.first_at
    await scene.deliveries.redeliver(first.id)
    await scene.arrive()
    again = {delivery.guid: delivery for delivery in await scene.deliveries.failed(0)}
    assert (again[first.guid].attempts, again[second.guid].attempts) == (2, 1)
    scene.working = True
    await scene.deliveries.redeliver(again[first.guid].id)
    await scene.arrive()
    assert [delivery.guid for delivery in await scene.deliveries.failed(0)] == [second.guid]


async def test_nothing_failed_after_the_last_failure(scene: Scene) -> None:
    scene.working = False
    await scene.happen()
    (failed,) = await scene.deliveries.failed(0)
    assert list(await scene.deliveries.failed(failed.last_at + 1)) == []
    assert [delivery.id for delivery in await scene.deliveries.failed(failed.last_at)] == [failed.id]


async def test_a_delivery_that_is_not_kept_is_missing(scene: Scene) -> None:
    with pytest.raises(Missing):
        await scene.deliveries.redeliver(987_654_321)


async def test_an_installation_is_listed_with_what_it_reaches_by_todays_name(scene: Scene) -> None:
    (made,) = await scene.installations.all()
    assert (made.id, made.account, made.suspended) == (scene.repo.installation, "octo", False)
    assert list(await scene.installations.repositories(made.id)) == [scene.repo]
    await scene.rename("octo/renamed")
    (found,) = await scene.installations.repositories(made.id)
    assert (found.id, found.full_name) == (scene.repo.id, "octo/renamed")


async def test_a_suspended_installation_is_listed_and_reaches_nothing(scene: Scene) -> None:
    await scene.suspend()
    (made,) = await scene.installations.all()
    assert made.suspended
    with pytest.raises(Refused, match="suspended"):
        await scene.installations.repositories(made.id)
