"""The composition root: settings become adapters, adapters become the context. The only module that imports `infra`.

What the web process needs is imported at once; the heavy clients (githubkit, anthropic) only where a worker is built.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis.exceptions
import yaml
from starlette.types import ASGIApp, Receive, Scope, Send

from agents.ports import Json, ModelRequest
from bot.checkup import Needs
from bot.clock import SystemClock as SystemClock
from bot.settings import Settings
from bot.shipped import WORKFLOWS as WORKFLOWS
from bot.shipped import check_workflow as check_workflow
from bot.shipped import workflows as workflows
from handlers.context import Context, GitHub, Options, Store
from handlers.events import RepoRef
from handlers.github.translation import AppIdentity
from handlers.ports import StoreHealth
from handlers.states import States
from infra.git.checkouts import CannotUse as CannotUse
from infra.git.checkouts import Changes as Changes
from infra.git.checkouts import Checkout as Checkout
from infra.git.checkouts import Checkouts as Checkouts
from infra.git.checkouts import NewBranch as NewBranch
from infra.git.checkouts import find_repository as find_repository
from infra.store.blobs import RedisBlobs
from infra.store.bus import RedisBus
from infra.store.checkpoints import RedisCheckpoints
from infra.store.configs import RedisConfigs
from infra.store.connection import BRIEF, PATIENT, Address, Scripts, connect
from infra.store.purge import CannotPurge as CannotPurge
from infra.store.purge import RedisPurge
from infra.store.runs import RedisRunLog
from infra.store.trail import RedisTrail

if TYPE_CHECKING:
    from arq.connections import ArqRedis

    from bot.doctor import Clinic
    from bot.worker import Engine
    from infra.github.connect import GitHubAdapters
    from infra.llm.scripted import ScriptedModel
    from infra.local_github import AppSpec
    from infra.local_github import LocalGitHub as LocalGitHub
    from infra.store.embedded import EmbeddedServer
    from infra.workspace.local import LocalWorkspaces

STORE_ERRORS: tuple[type[Exception], ...] = (redis.exceptions.RedisError, OSError)
JOBS_AT_ONCE = 10


@dataclass(frozen=True)
class Hub:
    """The store as both processes see it."""

    address: Address
    scripts: Scripts
    blobs: RedisBlobs
    bus: RedisBus
    runs: RedisRunLog
    checkpoints: RedisCheckpoints
    configs: RedisConfigs
    trail: RedisTrail
    purge: RedisPurge

    async def ping(self) -> bool:
        """Whether the store answers."""
        return bool(await self.scripts.command("PING"))

    async def health(self) -> StoreHealth:
        """What the store says of itself, for a check-up."""
        from infra.store.health import look

        return await look(self.scripts)


def address_of(settings: Settings) -> Address:
    """Where the store is. Raises ValueError when none is set."""
    if settings.redis_url is None:
        raise ValueError("REDIS_URL is missing")
    return Address(url=settings.redis_url.get_secret_value())


def start_embedded(data_dir: Path, leashed: bool = False) -> EmbeddedServer:
    """Start, or adopt, the embedded store of a data directory; a leashed one ends with this process."""
    from infra.store import embedded

    return embedded.start(data_dir / "store", leashed)


def url_of(address: Address) -> str:
    """An address as one text, for a child process's REDIS_URL."""
    return address.url if address.url is not None else f"unix://:{address.password}@{address.socket}"


@asynccontextmanager
async def open_hub(address: Address, brief: bool = False) -> AsyncIterator[Hub]:
    """Connect to the store; nothing is sent before the first call.

    A `brief` hub says soon that the store is away; the other sends a command again for a minute.
    """
    client = connect(address, BRIEF if brief else PATIENT)
    scripts = Scripts(client)
    blobs = RedisBlobs(scripts)
    try:
        yield Hub(
            address=address,
            scripts=scripts,
            blobs=blobs,
            bus=RedisBus(scripts),
            runs=RedisRunLog(scripts, blobs),
            checkpoints=RedisCheckpoints(scripts),
            configs=RedisConfigs(scripts),
            trail=RedisTrail(scripts, blobs),
            purge=RedisPurge(scripts, blobs),
        )
    finally:
        await client.aclose()


def web_app(hub: Hub, identity: AppIdentity, secrets: tuple[str, ...]) -> ASGIApp:
    """The web process's application: deliveries go straight to the webhook, everything else to the pages.

    Raises ValueError without a webhook secret.
    """
    from bot.app import WebDeps, create_app
    from bot.web.metrics import Counters
    from bot.webhook import Webhook

    counters = Counters()
    webhook = Webhook(hub.bus, identity, secrets, unavailable=STORE_ERRORS, count=counters.delivery)
    deps = WebDeps(webhook, hub.ping, hub.runs, hub.runs, counters=counters, unavailable=STORE_ERRORS)
    pages = create_app(deps)

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        delivery = scope["type"] == "http" and scope["path"] == "/webhook"
        await (webhook if delivery else pages)(scope, receive, send)

    return front


