"""What a step is given, and how it says what it made: entries with their parents, events that follow from them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agents.board import Author, Entry, Value
from handlers.context import Context
from handlers.events import Event
from handlers.outcomes import event_of
from handlers.ports import Commit, Lease, RunFacts
from handlers.publisher import Publisher
from handlers.state import RunState
from handlers.workflow import Node, Workflow, WorkflowError


@dataclass(frozen=True)
class Work:
    """One execution of one node. `state` is up to date and goes on growing; the inputs are fixed by the lease."""

    context: Context
    lease: Lease
    run: RunFacts
    state: RunState
    workflow: Workflow

    @property
    def publisher(self) -> Publisher:
        """The writer to GitHub under this step's lease."""
        return Publisher(self.context, self.lease, self.run.repo)

    @property
    def node(self) -> Node | None:
        """The workflow's node, None for Seconder's own steps (status, close)."""
        return self.workflow.nodes.get(self.lease.node)

    def inputs(self) -> dict[str, Entry]:
        """The entries that this step was activated with, by kind."""
        found = (self.state.board.get(entry_id) for entry_id in self.lease.inputs)
        return {entry.kind: entry for entry in found if entry is not None}

    def input(self, kind: str) -> Entry | None:
        """One input by kind, or None."""
        return self.inputs().get(kind)

    def need(self, kind: str) -> Entry:
        """One input by kind. Raises `WorkflowError` when the step was activated without it."""
        entry = self.input(kind)
        if entry is None:
            raise WorkflowError(f"{self.lease.node} was made due without a {kind}")
        return entry

    def entry(self, kind: str, value: Value, parents: tuple[str, ...] = (), author: Author | None = None) -> Entry:
        """A new entry of this step. Its id follows from the step, so that a repeat makes the same."""
        before = self.state.board.live(kind)
        entry_id = f"{kind}.{self.lease.node}.{self.lease.visit}"
        return Entry(
            id=entry_id,
            kind=kind,
            value=value.model_dump(mode="json"),
            author=author or Author(kind="agent" if self._is_role() else "system", name=self.lease.node),
            derived_from=parents or self.lease.inputs,
            supersedes=before.id if before is not None and before.id != entry_id else None,
            at=self.context.clock.now_ms(),
        )

    def _is_role(self) -> bool:
        return self.node is not None and self.node.role is not None

    def said(self, entry: Entry) -> tuple[Event, ...]:
        """The event that an entry publishes, if any."""
        name = event_of(entry)
        if name is None:
            return ()
        data: dict[str, object] = {"entry": entry.id, "node": self.lease.node}
        if entry.kind == "human_note":
            data["via"] = str(entry.value["via"])
        return (self.event(name, data),)

    def event(self, name: str, data: dict[str, object]) -> Event:
        """An event of this step; its id follows from the step and the name."""
        return Event(
            id=f"{self.lease.task}:{name}",
            name=name,
            run=self.run.id,
            cause=self.lease.task,
            data=data,
            at=self.context.clock.now_ms(),
        )

    def done(self, *entries: Entry, ending: str | None = None, extra: tuple[Event, ...] = ()) -> Commit:
        """The step is done: these entries, and the events that follow from them."""
        events = tuple(event for entry in entries for event in self.said(entry))
        return Commit("done", entries=entries, events=(*events, *extra), ending=ending)

    def parked(self, *events: Event) -> Commit:
        """The step waits until somebody says something."""
        return Commit("parked", events=events)

    def paused(self, *events: Event, again_in_ms: int = 0) -> Commit:
        """The step waits for money, and with it whatever else of this run would spend some."""
        return Commit("paused", events=events, retry_in_ms=again_in_ms)


Step = Callable[[Work], Awaitable[Commit]]
