"""The stage: embedded store, local GitHub, model, web and worker, all inside this process.

What they know is in one folder. A stage that is opened on the folder again, also after a kill, goes on from there, at
the same addresses where they are still free.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from bot import wiring
from bot.serving import serve
from bot.settings import Settings, load
from bot.wiring import Hub
from bot.worker import Pace, work
from handlers.github.translation import AppIdentity

if TYPE_CHECKING:
    from bot.wiring import LocalGitHub

# The trees of our own samples; a test holds them to the files.
OWN_TREES = frozenset(
    {
        "9dd911d0cdb90d51b33cbf43853f0011f922589f",
        "7ab06d0eececeaa3765189f6d2767a7c28ae113c",
        "eb606b78a3bd6b9d37edef0aa83ea01440e881f0",
    }
)
REQUESTER, MAINTAINER = "sample-requester", "sample-maintainer"


# Failed deliveries are asked for again this often: what was on its way when the process was killed is soon there.
RECOVERY_MINUTES = "0.2"
APP = "seconder"
COPIES = "local-copy"


@dataclass(frozen=True)
class Play:
    """What is played: a repository, an issue (title and body), and a script; without a script a live model answers.
    `people` are the logins of who files the issue and of who decides. `linked`: whether texts link to the pages of this
    process, which are gone when it ends."""

    repository: Path
    is_git: bool
    full_name: str
    title: str
    body: str
    script: Path | None
    people: tuple[str, str] = (REQUESTER, MAINTAINER)
    linked: bool = True

    @property
    def maintainer(self) -> str:
        """Who decides."""
        return self.people[1]


@dataclass(frozen=True)
class Stage:
    """A running stage. `requester` and `maintainer` speak to the local GitHub's API as those people.

    `own_sample`: the repository is one of ours, told by its tree, and a script plays the model; only then are tests
    run without isolation where `sandbox_problem` says that this machine has none.
    """

    play: Play
    hub: Hub
    github: LocalGitHub
    requester: httpx.AsyncClient
    maintainer: httpx.AsyncClient
    sandbox_problem: str | None
    own_sample: bool


def full_name_of(folder: str) -> str:
    """What a copy of a repository in a folder of this name is called on the local GitHub."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder).strip("-.").removesuffix(".git")[:100]
    return f"{COPIES}/{name or 'repository'}"


@contextlib.asynccontextmanager
async def open_stage(play: Play, env: Mapping[str, str]) -> AsyncIterator[Stage]:
    """Start everything in a folder of its own; stops and removes it all at the end, also after Ctrl-C."""
    data = Path(tempfile.mkdtemp(prefix="seconder-"))
    try:
        async with open_stage_in(data, play, env) as stage:
            yield stage
    finally:
        shutil.rmtree(data, ignore_errors=True)


@contextlib.asynccontextmanager
async def open_stage_in(data: Path, play: Play, env: Mapping[str, str]) -> AsyncIterator[Stage]:
    """Start everything in a folder, or go on in one; stops it all at the end and leaves the folder as it is."""
    store = wiring.start_embedded(data, leashed=True)
    try:
        async with contextlib.AsyncExitStack() as stack:
            hub = await stack.enter_async_context(wiring.open_hub(store.address))
            github = await _local_github(stack, data)
            yield await _furnish(stack, play, env, _Parts(data, hub, github))
    finally:
        store.stop()


async def _local_github(stack: contextlib.AsyncExitStack, data: Path) -> LocalGitHub:
    """The local GitHub, at the port that it had before if it is free: addresses stand in what was written."""
    kept = data / "github.port"
    port = int(kept.read_text()) if kept.exists() else 0
    try:
        github = await stack.enter_async_context(wiring.local_github(data / "github", port))
    except OSError:
        github = await stack.enter_async_context(wiring.local_github(data / "github"))
    kept.write_text(str(github.port))
    return github


@dataclass(frozen=True)
class _Parts:
    data: Path
    hub: Hub
    github: LocalGitHub


async def _furnish(stack: contextlib.AsyncExitStack, play: Play, env: Mapping[str, str], parts: _Parts) -> Stage:
    world = parts.github.world
    if world.app(APP) is None:
        await _populate(parts, play)
    people = [_client(parts.github, world.add_token(login)) for login in play.people]
    for person in people:
        await stack.enter_async_context(person)
    own_sample = play.script is not None and await _tree(people[1], play.full_name) in OWN_TREES
    model_url = ""
    if play.script is not None:
        model_url = (await stack.enter_async_context(wiring.scripted_model(play.script))).url
    app = world.app(APP)
    assert app is not None
    settings = _settings(env, parts, model_url)
    identity = AppIdentity(app.id, app.bot_id, app.slug)
    web = await stack.enter_async_context(serve(wiring.web_app(parts.hub, identity, (app.webhook_secret,))))
    world.set_webhook(APP, f"{web}/webhook", app.webhook_secret)
    if not world.state.installations:
        world.install(APP, [play.full_name])
    settings = settings.model_copy(update={"public_url": web if play.linked else None})
    workshop = await stack.enter_async_context(wiring.open_workshop(settings, parts.hub, own_sample))
    working = asyncio.create_task(work(workshop.context, parts.hub.bus, workshop.engine, Pace("stage", 0.5)))
    stack.push_async_callback(_stop, working)
    return Stage(play, parts.hub, parts.github, people[0], people[1], workshop.sandbox_problem, own_sample)


async def _populate(parts: _Parts, play: Play) -> None:
    """People, the repository and the App, in a world where nobody has been yet."""
    world = parts.github.world
    for login in play.people:
        world.add_user(login)
    world.add_user(play.full_name.partition("/")[0], kind="Organization")
    if play.is_git:
        checkouts, copy = wiring.Checkouts(parts.data / "checkouts"), parts.data / "copy.git"
        await checkouts.copy(await checkouts.look(play.repository), copy)
        await world.add_repo_from_git(play.full_name, copy)
        shutil.rmtree(copy)
    else:
        await world.add_repo_from_files(play.full_name, play.repository)
    world.collaborate(play.full_name, play.people[0], "write")
    world.collaborate(play.full_name, play.maintainer, "maintain")
    world.add_app(play.maintainer, wiring.app_spec("http://127.0.0.1:1/webhook", secrets.token_hex(20)))


async def _tree(person: httpx.AsyncClient, full_name: str) -> str:
    """The tree of the default branch's head."""
    commits = (await person.get(f"/repos/{full_name}/commits?per_page=1")).raise_for_status().json()
    return str(commits[0]["commit"]["tree"]["sha"])


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _settings(env: Mapping[str, str], parts: _Parts, model_url: str) -> Settings:
    """The operator's settings of the stage: the environment's own for a live model, ours for everything else."""
    app = parts.github.world.app(APP)
    assert app is not None
    ours = {
        "GITHUB_APP_ID": str(app.id),
        "GITHUB_APP_PRIVATE_KEY": app.private_key_pem,
        "GITHUB_API_URL": parts.github.api_url,
        "SECONDER_DATA_DIR": str(parts.data),
        "SECONDER_SETTLE_S": "2",
        "SECONDER_RECOVERY_MINUTES": RECOVERY_MINUTES,
    }
    if model_url:
        return load({**ours, "ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "scripted"}, "demo")
    kept = {name: value for name, value in env.items() if name.startswith(("SECONDER_", "ANTHROPIC_"))}
    return load({**kept, **ours}, "solve")


def _client(github: LocalGitHub, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return httpx.AsyncClient(base_url=github.api_url, headers=headers, timeout=30)
