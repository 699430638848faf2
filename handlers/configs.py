"""A repository's settings as they are in force: read from its default branch, the last good ones kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

import structlog

from gates.codeowners import Rule
from handlers.config import PATH, Config, ConfigError, Problem, load
from handlers.context import Context, Options
from handlers.events import ConfigChanged, Event, RepoRef

log = structlog.get_logger("seconder.config")


@dataclass(frozen=True)
class InForce:
    """The settings that count, and what is wrong with the file where it is not the one they came from."""

    config: Config
    problems: tuple[Problem, ...] = ()

    @property
    def digest(self) -> str:
        """What tells these problems from others."""
        return sha256(repr(self.problems).encode()).hexdigest()[:16]


async def read(context: Context, repo: RepoRef, branch: str) -> InForce:
    """The settings on the default branch as it stands; a file that cannot be used leaves the last good one in force.

    What is read is kept for `kept`. Raises `GitHubError`.
    """
    content = await context.github.rules.file(repo, branch, PATH)
    if content is None:
        await context.store.configs.put(repo, "")
        return InForce(Config())
    try:
        config = load(content)
    except ConfigError as error:
        log.warning("config_refused", repo=repo.full_name, problems=str(error)[:500])
        return InForce(await kept(context, repo), error.problems)
    await context.store.configs.put(repo, content.decode("utf-8-sig"))
    return InForce(config)


async def kept(context: Context, repo: RepoRef) -> Config:
    """The settings that were read last and were good; all defaults where there were none."""
    text = await context.store.configs.get(repo)
    try:
        return load(text.encode()) if text else Config()
    except ConfigError as error:
        # What an older version took may be refused by this one: it is not dropped in silence.
        log.error("kept_config_refused", repo=repo.full_name, problems=str(error)[:500])
        return Config()


async def of(context: Context, repo: RepoRef) -> Config:
    """The settings that were read last; the file is read now where it never was. Raises `GitHubError`."""
    if await context.store.configs.get(repo) is not None:
        return await kept(context, repo)
    facts = await context.github.repository.facts(repo)
    return (await read(context, facts.ref, facts.default_branch)).config


async def changed(context: Context, event: Event) -> None:
    """The default branch got other settings: read them at once, so that they hold before the next run."""
    record = ConfigChanged.model_validate(event.data)
    facts = await context.github.repository.facts(record.repo)
    found = await read(context, facts.ref, facts.default_branch)
    log.info("config_read", repo=record.repo.full_name, good=not found.problems)


def bounded(options: Options, config: Config) -> Options:
    """The operator's options, tightened by a repository's settings; nothing here can loosen them."""
    quality, limits = config.gates.quality, config.limits
    budget = options.budget if limits.budget_usd is None else min(options.budget, int(limits.budget_usd * 1_000_000))
    return replace(
        options,
        budget=budget,
        required_approvals=max(options.required_approvals, quality.approvals),
        requester_may_approve=options.requester_may_approve and quality.requester_may_approve,
        short_commands=options.short_commands and config.short_commands,
    )


@dataclass(frozen=True)
class Veil:
    """Which paths no model gets to see."""

    rules: tuple[Rule, ...]

    def hides(self, path: str) -> bool:
        """Whether a file's path, relative to the root, falls under `paths.never_read`."""
        return any(rule.matches(path) for rule in self.rules)


def veil(config: Config) -> Veil:
    """The veil of a repository's settings."""
    return Veil(tuple(Rule(1, pattern, ()) for pattern in config.paths.never_read))
