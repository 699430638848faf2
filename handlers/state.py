"""A run's state as a fold of its log: board, steps, what was said, what it cost. A pure function of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.board import Board, Entry
from handlers.ports import LogRecord


@dataclass
class Step:
    """One activation of a node. `seen` is the log position that its activation had seen."""

    task: str
    node: str
    visit: int
    inputs: tuple[str, ...]
    writes: tuple[str, ...]
    seen: int
    state: Literal["open", "done", "failed"] = "open"
    error: str = ""
    started_at: int = 0
    ended_at: int = 0
    ended: int = 0


@dataclass
class Said:
    """An event in the run's log."""

    position: int
    name: str
    data: Mapping[str, object]
    at: int


@dataclass
class Bill:
    """What a node's calls used: calls, tokens in and out, micro-dollars, seconds, and the models that answered."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cost: int = 0
    seconds: float = 0.0
    models: set[str] = field(default_factory=set)


@dataclass
class NodeState:
    """What the log says of one node."""

    seen: int = 0
    before: int = 0
    visits: int = 0
    since_person: int = 0
    retries: int = 0
    failed: bool = False


class RunState:
    """The fold. Feed it records in order; it remembers the position up to which it has read."""

    def __init__(self) -> None:
        self.position = 0
        self.board = Board()
        self.steps: dict[str, Step] = {}
        self.keys: set[str] = set()
        self.said: list[Said] = []
        self.nodes: dict[str, NodeState] = {}
        self.bills: dict[str, Bill] = {}
        self.receipts: dict[str, Mapping[str, object]] = {}
        self.last_tool: dict[str, str] = {}
        self.notes: list[str] = []
        self.cancelled: str | None = None
        self.last_turn = 0

    def feed(self, records: Iterable[LogRecord]) -> RunState:
        """Fold in records that follow what was read; ones read before are passed over."""
        for record in records:
            if record.position > self.position:
                self._one(record)
                self.position = record.position
        return self

    def node(self, name: str) -> NodeState:
        """What the log says of a node; an empty state when it says nothing yet."""
        return self.nodes.setdefault(name, NodeState())

    def open_steps(self) -> tuple[Step, ...]:
        """Steps that were activated and have not ended."""
        return tuple(step for step in self.steps.values() if step.state == "open")

    def last(self, *names: str) -> Said | None:
        """The newest event of one of these names."""
        return next((said for said in reversed(self.said) if said.name in names), None)

    def worked_since(self, position: int) -> bool:
        """Whether a turn was stored behind this position."""
        return self.last_turn > position

    @property
    def models(self) -> frozenset[str]:
        """All models that answered in this run."""
        return frozenset(model for bill in self.bills.values() for model in bill.models)

    def _one(self, record: LogRecord) -> None:
        match record.type:
            case "entry":
                self._entry(Entry.model_validate(record.data))
            case "event":
                self._event(record)
            case "activated":
                self._activated(record)
            case "ended":
                self._ended(record)
            case "turn":
                self._turn(record)
            case "receipt":
                self.receipts[str(record.data["key"])] = _mapping(record.data["receipt"])
            case "note":
                if "cancel" in record.data:
                    self.cancelled = str(record.data["cancel"])
                if record.data.get("error"):
                    self.notes.append(f"{record.data.get('node')}: {record.data['error']}")
            case "run" | "attempt":
                pass

    def _entry(self, entry: Entry) -> None:
        self.board.add(entry)
        # A note is written only for people with write; a review is recorded whoever wrote it.
        if entry.author.kind == "person" and entry.kind == "human_note":
            for node in self.nodes.values():
                node.since_person = 0

    def _event(self, record: LogRecord) -> None:
        data = _mapping(record.data.get("data", {}))
        name = str(record.data["name"])
        self.said.append(Said(record.position, name, data, record.at))
        if name == "visits_exhausted":
            self.node(str(data["node"])).seen = record.position
        if name == "run_resumed":
            for state in self.nodes.values():
                if state.failed:
                    state.failed, state.seen = False, state.before
                    state.retries += 1

    def _activated(self, record: LogRecord) -> None:
        data = record.data
        step = Step(
            task=str(data["task"]),
            node=str(data["node"]),
            visit=int(str(data["visit"])),
            inputs=_texts(data["inputs"]),
            writes=_texts(data["writes"]),
            seen=record.position,
            started_at=record.at,
        )
        self.steps[step.task] = step
        self.keys.add(str(data.get("key", "")))
        node = self.node(step.node)
        node.before, node.seen = node.seen, record.position
        node.visits += 1
        node.since_person += 1

    def _ended(self, record: LogRecord) -> None:
        step = self.steps.get(str(record.data["task"]))
        if step is None:
            return
        step.state = "failed" if record.data["outcome"] == "failed" else "done"
        step.error = str(record.data.get("error", ""))
        step.ended_at = record.at
        step.ended = record.position
        self.node(step.node).failed = step.state == "failed"

    def _turn(self, record: LogRecord) -> None:
        data = record.data
        self.last_turn = record.position
        node = str(data["node"])
        bill = self.bills.setdefault(node, Bill())
        if data.get("kind") == "reply":
            usage = _mapping(data.get("usage", {}))
            number = {key: int(str(value)) for key, value in usage.items()}
            bill.calls += 1
            bill.tokens_out += number.get("output_tokens", 0)
            bill.cached += number.get("cache_read_tokens", 0)
            bill.tokens_in += sum(v for k, v in number.items() if k != "output_tokens")
            bill.cost += int(str(data.get("cost", 0)))
            bill.seconds += float(str(data.get("seconds", 0)))
            bill.models.add(str(data.get("model", "")))
        tools = _texts(data.get("tools", ()))
        if tools:
            self.last_tool[node] = tools[-1]


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()
