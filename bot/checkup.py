"""What `seconder doctor` makes of facts: pure functions from what was seen to findings with the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from bot.settings import LOOPBACK
from handlers.ports import PERMISSIONS, AppHealth, FailedDelivery, HookHealth, InstallationFacts, StoreHealth

Level = Literal["ok", "warning", "problem"]

OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 32)
"""Since then git lets the environment replace all of its configuration files (release notes of 2.31 and 2.32)."""
OLDEST_STORE = (7, 0)
"""Since then XAUTOCLAIM tells of deleted entries, and scripts keep the code of an error."""
CLOCK_WARNING_S, CLOCK_PROBLEM_S = 5.0, 50.0
"""The App's token is dated back by a minute, and late events are told from new ones with a minute's tolerance."""
SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One line of the report: what was looked at, how it is, and what to do about it."""

    check: str
    level: Level
    said: str
    way_out: str = ""


@dataclass(frozen=True)
class Needs:
    """What the App's manifest asks for."""

    permissions: Mapping[str, str]
    events: tuple[str, ...]


def python(version: Sequence[int]) -> Finding:
    """Whether Python is new enough."""
    shown = ".".join(str(part) for part in version[:3])
    if tuple(version[:2]) < OLDEST_PYTHON:
        return Finding("python", "problem", shown, "Use Python 3.11 or newer.")
    return Finding("python", "ok", shown)


def git(said: str | None) -> Finding:
    """Whether git is there and new enough; `said` is what `git --version` printed, None when there is none."""
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)*", said or "")
    if found is None:
        return Finding("git", "problem", "is not there", "Install git 2.32 or newer, on the PATH.")
    if (int(found[1]), int(found[2])) < OLDEST_GIT:
        return Finding("git", "problem", f"{found[0]} is too old", "Install git 2.32 or newer.")
    return Finding("git", "ok", found[0])


def names(strangers: Mapping[str, Sequence[str]]) -> Finding:
    """Whether another distribution brings packages of our names; `strangers` are those, by name."""
    if not strangers:
        return Finding("packages", "ok", "nobody else installs our names")
    said = "; ".join(f"`{name}` also comes from {', '.join(owners)}" for name, owners in sorted(strangers.items()))
    return Finding("packages", "problem", said, "Install Seconder by itself, as with `uv tool install`.")


def sandbox(problem: str | None) -> Finding:
    """Whether code under test can be kept apart; `problem` says why not, and the way out."""
    if problem is None:
        return Finding("sandbox", "ok", "keeps tests apart from this machine")
    return Finding("sandbox", "problem", "tests of foreign code are not run here", problem)


def data(mode: int | None, writable: bool) -> Finding:
    """The data directory; `mode` is its permission bits, None when it is not there yet."""
    if not writable:
        return Finding("data", "problem", "cannot be written", "Give its owner write, or set SECONDER_DATA_DIR.")
    if mode is None:
        return Finding("data", "ok", "will be made at the first start")
    if mode & 0o077:
        said = f"others on this machine can look into it (mode {mode:03o})"
        return Finding("data", "warning", said, "Run `chmod 700` on it.")
    return Finding("data", "ok", "writable, and private")


def store(health: StoreHealth) -> list[Finding]:
    """The store's version, whether it takes writes, what a crash would cost, and its clock."""
    return [
        _server(health),
        *_durability(health),
        _eviction(health),
        _store_clock(health.ahead_ms),
        *_aside(health.aside),
    ]


def _server(health: StoreHealth) -> Finding:
    name = f"{health.server} {health.version}"
    found = re.match(r"(\d+)\.(\d+)", health.version)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_STORE:
        return Finding("store", "problem", f"{name} is too old", "Use Redis or Valkey 7.0 or newer.")
    if health.replica:
        return Finding(
            "store", "problem", f"{name} is a replica and takes no writes", "Let REDIS_URL name the primary."
        )
    return Finding("store", "ok", f"{name} answers")


def _durability(health: StoreHealth) -> list[Finding]:
    name, known = "store's disk", health.settings
    if known is None:
        said = "the server does not show its settings"
        return [Finding(name, "warning", said, "Make sure of `appendonly yes` and `appendfsync always`.")]
    if known.get("appendonly") != "yes":
        if not known.get("save"):
            said = "nothing is kept: all runs are lost when the server stops"
            return [Finding(name, "problem", said, "Set `appendonly yes` and `appendfsync always`.")]
        said = "only snapshots are kept: minutes of work are lost when the server dies"
        return [Finding(name, "warning", said, "Set `appendonly yes` and `appendfsync always`.")]
    lost = {"everysec": "a second or two", "no": "up to half a minute"}.get(known.get("appendfsync", ""))
    if lost is not None:
        said = f"appendfsync is {known['appendfsync']}: {lost} of work is lost when the machine dies"
        return [Finding(name, "warning", said, "Set `appendfsync always`.")]
    return [Finding(name, "ok", "every write is on disk before it counts")]


def _eviction(health: StoreHealth) -> Finding:
    name, known = "store's memory", health.settings
    if known is None:
        said = "the server does not show its settings"
        return Finding(name, "warning", said, "Make sure of `maxmemory-policy noeviction`.")
    policy, limit = known.get("maxmemory-policy", ""), int(known.get("maxmemory") or 0)
    if policy != "noeviction":
        said = f"maxmemory-policy is {policy}: when memory runs short, runs are thrown away"
        return Finding(name, "problem" if limit else "warning", said, "Set `maxmemory-policy noeviction`.")
    if limit and health.memory > 0.8 * limit:
        said = f"{health.memory * 100 // limit} % of maxmemory is used: at 100 % all work pauses"
        return Finding(name, "warning", said, "Raise `maxmemory`, or erase old runs: `seconder runs purge`.")
    return Finding(name, "ok", "nothing is thrown away when memory runs short")


