"""A developer's step on fakes, so that a test says only what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from agents.board import Author, Entry, Requirement, Requirements, Value
from agents.loop import Ports, Step, run
from agents.ports import Json, ModelError, ModelRequest, Prices, Reply, Turn, Usage
from agents.role import Role
from agents.roles import role
from agents.stops import Stop
from agents.tools.router import Router
from agents.views import build_view
from tests.fakes.journal import FakeJournal
from tests.fakes.model import FakeModel, in_order
from tests.fakes.prices import FakePrices
from tests.fakes.tools import FakeTools

DELIMITER = "d3l1m1t3r0"
USAGE = Usage(input_tokens=1000, output_tokens=100)
COST = 1500
"""Of one reply with `USAGE`, at the fake prices."""


def entry(kind: str, value: Value, entry_id: str = "") -> Entry:
    """A board entry by the system."""
    return Entry(
        id=entry_id or f"e-{kind}",
        kind=kind,
        value=value.model_dump(mode="json"),
        author=Author(kind="system", name="seconder"),
    )


REQUIREMENTS = Requirements(
    summary="Add two numbers.",
    items=(Requirement(id="R1", text="add(1, 2) is 3", criteria=("add(1, 2) == 3",)),),
)


def block(call_id: str, name: str, **given: object) -> Json:
    """A tool call as the model writes it."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def submit(call_id: str = "s1", **given: object) -> Json:
    """A valid submission of the developer, unless `given` says otherwise."""
    return block(call_id, "submit", **(given or {"summary": "Add it."}))


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def reply(*blocks: Json, stop: str = "tool_use", usage: Usage = USAGE) -> Reply:
    """A reply with these blocks."""
    return Reply(blocks, stop, usage, "claude-sonnet-5-5", "req_1", 2.0)


@dataclass
class Scene:
    """Everything that one run of the loop works with; `play` runs it."""

    replies: Sequence[Reply | ModelError]
    turns: tuple[Turn, ...] = ()
    journal: FakeJournal = field(default_factory=FakeJournal)
    tools: FakeTools = field(default_factory=lambda: FakeTools({"a.py": "x = 1\n"}, base={"a.py": "x = 0\n"}))
    steers: tuple[str, ...] = ()
    granted: frozenset[str] = frozenset()
    max_turns: int = 60
    max_tokens: int = 32_000
    router: Router | None = None
    prices: Prices = field(default_factory=FakePrices)

    def __post_init__(self) -> None:
        self.model = FakeModel(in_order(*self.replies))
        self.journal.turns = list(self.turns) or self.journal.turns

    @property
    def role(self) -> Role:
        return replace(role("developer"), max_turns=self.max_turns, max_tokens=self.max_tokens)

    async def play(self) -> Stop:
        view = build_view(self.role, {"requirements": entry("requirements", REQUIREMENTS)}, 1, DELIMITER)
        router = self.router or Router.for_role(self.role, self.tools)
        ports = Ports(self.model, self.prices, self.journal, router, self.tools.fix)
        step = Step(self.role, "claude-sonnet-5-5", view, self.turns, self.steers, self.granted)
        return await run(step, ports)

    @property
    def requests(self) -> list[ModelRequest]:
        return self.model.requests


def content(turn: Turn, kind: str = "tool_result") -> list[Json]:
    """The blocks of one type in a turn."""
    return [found for found in turn.content if found["type"] == kind]


def texts(turn: Turn) -> str:
    """All text blocks of a turn, joined."""
    return "\n".join(str(found["text"]) for found in content(turn, "text"))


def marks(request: ModelRequest) -> int:
    """Cache marks in a request."""
    blocks = [*request.system]
    for message in request.messages:
        blocks += cast("list[Json]", message["content"])
    return sum("cache_control" in found for found in blocks)
