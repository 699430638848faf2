"""A run's log in the making, for tests of its folds."""

from __future__ import annotations

from collections.abc import Mapping

from agents.board import Author, Entry
from handlers.ports import LogRecord, NewTask, RecordType
from handlers.state import RunState

PERSON = Author(kind="person", name="rita", id=5)
AGENT = Author(kind="agent", name="developer")


class Log:
    """A log in the making."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def add(self, kind: RecordType, data: Mapping[str, object]) -> Log:
        number = len(self.records) + 1
        self.records.append(LogRecord(number, kind, data, number * 1000))
        return self

    def event(self, name: str, **data: object) -> Log:
        return self.add("event", {"id": name, "name": name, "data": data})

    def activated(self, node: str, visit: int = 1, inputs: tuple[str, ...] = ()) -> Log:
        data = {"task": f"r/{node}.{visit}", "node": node, "visit": visit, "inputs": list(inputs), "writes": ["code"]}
        return self.add("activated", {**data, "key": f"{node}|{visit}"})

    def ended(self, node: str, visit: int = 1, outcome: str = "done", error: str = "") -> Log:
        return self.add("ended", {"task": f"r/{node}.{visit}", "node": node, "outcome": outcome, "error": error})

    def entry(self, kind: str, author: Author, value: Mapping[str, object], entry_id: str = "") -> Log:
        made = Entry(id=entry_id or f"{kind}.{len(self.records)}", kind=kind, value=dict(value), author=author)
        return self.add("entry", made.model_dump())

    def reply(self, node: str, **more: object) -> Log:
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 300, "cache_write_tokens": 7}
        data = {"node": node, "kind": "reply", "usage": usage, "cost": 50, "seconds": 1.5, "model": "m", **more}
        return self.add("turn", data)

    def state(self) -> RunState:
        return RunState().feed(self.records)

    def task(self, task: NewTask) -> Log:
        """What ACTIVATE writes for a task that was decided on."""
        data = {"task": f"r/{task.node}.{task.visit}", "node": task.node, "visit": task.visit, "key": task.key}
        return self.add("activated", {**data, "inputs": list(task.inputs), "writes": list(task.writes)})