def options_of(settings: Settings) -> Options:
    """What the core acts on, from the settings."""
    loopback = urlsplit(settings.github_api_url).hostname in {"127.0.0.1", "localhost", "::1"}
    return Options(
        tiers={
            "fast": settings.model_fast,
            "standard": settings.model_standard,
            "strong": settings.model_strong,
        },
        budget=settings.budget,
        ceiling=max(25_000_000, settings.budget),
        day_limit=int(settings.day_usd * 1_000_000),
        month_limit=int(settings.month_usd * 1_000_000),
        requester_may_approve=settings.requester_may_approve,
        required_approvals=settings.required_approvals,
        settle_ms=int(settings.settle_s * 1000),
        status_gap_ms=250 if loopback else 2_000,
        short_commands=settings.short_commands,
        public_url=settings.public_url,
    )


@asynccontextmanager
async def open_clinic(settings: Settings, store: Callable[[], Awaitable[StoreHealth | None]]) -> AsyncIterator[Clinic]:
    """What a check-up asks. Clients that cannot be made, as for want of a key, are a finding where they are asked."""
    from bot.doctor import Clinic, git_version
    from infra.llm.messages import DEFAULT_URL, MessagesModel
    from infra.llm.prices import ListPrices
    from infra.sandbox.bubblewrap import Sandbox

    key = settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key is not None else ""
    async with AsyncExitStack() as stack:

        @cache
        def github() -> GitHubAdapters:
            made = _github(settings)
            stack.push_async_callback(made.client.close)
            return made

        async def count(name: str) -> int:
            model = MessagesModel(api_key=key, base_url=settings.anthropic_base_url or DEFAULT_URL)
            stack.push_async_callback(model.aclose)
            words: tuple[Json, ...] = ({"role": "user", "content": [{"type": "text", "text": "Hello"}]},)
            return await model.count_tokens(ModelRequest(name, (), (), words, 1, "low", 15.0))

        manifest = yaml.safe_load(manifest_path().read_text())
        day_ago = SystemClock().now_ms() - 24 * 3600 * 1000
        yield Clinic(
            needs=Needs(manifest["default_permissions"], tuple(manifest["default_events"])),
            git=git_version,
            sandbox=lambda: Sandbox().unavailable(),
            store=store,
            app=lambda: github().app.health(),
            hook=lambda: github().app.hook(),
            installations=lambda: github().installations.all(),
            failed=lambda: github().deliveries.failed(day_ago),
            count=count,
            knows_price=lambda name: ListPrices().knows(name),
        )


@dataclass(frozen=True)
class Workshop:
    """Everything of a worker: what it works with, how its engine is run, and whether tests can be kept apart here.

    `sandbox_problem` says why code under test cannot be run on this machine and what would change that, or is None.
    """

    context: Context
    engine: Engine
    sandbox_problem: str | None


@asynccontextmanager
async def open_workshop(
    settings: Settings, hub: Hub, own_sample: bool = False, name: str = "worker"
) -> AsyncIterator[Workshop]:
    """Build a worker's adapters and close them again. `own_sample`: the code under test is our own demo's, which may
    run as a plain process where the sandbox cannot work. `name` is noted with the steps that it claims."""
    from infra.jobs.connection import connect as connect_jobs
    from infra.jobs.engine import ArqWake
    from infra.llm.messages import DEFAULT_URL, MessagesModel
    from infra.llm.prices import ListPrices
    from infra.scan.bandit import BanditScanner
    from infra.store.open_runs import RedisOpenRuns
    from infra.store.renewer import Renewer
    from infra.store.tasks import RedisEffects, RedisTasks, RedisTurns

    gh = _github(settings)
    key = settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key is not None else ""
    model = MessagesModel(api_key=key, base_url=settings.anthropic_base_url or DEFAULT_URL)
    renewer = Renewer(hub.address, settings.lease_s)
    jobs = connect_jobs(hub.address.url, hub.address.socket, hub.address.password)
    scanner = BanditScanner()
    try:
        spaces = await _workspaces(settings, gh, own_sample)
        context = Context(
            github=GitHub(
                gh.issues, gh.pulls, gh.reviews, gh.checks, gh.repository, gh.people, gh.installations, gh.rules
            ),
            store=Store(
                runs=hub.runs,
                tasks=RedisTasks(hub.scripts, hub.blobs, renewer),
                turns=RedisTurns(hub.scripts, hub.blobs),
                effects=RedisEffects(hub.scripts),
                blobs=hub.blobs,
                open_runs=RedisOpenRuns(hub.scripts),
                configs=hub.configs,
            ),
            workspaces=spaces,
            scanner=scanner,
            model=model,
            prices=ListPrices(aliases={"scripted": settings.model_standard}),
            wake=ArqWake(jobs),
            clock=SystemClock(),
            options=options_of(settings),
            workflows=workflows(settings.max_rounds),
            states=States(hub.checkpoints),
        )
        engine = _engine(context, jobs, hub, settings.lease_s, name)
        engine = replace(engine, upkeep=_upkeep(settings, hub, context, gh))
        yield Workshop(context, engine, await spaces.sandbox.unavailable())
    finally:
        renewer.close()
        await scanner.close()
        await jobs.aclose(close_connection_pool=True)
        await model.aclose()
        await gh.client.close()