def _aside(count: int) -> list[Finding]:
    """Events that were put aside are said, so that nobody has to find them in the log."""
    if not count:
        return []
    said = "1 event was put aside" if count == 1 else f"{count} events were put aside"
    way = "`event_parked` in the worker's log says why. Give a command anew, or open the issue again, to have it done."
    return [Finding("bus", "warning", said, way)]


def _store_clock(ahead_ms: int) -> Finding:
    return clock("store's clock", ahead_ms / 1000, "this machine's")


def clock(name: str, ahead_s: float, whose: str) -> Finding:
    """How two clocks agree; `ahead_s` is how far the one named is ahead."""
    off = abs(ahead_s)
    if off < CLOCK_WARNING_S:
        return Finding(name, "ok", f"agrees with {whose}")
    way = "ahead of" if ahead_s > 0 else "behind"
    level: Level = "problem" if off >= CLOCK_PROBLEM_S else "warning"
    return Finding(name, level, f"{off:.0f} s {way} {whose}", "Set the clocks by NTP.")


def app(health: AppHealth, needs: Needs) -> list[Finding]:
    """The App itself: its key works; its clock, permissions and events."""
    found = [Finding("github", "ok", f"the key is {health.slug}'s")]
    if health.ahead_s is not None:
        found.append(clock("github's clock", health.ahead_s, "this machine's"))
    found.append(_permissions(health.permissions, needs))
    missing = [name for name in needs.events if name not in health.events]
    if missing:
        said = f"the App is not told of {', '.join(missing)}"
        found.append(Finding("events", "problem", said, "Subscribe to them on the App's settings page."))
    else:
        found.append(Finding("events", "ok", "the App is told of all that it reads"))
    return found


def _permissions(given: Mapping[str, str], needs: Needs) -> Finding:
    short = _short(given, needs.permissions)
    if short:
        said = f"the App lacks {', '.join(short)}"
        return Finding("permissions", "problem", said, "Grant them on the App's settings page, as app.yml has them.")
    return Finding("permissions", "ok", "as in app.yml")


def _short(given: Mapping[str, str], needed: Mapping[str, str]) -> list[str]:
    """What is needed and not given, as `issues: write`."""
    ranks = {name: rank for rank, name in enumerate(PERMISSIONS)}
    return [f"{name}: {level}" for name, level in needed.items() if ranks[given.get(name, "none")] < ranks[level]]


def webhook(hook: HookHealth, github_is_local: bool) -> Finding:
    """Where GitHub delivers to."""
    name, page = "webhook", "on the App's settings page"
    parts = urlsplit(hook.url)
    if not parts.hostname or parts.hostname == "example.com":
        return Finding(name, "problem", "has no address", f"Set it to https://YOUR-HOST/webhook {page}.")
    if not hook.secret:
        said = "has no secret: deliveries are not signed, and none is accepted"
        return Finding(name, "problem", said, f"Set GITHUB_WEBHOOK_SECRET's value {page}.")
    here = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if parts.hostname in LOOPBACK and not github_is_local:
        said = f"{here} is this machine to itself: GitHub cannot reach it"
        return Finding(name, "problem", said, f"Set an address that GitHub can reach {page}.")
    if parts.path.rstrip("/") != "/webhook":
        return Finding(name, "problem", f"{here} does not end in /webhook", f"Correct the address {page}.")
    if parts.scheme != "https" and not github_is_local:
        return Finding(name, "warning", f"{here} is not https", f"Use https {page}.")
    if not hook.verifies:
        return Finding(name, "warning", "GitHub does not look at the certificate", f"Enable SSL verification {page}.")
    return Finding(name, "ok", f"{here}, signed")


def deliveries(failed: Sequence[FailedDelivery]) -> Finding:
    """Whether GitHub reaches us: deliveries of the last day that no attempt brought here."""
    if not failed:
        return Finding("deliveries", "ok", "none of the last day's is missing")
    said = f"{len(failed)} of the last day's did not arrive"
    return Finding("deliveries", "warning", said, "Workers ask for them again. Look at the App's page, Advanced.")


def installations(made: Iterable[InstallationFacts], needs: Needs) -> list[Finding]:
    """Where the App is installed; suspended ones and those that have not accepted new permissions."""
    name, every = "installations", list(made)
    if not every:
        return [Finding(name, "warning", "none", "Install the App on a repository.")]
    found = [Finding(name, "ok", _listed([one.account or str(one.id) for one in every]))]
    suspended = [one.account for one in every if one.suspended]
    if suspended:
        said = f"suspended: {_listed(suspended)}"
        found.append(
            Finding("installations", "warning", said, "Nothing is done there until its owner resumes the App.")
        )
    behind = [one.account for one in every if not one.suspended and _short(one.permissions, needs.permissions)]
    if behind:
        said = f"without all permissions: {_listed(behind)}"
        found.append(
            Finding("installations", "warning", said, "Their owners have to accept the App's new permissions.")
        )
    return found


def prices(unknown: Sequence[str]) -> Finding:
    """Whether every configured model has a price; `unknown` are those without."""
    if not unknown:
        return Finding("prices", "ok", "known for all models")
    said = f"none known for {', '.join(unknown)}: counted as the dearest model"
    return Finding("prices", "warning", said, "Check the names in SECONDER_MODEL_*, or update Seconder.")


def _listed(shown: Sequence[str]) -> str:
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more
