"""A whole worker on fakes: GitHub, model and work trees in memory, the store real.

team = Team(store)
run = await team.begin()          # a run on an issue, nothing done yet
await team.idle()                 # everything that is due is done, as a worker would
work = await team.work("publish") # or: one step by hand, on what `put` has laid on the board
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files as package_files

from agents.board import Author, Entry, Value
from handlers.advance import Advancer
from handlers.context import Context, GitHub, Options, Store
from handlers.events import Actor, Event, GitHubEvent, InstallationChanged, IssueCreated, RepoRef
from handlers.intake import start_run
from handlers.ports import CheckState, NewTask, RunFacts, Word
from handlers.router import route
from handlers.state import RunState
from handlers.states import States
from handlers.steps import steps
from handlers.work import Step, Work
from handlers.workflow import Workflow, load
from tests.fakes.actors import Actors, Round
from tests.fakes.clock import FakeClock, FakeWake
from tests.fakes.github import FakeGitHub
from tests.fakes.model import FakeModel
from tests.fakes.prices import FakePrices
from tests.fakes.scanner import FakeScanner
from tests.fakes.store import RealStore
from tests.fakes.workspaces import FakeWorkspaces

FILES = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_add.py": "def test_add():\n    pass\n"}
OPTIONS = Options(
    tiers={"fast": "claude-haiku-5-5", "standard": "claude-sonnet-5-5", "strong": "claude-opus-5-5"},
    budget=5_000_000,
    settle_ms=150,
    status_gap_ms=600_000,  # the status step runs once, unless a test is about it
    backoff_base_ms=1,
)


@lru_cache(maxsize=1)
def feature() -> Workflow:
    """The shipped workflow."""
    return load((package_files("handlers") / "workflows" / "feature.yml").read_text(), "feature.yml")


@dataclass
class WorldWorkspaces(FakeWorkspaces):
    """Work trees of the commits that the fake GitHub holds."""

    world: FakeGitHub = field(default_factory=FakeGitHub)

    def base_files(self, repo: RepoRef, sha: str) -> dict[str, str]:
        return {path: content.decode() for path, (_, content) in self.world.commit(repo, sha).files.items()}


class Team:
    """Everything of one worker. Attributes are for tests to look at and to change."""

    def __init__(
        self,
        store: RealStore,
        files: Mapping[str, str] = FILES,
        plays: Mapping[str, Sequence[Round]] | None = None,
        options: Options = OPTIONS,
        workflow: Workflow | None = None,
    ) -> None:
        self.store = store
        self.world = FakeGitHub()
        self.repo = self.world.add_repo("octo/calc", files)
        self.rita = self.world.add_person(self.repo, "rita", "write")
        self.max = self.world.add_person(self.repo, "max", "maintain")
        self.ann = self.world.add_person(self.repo, "ann", "write")
        self.guest = self.world.add_person(self.repo, "guest", "read")
        self.issue = self.world.add_issue(self.repo, self.rita, "Add a total", "Please add total().")
        self.actors = Actors(plays)
        self.model = FakeModel(self.actors)
        self.workspaces = WorldWorkspaces({}, world=self.world)
        self.scanner = FakeScanner()
        self.clock, self.wake = FakeClock(), FakeWake()
        github = self.world
        self.context = Context(
            github=GitHub(
                github.issues,
                github.pulls,
                github.reviews,
                github.checks,
                github.repository,
                github.people,
                github.installations,
                github.rules,
            ),
            store=Store(
                store.runs, store.tasks, store.turns, store.effects, store.blobs, store.open_runs, store.configs
            ),
            workspaces=self.workspaces,
            scanner=self.scanner,
            model=self.model,
            prices=FakePrices(),
            wake=self.wake,
            clock=self.clock,
            options=options,
            workflows={"feature": workflow or feature()},
            states=States(store.checkpoints),
        )
        self.steps: dict[str, Step] = dict(steps())
        self.run = ""
        self._events = 0

    # --- A run, as events make it

    async def begin(self) -> str:
        """Start a run on the issue, as its author's filing does; nothing has been done in it."""
        run = await start_run(self.context, self.repo, self.issue, self.rita, self.cause())
        assert run is not None
        self.run = run
        return run

    def cause(self) -> str:
        """A new delivery's id."""
        self._events += 1
        return f"d{self._events}"

    async def send(self, record: GitHubEvent | InstallationChanged, cause: str | None = None, at: int = 0) -> str:
        """What GitHub says (`at` a time, ms UTC) arrives at the router; returns the event's id."""
        cause = cause or self.cause()
        await route(self.context, Event(id=cause, name=record.NAME, data=record.model_dump(mode="json"), at=at))
        return cause

    async def file(self, author: Actor | None = None, sender: Actor | None = None, cause: str | None = None) -> str:
        """The issue is filed; the run that it starts, if it does, is looked at from now on."""
        author = author or self.rita
        record = IssueCreated(repo=self.repo, sender=sender or author, number=self.issue, author=author)
        event = await self.send(record, cause)
        await self.state()
        return event

    async def idle(self, limit: int = 400) -> None:
        """Do what is due, and what becomes due by it, until nothing is."""
        advancer = Advancer(self.context, self.steps, "w")
        for _ in range(limit):
            due = await self.store.tasks.due(50)
            if not due:
                return
            for member, _version in due:
                await advancer.advance(member)
                assert not self.actors.problems, self.actors.problems
        raise AssertionError(f"still due after {limit} rounds: {due}")

    async def until(self, done: Callable[[RunState], bool], within_s: float = 8.0) -> RunState:
        """Go on working, also on what is due a little later, until `done` holds of the run's state."""
        end = time.monotonic() + within_s
        while not done(state := await self.state()):
            assert time.monotonic() < end, f"not reached; said: {[said.name for said in state.said]}"
            await self.idle()
            await asyncio.sleep(0.01)
        return state

    # --- One step by hand

    def entry(
        self,
        kind: str,
        value: Value,
        by: str | Actor = "developer",
        entry_id: str = "",
        parents: tuple[str, ...] = (),
    ) -> Entry:
        """An entry by a role's name, or by a person."""
        author = (
            Author(kind="agent", name=by) if isinstance(by, str) else Author(kind="person", name=by.login, id=by.id)
        )
        return Entry(
            id=entry_id or f"{kind}.{self.cause()}",
            kind=kind,
            value=value.model_dump(mode="json"),
            author=author,
            derived_from=parents,
            at=self.clock.now_ms(),
        )

    async def put(self, *entries: Entry, events: tuple[Event, ...] = ()) -> None:
        """Lay entries and events into the run's log."""
        assert await self.store.runs.vote(self.run, Word(self.cause(), entries=entries, events=events))

    async def say(self, name: str, **data: object) -> None:
        """Lay an event into the run's log."""
        await self.put(events=(Event(id=self.cause(), name=name, run=self.run, data=data),))

    async def work(self, node: str, visit: int = 1) -> Work:
        """Make a node due on what is live now, and claim it."""
        state, known = await self.state(), feature().nodes[node]
        inputs = tuple(entry.id for kind in known.kinds if (entry := state.board.live(kind)) is not None)
        task = NewTask(f"{node}|{visit}|by hand", node, inputs, known.writes, visit)
        assert await self.store.tasks.activate(self.run, state.position, [task], [])
        return await self.claim(f"{self.run}/{node}.{visit}")

    async def claim(self, task: str) -> Work:
        """Claim a step that is due."""
        lease = await self.store.tasks.claim(task, "w")
        assert lease is not None
        run = await self.facts()
        return Work(self.context, lease, run, await self.state(), Workflow.model_validate(run.workflow))

    # --- Looking

    async def facts(self) -> RunFacts:
        """The run's facts."""
        facts = await self.store.runs.facts(self.run)
        assert facts is not None
        return facts

    async def state(self) -> RunState:
        """The run's state, up to date; begins to follow a run that an event started."""
        self.run = self.run or await self.store.runs.find(self.repo, issue=self.issue) or ""
        return await self.context.states.of(self.run, self.store.runs)

    async def said(self) -> list[str]:
        """The names of all events of the run, oldest first."""
        return [said.name for said in (await self.state()).said]

    def check(self, gate: str = "quality") -> CheckState:
        """The one check run of a gate."""
        [found] = [one for one in self.world.at(self.repo).checks.values() if one.name == f"seconder/{gate}"]
        return found

    def comments(self) -> list[str]:
        """The texts of our comments on the issue."""
        return [comment.body for comment in self.world.issue(self.repo, self.issue).comments if comment.by_us]

    def with_options(self, **changes: object) -> None:
        """Change the operator's options."""
        self.context = replace(self.context, options=replace(self.context.options, **changes))  # type: ignore[arg-type]
