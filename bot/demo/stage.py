"""The demo's stage: embedded store, local GitHub, model, web and worker, all inside this process, gone at the end."""

from __future__ import annotations

import asyncio
import contextlib
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

SAMPLES = Path(__file__).parent / "samples"
# The trees of our own samples; a test holds them to the files.
OWN_TREES = frozenset({"9dd911d0cdb90d51b33cbf43853f0011f922589f"})
REQUESTER, MAINTAINER = "sample-requester", "sample-maintainer"


@dataclass(frozen=True)
class Play:
    """What is played: a repository, an issue (title and body), and a script; without a script a live model answers."""

    repository: Path
    is_git: bool
    full_name: str
    title: str
    body: str
    script: Path | None


@dataclass(frozen=True)
class Stage:
    """A running demo. `requester` and `maintainer` speak to the local GitHub's API as those people.

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


def sample(name: str = "durations") -> Play:
    """Our own sample with its issue and its script."""
    title, _, body = (SAMPLES / f"{name}.issue.md").read_text().partition("\n")
    return Play(SAMPLES / name, False, f"sample/{name}", title, body.strip(), SAMPLES / f"{name}.script.yml")


@contextlib.asynccontextmanager
async def open_stage(play: Play, env: Mapping[str, str]) -> AsyncIterator[Stage]:
    """Start everything; stops and removes it all at the end, also after Ctrl-C."""
    data = Path(tempfile.mkdtemp(prefix="seconder-"))
    store = wiring.start_embedded(data, leashed=True)
    try:
        async with contextlib.AsyncExitStack() as stack:
            hub = await stack.enter_async_context(wiring.open_hub(store.address))
            github = await stack.enter_async_context(wiring.local_github(data / "github"))
            yield await _furnish(stack, play, env, _Parts(data, hub, github))
    finally:
        store.stop()
        shutil.rmtree(data, ignore_errors=True)


@dataclass(frozen=True)
class _Parts:
    data: Path
    hub: Hub
    github: LocalGitHub


async def _furnish(stack: contextlib.AsyncExitStack, play: Play, env: Mapping[str, str], parts: _Parts) -> Stage:
    world = parts.github.world
    for login in (REQUESTER, MAINTAINER):
        world.add_user(login)
    world.add_user(play.full_name.partition("/")[0], kind="Organization")
    if play.is_git:
        await world.add_repo_from_git(play.full_name, play.repository)
    else:
        await world.add_repo_from_files(play.full_name, play.repository)
    world.collaborate(play.full_name, REQUESTER, "write")
    world.collaborate(play.full_name, MAINTAINER, "maintain")
    people = [_client(parts.github, world.add_token(login)) for login in (REQUESTER, MAINTAINER)]
    for person in people:
        await stack.enter_async_context(person)
    own_sample = play.script is not None and await _tree(people[1], play.full_name) in OWN_TREES
    secret = secrets.token_hex(20)
    app = world.add_app(MAINTAINER, wiring.app_spec("http://127.0.0.1:1/webhook", secret))
    model_url = ""
    if play.script is not None:
        model_url = (await stack.enter_async_context(wiring.scripted_model(play.script))).url
    settings = _settings(env, parts, app.id, app.private_key_pem, model_url)
    identity = AppIdentity(app.id, app.bot_id, app.slug)
    web = await stack.enter_async_context(serve(wiring.web_app(parts.hub, identity, (secret,))))
    world.set_webhook(app.slug, f"{web}/webhook", secret)
    world.install(app.slug, [play.full_name])
    settings = settings.model_copy(update={"public_url": web})
    workshop = await stack.enter_async_context(wiring.open_workshop(settings, parts.hub, own_sample))
    working = asyncio.create_task(work(workshop.context, parts.hub.bus, workshop.engine, Pace("demo", 0.5)))
    stack.push_async_callback(_stop, working)
    return Stage(play, parts.hub, parts.github, people[0], people[1], workshop.sandbox_problem, own_sample)


async def _tree(person: httpx.AsyncClient, full_name: str) -> str:
    """The tree of the default branch's head."""
    commits = (await person.get(f"/repos/{full_name}/commits?per_page=1")).raise_for_status().json()
    return str(commits[0]["commit"]["tree"]["sha"])


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _settings(env: Mapping[str, str], parts: _Parts, app_id: int, key: str, model_url: str) -> Settings:
    """The operator's settings of the demo: the environment's own for a live model, ours for everything else."""
    ours = {
        "GITHUB_APP_ID": str(app_id),
        "GITHUB_APP_PRIVATE_KEY": key,
        "GITHUB_API_URL": parts.github.api_url,
        "SECONDER_DATA_DIR": str(parts.data),
        "SECONDER_SETTLE_S": "2",
    }
    if model_url:
        return load({**ours, "ANTHROPIC_BASE_URL": model_url, "ANTHROPIC_API_KEY": "scripted"}, "demo")
    kept = {name: value for name, value in env.items() if name.startswith(("SECONDER_", "ANTHROPIC_"))}
    return load({**kept, **ours}, "solve")


def _client(github: LocalGitHub, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return httpx.AsyncClient(base_url=github.api_url, headers=headers, timeout=30)
