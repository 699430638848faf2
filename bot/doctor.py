"""`seconder doctor`: looks at this machine, the store, GitHub and the model, each by itself, and says what to do.

Nothing is changed and no money is spent; no secret is shown.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from agents.ports import ModelError
from bot import checkup
from bot.checkup import Finding, Needs
from bot.settings import REQUIRED, WAY_OUT, Settings, SettingsError
from handlers.ports import AppHealth, FailedDelivery, GitHubError, HookHealth, InstallationFacts, StoreHealth

OURS = ("agents", "bot", "gates", "handlers", "infra")
LONGEST_S = 30.0
Look = Callable[[], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True)
class Clinic:
    """What can be asked of the outside; each may raise. `count` asks the model's endpoint to count a few tokens, which
    costs nothing. `store` None: there is none yet. Without an App's key nothing is asked of GitHub."""

    needs: Needs
    git: Callable[[], Awaitable[str | None]]
    sandbox: Callable[[], Awaitable[str | None]]
    store: Callable[[], Awaitable[StoreHealth | None]]
    app: Callable[[], Awaitable[AppHealth]]
    hook: Callable[[], Awaitable[HookHealth]]
    installations: Callable[[], Awaitable[Sequence[InstallationFacts]]]
    failed: Callable[[], Awaitable[Sequence[FailedDelivery]]]
    count: Callable[[str], Awaitable[int]]
    knows_price: Callable[[str], bool]


async def examine(settings: Settings, clinic: Clinic) -> list[Finding]:
    """All findings, in a fixed order. What one check raises is a finding of its own and stops no other."""
    looks: dict[str, Look] = {
        "settings": lambda: _now(_settings(settings)),
        "python": lambda: _now([checkup.python(sys.version_info[:3])]),
        "packages": lambda: _now([checkup.names(strangers())]),
        "git": lambda: _one(clinic.git, checkup.git),
        "sandbox": lambda: _one(clinic.sandbox, checkup.sandbox),
        "data": lambda: _now([_data(settings.data_dir)]),
        "store": lambda: _store(clinic),
        **_github(settings, clinic),
        **_models(settings, clinic),
    }
    found = await asyncio.gather(*(_isolated(name, look) for name, look in looks.items()))
    hidden = _secrets(settings)
    return [_without(finding, hidden) for findings in found for finding in findings]


async def _isolated(name: str, look: Look) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(LONGEST_S):
            return await look()
    except TimeoutError:
        return [Finding(name, "problem", f"no answer within {LONGEST_S:.0f} s", "Check the address and the network.")]
    except Exception as error:  # noqa: BLE001 - the edge of a check: whatever is wrong, the others are worth looking at
        said = str(error) or type(error).__name__
        return [Finding(name, "problem", f"could not be looked at: {said}")]


async def _now(findings: Sequence[Finding]) -> Sequence[Finding]:
    return findings


async def _one(ask: Callable[[], Awaitable[str | None]], judge: Callable[[str | None], Finding]) -> Sequence[Finding]:
    return [judge(await ask())]


def _settings(settings: Settings) -> list[Finding]:
    given = settings.model_dump(by_alias=True)
    missing = [name for name in REQUIRED["up"] if not given.get(name)]
    if not missing:
        return [Finding("settings", "ok", "complete")]
    return [Finding("settings", "problem", f"{name} is missing", WAY_OUT[name]) for name in missing]


async def git_version() -> str | None:
    """What `git --version` prints; None when there is no git."""
    try:
        running = await asyncio.create_subprocess_exec("git", "--version", stdout=asyncio.subprocess.PIPE)
    except OSError:
        return None
    said, _ = await running.communicate()
    return said.decode("utf-8", "replace")


def strangers() -> dict[str, list[str]]:
    """Distributions that bring a package of one of our names, by name; an editable install does not list our own."""
    owners = packages_distributions()
    found = {name: sorted(set(owners.get(name, ())) - {"seconder"}) for name in OURS}
    return {name: others for name, others in found.items() if others}


def _data(folder: Path) -> Finding:
    there = folder.is_dir()
    parent = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    writable = os.access(parent, os.W_OK | os.X_OK) and parent.is_dir()
    return checkup.data(folder.stat().st_mode & 0o777 if there else None, writable)


async def _store(clinic: Clinic) -> Sequence[Finding]:
    try:
        health = await clinic.store()
    except OSError as error:
        return [Finding("store", "problem", f"cannot be reached: {error}", "Start it, or correct REDIS_URL.")]
    if health is None:
        return [Finding("store", "ok", "`seconder up` will make its own")]
    return checkup.store(health)


