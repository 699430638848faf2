"""What every handler and step is handed: the ports, the options, and the workflows. Built once, in `bot/wiring.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.ports import Model, Prices
from handlers.ports import (
    Blobs,
    Checks,
    Clock,
    Configs,
    Effects,
    Installations,
    Issues,
    OpenRuns,
    People,
    Pulls,
    Repository,
    Reviews,
    Rules,
    RunLog,
    Scanner,
    Tasks,
    Turns,
    Wake,
    Workspaces,
)
from handlers.states import States
from handlers.workflow import Workflow


@dataclass(frozen=True)
class Options:
    """The operator's settings that the core acts on. Money in micro-dollars, times in milliseconds."""

    tiers: Mapping[str, str]
    budget: int
    ceiling: int = 25_000_000
    day_limit: int = 25_000_000
    month_limit: int = 200_000_000
    requester_may_approve: bool = False
    required_approvals: int = 1
    settle_ms: int = 10_000
    status_gap_ms: int = 2_000
    max_attempts: int = 8
    short_commands: bool = True
    public_url: str | None = None
    backoff_base_ms: int = 1_000
    look_again_ms: int = 60_000


@dataclass(frozen=True)
class GitHub:
    """GitHub's side of the ports."""

    issues: Issues
    pulls: Pulls
    reviews: Reviews
    checks: Checks
    repository: Repository
    people: People
    installations: Installations
    rules: Rules


@dataclass(frozen=True)
class Store:
    """The store's side of the ports."""

    runs: RunLog
    tasks: Tasks
    turns: Turns
    effects: Effects
    blobs: Blobs
    open_runs: OpenRuns
    configs: Configs


@dataclass(frozen=True)
class Context:
    """Everything that a handler or a step may use."""

    github: GitHub
    store: Store
    workspaces: Workspaces
    scanner: Scanner
    model: Model
    prices: Prices
    wake: Wake
    clock: Clock
    options: Options
    workflows: Mapping[str, Workflow]
    states: States