def _github(settings: Settings) -> GitHubAdapters:
    from infra.github.connect import connect as connect_github
    from infra.github.options import Options as GitHubOptions
    from infra.github.tokens import AppKey

    key = settings.github_app_private_key
    if settings.github_app_id is None or key is None:
        raise ValueError("GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY are needed to talk to GitHub")
    return connect_github(
        AppKey(app_id=settings.github_app_id, private_key=key.get_secret_value()),
        GitHubOptions(api_url=settings.github_api_url, user_agent="seconder"),
    )


async def _workspaces(settings: Settings, github: GitHubAdapters, own_sample: bool) -> LocalWorkspaces:
    from infra.dependencies.environments import Environments, EnvironmentSettings
    from infra.dependencies.indexes import IndexSettings
    from infra.git.names import remote_for
    from infra.git.repositories import Repositories
    from infra.sandbox.bubblewrap import Sandbox
    from infra.sandbox.plain import PlainProcess
    from infra.sandbox.spec import Limits, python_toolchain
    from infra.workspace.local import LocalWorkspaces, WorkspaceSettings

    async def token(repo: RepoRef) -> str:
        return await github.client.token(repo)

    data = settings.data_dir.resolve()
    data.mkdir(parents=True, exist_ok=True)
    repositories = Repositories(data / "git", remote_for(settings.github_api_url), token)
    command = tuple(shlex.split(settings.test_command)) if settings.test_command else None
    toolchain = python_toolchain(settings.toolchain, Path(sys.base_prefix)) if settings.toolchain else None
    plain = PlainProcess() if own_sample else None
    sandbox = Sandbox(toolchain, Limits(wall_s=settings.test_seconds, cpu_s=settings.test_seconds))
    workspace = WorkspaceSettings(data, command, quick_s=settings.quick_test_seconds)
    indexes = IndexSettings(settings.python_index or "", settings.npm_registry or "", settings.index_hosts, os.environ)
    places = EnvironmentSettings(data / "environments", all_bytes=settings.environments_gb << 30, indexes=indexes)
    environments = None if own_sample or settings.toolchain else Environments(places, sandbox)
    spaces = LocalWorkspaces(workspace, repositories, sandbox, plain, environments)
    await spaces.sweep()
    if environments is not None:
        await environments.sweep()
    return spaces


def _engine(context: Context, jobs: ArqRedis, hub: Hub, lease_s: float, name: str) -> Engine:
    from bot.worker import Engine
    from handlers.advance import Advancer
    from handlers.steps import steps
    from infra.jobs.engine import ArqEngine

    advancer = Advancer(context, steps(), name)
    engine = ArqEngine(jobs, advancer.advance, JOBS_AT_ONCE, lease_s)
    return Engine(engine.run, hub.bus.trim, STORE_ERRORS)


def _upkeep(
    settings: Settings, hub: Hub, context: Context, github: GitHubAdapters
) -> Mapping[str, Callable[[], Awaitable[None]]]:
    """What one of all workers does every few minutes."""
    from bot.upkeep import Chore, keep_up
    from handlers.recovery import recover
    from handlers.sweep import sweep
    from infra.store.chores import RedisChores
    from infra.store.retention import RedisRetention

    chores = RedisChores(hub.scripts)
    every = {
        "recovery": (settings.recovery_minutes, lambda: recover(github.deliveries, chores, context.clock)),
        "comparison": (settings.sweep_minutes, lambda: sweep(context)),
        "retention": (60.0, RedisRetention(hub.scripts, hub.blobs, settings.keep_days).tidy),
    }
    return {name: partial(keep_up, chores, Chore(name, 60 * minutes, do)) for name, (minutes, do) in every.items()}


def local_github(data_dir: Path, port: int = 0) -> AbstractAsyncContextManager[LocalGitHub]:
    """The local GitHub on a data directory."""
    from infra.local_github import LocalGitHub

    return LocalGitHub.start(data_dir, port=port)


def app_spec(webhook_url: str, secret: str) -> AppSpec:
    """Seconder as an App of the local GitHub, with the permissions and events of `app.yml`."""
    from infra.local_github import AppSpec

    manifest = yaml.safe_load(manifest_path().read_text())
    return AppSpec(
        slug="seconder",
        permissions=manifest["default_permissions"],
        events=manifest["default_events"],
        webhook_url=webhook_url,
        webhook_secret=secret,
        private_key_pem="",
    )


def manifest_path() -> Path:
    """The App's manifest: beside the five folders in a checkout, inside `bot` in an installed package."""
    packaged = Path(__file__).with_name("app.yml")
    return packaged if packaged.exists() else Path(__file__).parent.parent / "app.yml"


def scripted_model(script: Path) -> AbstractAsyncContextManager[ScriptedModel]:
    """The scripted model on a free port of this machine."""
    from infra.llm.scripted import ScriptedModel

    return ScriptedModel.serve(script)