def _github(settings: Settings, clinic: Clinic) -> dict[str, Look]:
    if settings.github_app_id is None or settings.github_app_private_key is None:
        said = "not looked at: the App's number and key are missing"
        return {"github": lambda: _now([Finding("github", "warning", said, "Set them; see settings above.")])}
    local = urlsplit(settings.github_api_url).hostname in {"127.0.0.1", "localhost", "::1"}

    async def app() -> Sequence[Finding]:
        return checkup.app(await clinic.app(), clinic.needs)

    async def hook() -> Sequence[Finding]:
        return [checkup.webhook(await clinic.hook(), local)]

    async def failed() -> Sequence[Finding]:
        return [checkup.deliveries(await clinic.failed())]

    async def installed() -> Sequence[Finding]:
        return checkup.installations(await clinic.installations(), clinic.needs)

    looks = {"github": app, "webhook": hook, "deliveries": failed, "installations": installed}
    return {name: _refusable(name, look) for name, look in looks.items()}


def _refusable(name: str, look: Look) -> Look:
    async def looked() -> Sequence[Finding]:
        try:
            return await look()
        except GitHubError as error:
            return [Finding(name, "problem", str(error), "Compare the App's settings page with the settings here.")]

    return looked


def _models(settings: Settings, clinic: Clinic) -> dict[str, Look]:
    models = list(dict.fromkeys((settings.model_fast, settings.model_standard, settings.model_strong)))

    async def prices() -> Sequence[Finding]:
        return [checkup.prices([model for model in models if not clinic.knows_price(model)])]

    if settings.anthropic_api_key is None:
        said = "not asked: ANTHROPIC_API_KEY is missing"
        asked: dict[str, Look] = {
            "model": lambda: _now([Finding("model", "warning", said, WAY_OUT["ANTHROPIC_API_KEY"])])
        }
    else:
        asked = {f"model {model}": _model(model, clinic) for model in models}
    return {**asked, "prices": prices}


def _model(model: str, clinic: Clinic) -> Look:
    async def looked() -> Sequence[Finding]:
        try:
            await clinic.count(model)
        except ModelError as error:
            level: Literal["warning", "problem"] = "warning" if error.heals else "problem"
            way = (
                "Try again later."
                if error.heals
                else "Check ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and the model's name."
            )
            return [Finding(f"model {model}", level, f"{error.kind}: {error}", way)]
        return [Finding(f"model {model}", "ok", "answers")]

    return looked


def _secrets(settings: Settings) -> list[str]:
    """All secret texts, longest first, so that none shows in what others said."""
    found = list(settings.webhook_secrets)
    if settings.anthropic_api_key is not None:
        found.append(settings.anthropic_api_key.get_secret_value())
    if settings.github_app_private_key is not None:
        found += settings.github_app_private_key.get_secret_value().splitlines()[1:-1]
    if settings.redis_url is not None:
        found.append(urlsplit(settings.redis_url.get_secret_value()).password or "")
    return sorted((text for text in found if len(text) >= 4), key=len, reverse=True)


def _without(finding: Finding, secrets: Sequence[str]) -> Finding:
    said = " ".join(finding.said.split())[:400]
    for secret in secrets:
        said = said.replace(secret, "***")
    return Finding(finding.check, finding.level, said, finding.way_out)


def unusable(error: SettingsError) -> list[Finding]:
    """Settings with which nothing else can be looked at, as findings."""
    return [Finding("settings", "problem", f"{one.name} {one.wrong}", one.way_out) for one in error.problems]


def report(findings: Sequence[Finding]) -> str:
    """One line for each finding, and the sum."""
    wide = max(len(finding.check) for finding in findings)
    lines = [
        f"{one.level:<8} {one.check:<{wide}}  {one.said}" + (f" → {one.way_out}" if one.way_out else "")
        for one in findings
    ]
    return "\n".join([*lines, _sum(findings)])


def as_json(findings: Sequence[Finding]) -> str:
    """For scripts."""
    checks = [
        {"check": one.check, "level": one.level, "said": one.said, "way_out": one.way_out or None} for one in findings
    ]
    return json.dumps({"ok": sound(findings), "checks": checks}, indent=2, ensure_ascii=False)


def sound(findings: Sequence[Finding]) -> bool:
    """Whether there is no problem; warnings are none."""
    return all(finding.level != "problem" for finding in findings)


def _sum(findings: Sequence[Finding]) -> str:
    counts: Mapping[str, int] = {
        level: sum(finding.level == level for finding in findings) for level in ("problem", "warning")
    }
    words = [f"{count} {level}{'s' if count != 1 else ''}" for level, count in counts.items() if count]
    return f"\n{', '.join(words)}." if words else "\nAll is well."
