"""A run's state as a fold of its log: board, steps, what was said, what it cost. A pure function of the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ValidationError

from agents.board import KINDS, Board, Entry
from handlers.events import SCHEMA_VERSION
from handlers.ports import RECORD_VERSION, LogRecord, LogUnreadable


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
    """What the log says of one node. `ended`: the position at which a step of it ended last."""

    seen: int = 0
    before: int = 0
    ended: int = 0
    visits: int = 0
    since_person: int = 0
    retries: int = 0
    failed: bool = False


class RunState:
    """The fold. Feed it records in order; it remembers the position up to which it has read, and the chain there.

    `strange` names what this version does not know, by where it stands; `erased` counts records without content.
    What is asked for at every step is kept by name, so that a step costs the same in a short run and in a long one.
    """

    def __init__(self) -> None:
        self.position = 0
        self.chain = ""
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
        self.ending: str | None = None
        self.last_turn = 0
        self.strange: dict[str, str] = {}
        self.erased = 0
        self.wrote: dict[str, Entry] = {}
        self._heard: dict[str, list[Said]] = {}
        self._newest: dict[tuple[str, str, str], int] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._open: dict[str, Step] = {}

    def feed(self, records: Iterable[LogRecord], run: str = "") -> RunState:
        """Fold in records that follow what was read; ones read before are passed over. Raises `LogUnreadable`."""
        for record in records:
            if record.position > self.position:
                try:
                    self._one(record)
                except (KeyError, ValueError, TypeError) as error:
                    why = f"it is no {record.type}: {type(error).__name__} {error}"
                    raise LogUnreadable(run, record.position, why[:500]) from error
                self.position, self.chain = record.position, record.chain
        return self

    def node(self, name: str) -> NodeState:
        """What the log says of a node; an empty state when it says nothing yet."""
        return self.nodes.setdefault(name, NodeState())

    def open_steps(self) -> tuple[Step, ...]:
        """Steps that were activated and have not ended."""
        return tuple(self._open.values())

    def heard(self, name: str) -> Sequence[Said]:
        """All events of this name, oldest first."""
        return self._heard.get(name, ())

    def entries(self, kind: str) -> Sequence[Entry]:
        """All entries of this kind, replaced ones too, oldest first."""
        return self._entries.get(kind, ())

    def last(self, *names: str) -> Said | None:
        """The newest event of one of these names."""
        newest = (self._heard[name][-1] for name in names if name in self._heard)
        return max(newest, key=lambda said: said.position, default=None)

    @property
    def held(self) -> bool:
        """Whether the label that stops everything was on when it was last looked at."""
        last = self.last("hold_set", "hold_lifted")
        return last is not None and last.name == "hold_set"

    def worked_since(self, position: int) -> bool:
        """Whether a turn was stored behind this position."""
        return self.last_turn > position

    @property
    def models(self) -> frozenset[str]:
        """All models that answered in this run."""
        return frozenset(model for bill in self.bills.values() for model in bill.models)

    def add(self, entry: Entry) -> None:
        """Lay an entry onto the board."""
        self.board.add(entry)
        self._entries.setdefault(entry.kind, []).append(entry)
        if entry.author.kind == "agent":
            self.wrote[entry.author.name] = entry

    def say(self, said: Said) -> None:
        """Remember an event."""
        self.said.append(said)
        self._heard.setdefault(said.name, []).append(said)
        for key, value in said.data.items():
            self._newest[said.name, key, str(value)] = said.position

    def newest(self, name: str, key: str, value: str) -> int:
        """The position of the newest event of this name in whose data `key` is `value`; 0 when there is none."""
        return self._newest.get((name, key, value), 0)

    def begin(self, step: Step) -> None:
        """Remember a step."""
        self.steps[step.task] = step
        if step.state == "open":
            self._open[step.task] = step

    def _one(self, record: LogRecord) -> None:
        self.erased += record.erased
        if record.v > RECORD_VERSION:
            self.strange[f"record {record.position}"] = f"its schema is {record.v}, newer than {RECORD_VERSION}"
            return
        match record.type:
            case "entry":
                if not record.erased:
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
                self._note(record.data)
            case "run" | "attempt":
                pass
            case unknown:
                self.strange[f"record {record.position}"] = f"nothing is known of the type {str(unknown)!r}"

    def _entry(self, entry: Entry) -> None:
        if self.board.get(entry.id) is None:
            self.add(entry)
            self._known(entry)
        # A note is written only for people with write; a review is recorded whoever wrote it.
        if entry.author.kind == "person" and entry.kind == "human_note":
            for node in self.nodes.values():
                node.since_person = 0

    def _event(self, record: LogRecord) -> None:
        data = _mapping(record.data.get("data", {}))
        name, version = str(record.data["name"]), int(str(record.data.get("v", SCHEMA_VERSION)))
        if version > SCHEMA_VERSION:
            self.strange[f"event {name} at {record.position}"] = f"its schema is {version}, newer than {SCHEMA_VERSION}"
            return
        self.say(Said(record.position, name, data, record.at))
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
        self.begin(step)
        self.keys.add(str(data.get("key", "")))
        node = self.node(step.node)
        node.before, node.seen = node.seen, record.position
        node.visits += 1
        node.since_person += 1

    def _note(self, data: Mapping[str, object]) -> None:
        if "cancel" in data:
            self.cancelled = str(data["cancel"])
        elif data.get("cause") and "outcome" not in data:
            self.cancelled = "stopped"  # the reason was erased
        if data.get("error"):
            self.notes.append(f"{data.get('node')}: {data['error']}")

    def _known(self, entry: Entry) -> None:
        model = KINDS.get(entry.kind)
        try:
            if model is None:
                self.strange[f"entry {entry.id}"] = f"nothing is known of the kind {entry.kind!r}"
            else:
                model.model_validate(entry.value)
        except ValidationError as error:
            what = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
            self.strange[f"entry {entry.id}"] = f"it is no {entry.kind} as this version knows it ({what})"

    def _ended(self, record: LogRecord) -> None:
        if record.data.get("ending"):
            self.ending = str(record.data["ending"])
        step = self.steps.get(str(record.data["task"]))
        if step is None:
            return
        step.state = "failed" if record.data["outcome"] == "failed" else "done"
        step.error = str(record.data.get("error", ""))
        step.ended_at = record.at
        step.ended = record.position
        self._open.pop(step.task, None)
        node = self.node(step.node)
        node.failed, node.ended = step.state == "failed", record.position

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
