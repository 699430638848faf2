"""The processes against real settings: web, worker, local GitHub. Each runs until it is told to stop."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from bot import wiring
from bot.serving import serve
from bot.settings import Settings
from bot.slots import worker_name
from bot.store import NoStore, open_store
from handlers.github.translation import AppIdentity
from handlers.ports import StoreHealth

if TYPE_CHECKING:
    from bot.checkup import Finding
    from bot.wiring import LocalGitHub

LOCAL_OWNER = "local-copy"
LOCAL_PEOPLE: Mapping[str, Literal["write", "maintain"]] = {"requester": "write", "maintainer": "maintain"}


async def until_told() -> None:
    """Returns at SIGTERM or SIGINT."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    await told.wait()


async def run_web(settings: Settings) -> None:
    """Serve the web process until told to stop."""
    async with wiring.open_hub(wiring.address_of(settings), brief=True) as hub:
        identity = AppIdentity(
            app_id=settings.github_app_id or 0,
            bot_id=None,
            slug=settings.app_slug or "",
            short_commands=settings.short_commands,
        )
        application = wiring.web_app(hub, identity, settings.webhook_secrets)
        async with serve(application, settings.host, settings.port) as url:
            print(f"web: listening on {url}, webhook at {url}/webhook", flush=True)
            await until_told()


async def run_worker(settings: Settings) -> None:
    """Work until told to stop; a step that is cut off is taken up by whoever claims it next."""
    from bot.worker import Pace, work

    async with AsyncExitStack() as stack:
        name = stack.enter_context(worker_name(settings.data_dir, settings.worker_name))
        hub = await stack.enter_async_context(wiring.open_hub(wiring.address_of(settings)))
        workshop = await stack.enter_async_context(wiring.open_workshop(settings, hub, name=name))
        pace = Pace(name, settings.sweep_s)
        working = asyncio.create_task(work(workshop.context, hub.bus, workshop.engine, pace))
        stopping = asyncio.create_task(until_told())
        if workshop.sandbox_problem is not None:
            print(f"worker: tests will not be run here. {workshop.sandbox_problem}", flush=True)
        print(f"worker: {pace.name} is at work", flush=True)
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        working.cancel()
        stopping.cancel()
        with suppress(asyncio.CancelledError):
            await working


async def run_doctor(settings: Settings) -> list[Finding]:
    """Look at everything that these settings name."""
    from bot.doctor import examine

    async def store() -> StoreHealth | None:
        try:
            async with open_store(settings) as hub:
                return await hub.health()
        except NoStore:
            return None

    async with wiring.open_clinic(settings, store) as clinic:
        return await examine(settings, clinic)


@dataclass(frozen=True)
class LocalSite:
    """The local GitHub to run: where its state is, its port, a repository to copy, and where deliveries go."""

    data: Path
    port: int
    repo: Path | None
    webhook: str


async def run_local_github(console: Console, site: LocalSite) -> None:
    """Run the local GitHub until told to stop; prints how to reach it."""
    site.data.mkdir(parents=True, exist_ok=True)
    async with wiring.local_github(site.data, site.port) as github:
        settings = await _furnish(github, site)
        console.print(f"local GitHub at {github.url} (state in {site.data}). This is not github.com.\n", markup=False)
        console.print("Settings for `seconder up` in another terminal:\n", markup=False)
        for name, value in settings.items():
            console.print(f"export {name}={shlex.quote(value)}", markup=False, soft_wrap=True)
        console.print("\nPeople's tokens, for its API:\n", markup=False)
        for login in LOCAL_PEOPLE:
            console.print(f"{login}: {github.world.add_token(login)}", markup=False)
        await until_told()


async def _furnish(github: LocalGitHub, site: LocalSite) -> dict[str, str]:
    """People, the App and the repository, where they are not there yet; returns the settings for `seconder up`."""
    world = github.world
    key_path, secret_path = site.data / "app-key.pem", site.data / "webhook-secret"
    if not secret_path.exists():
        secret_path.touch(mode=0o600)
        secret_path.write_text(secrets.token_hex(20))
        for login in LOCAL_PEOPLE:
            world.add_user(login)
        world.add_user(LOCAL_OWNER, kind="Organization")
        app = world.add_app(LOCAL_OWNER, wiring.app_spec(site.webhook, secret_path.read_text()))
        key_path.touch(mode=0o600)
        key_path.write_text(app.private_key_pem)
        (site.data / "app-id").write_text(str(app.id))
    if site.repo is not None:
        name = f"{LOCAL_OWNER}/{site.repo.resolve().name}"
        if world.repo(name) is None:
            await world.add_repo_from_git(name, site.repo)
            for login, permission in LOCAL_PEOPLE.items():
                world.collaborate(name, login, permission)
            world.install("seconder", [name])
    world.set_webhook("seconder", site.webhook, secret_path.read_text())
    return {
        "GITHUB_API_URL": github.api_url,
        "GITHUB_APP_ID": (site.data / "app-id").read_text(),
        "GITHUB_APP_PRIVATE_KEY_PATH": str(key_path.resolve()),
        "GITHUB_WEBHOOK_SECRET": secret_path.read_text(),
    }
