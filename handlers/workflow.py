"""Workflows as data: nodes that subscribe to events, read and write kinds. Loaded strictly, analysed before use."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agents.board import KINDS, Board
from handlers.events import OF_THE_TEAM
from handlers.outcomes import events_of_kind


class WorkflowError(ValueError):
    """The workflow cannot be used; the text names every violation, with the path that shows it."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Subscription(_Strict):
    """An event that wakes a node. `where` narrows it: each named field of the event's data is one of the values."""

    event: str
    where: dict[str, tuple[str, ...]] = {}

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return {"event": value} if isinstance(value, str) else value

    def matches(self, name: str, data: Mapping[str, object]) -> bool:
        """Whether an event of this name and data wakes the node."""
        return name == self.event and all(str(data.get(key)) in values for key, values in self.where.items())


class Guard(_Strict):
    """A condition over the board: `kind.field op constant`, or all/any/not of such; data, so it can be analysed."""

    field: str | None = None
    op: Literal["==", "!=", "in", "not in", "<", "<=", ">", ">="] = "=="
    value: object = None
    all: tuple[Guard, ...] | None = None
    any: tuple[Guard, ...] | None = None
    not_: Annotated[Guard | None, Field(alias="not")] = None

    @model_validator(mode="after")
    def _one_of(self) -> Guard:
        if sum(part is not None for part in (self.field, self.all, self.any, self.not_)) != 1:
            raise ValueError("name exactly one of field, all, any or not")
        return self

    def fields(self) -> tuple[str, ...]:
        """All fields that the guard looks at, as `kind.field`."""
        inner = (*(self.all or ()), *(self.any or ()), *((self.not_,) if self.not_ is not None else ()))
        own = () if self.field is None else (self.field,)
        return (*own, *(name for guard in inner for name in guard.fields()))

    def holds(self, board: Board) -> bool:
        """Whether the condition is true of the live board; a missing entry or field makes a comparison false."""
        if self.all is not None:
            return all_of(self.all, board)
        if self.any is not None:
            return any(guard.holds(board) for guard in self.any)
        if self.not_ is not None:
            return not self.not_.holds(board)
        kind, _, name = (self.field or "").partition(".")
        entry = board.live(kind)
        if entry is None or name not in entry.value:
            return False
        return _compare(entry.value[name], self.op, self.value)


def all_of(guards: tuple[Guard, ...], board: Board) -> bool:
    """Whether every guard holds."""
    return all(guard.holds(board) for guard in guards)


def _compare(left: object, op: str, right: object) -> bool:
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "in" | "not in":
            inside = isinstance(right, list | tuple) and left in right
            return inside is (op == "in")
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


class Node(_Strict):
    """A vertex: a role, an action or a gate. `reads` names kinds; one that ends in `?` may be missing."""

    role: str | None = None
    action: str | None = None
    gate: str | None = None
    on: tuple[Subscription, ...]
    when: Guard | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    says: tuple[str, ...] = Field(
        default=(), description="the events it can publish, where not all that its kinds allow"
    )
    via: str | None = Field(default=None, description="how people's notes that come through this node are marked")
    max_visits: int | None = Field(default=None, ge=1)
    ends: bool = Field(default=False, description="the run can end here")

    @field_validator("on", "reads", "writes", "says", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        """A plain text is a list of words: `reads: issue design?`."""
        return value.replace(",", " ").split() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_of(self) -> Node:
        if sum(part is not None for part in (self.role, self.action, self.gate)) != 1:
            raise ValueError("name exactly one of role, action or gate")
        return self

    @property
    def required(self) -> tuple[str, ...]:
        """The kinds without which the node cannot run."""
        return tuple(kind for kind in self.reads if not kind.endswith("?"))

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds that the node reads."""
        return tuple(kind.rstrip("?") for kind in self.reads)


class Workflow(_Strict):
    """A named graph. `nodes` keeps the order of the file: among steps that are due together, earlier ones go first."""

    name: str
    purpose: str = ""
    nodes: dict[str, Node]


class _Loader(yaml.SafeLoader):
    """YAML 1.1 reads the word `on` as true; here only true and false are booleans. A key that stands twice is refused,
    since the first of two nodes of one name would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        """A mapping. Raises `yaml.constructor.ConstructorError` for a key that stands twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                mark = node.value[number][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands twice", mark)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load(text: str, where: str) -> Workflow:
    """A workflow from YAML. Raises `WorkflowError` that names `where` and every violation."""
    try:
        workflow = Workflow.model_validate(yaml.load(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise WorkflowError(f"{where} is not valid YAML: {error}") from error
    except ValidationError as error:
        lines = [f"{'.'.join(str(part) for part in e['loc']) or 'the file'}: {e['msg']}" for e in error.errors()]
        raise WorkflowError(f"{where} is no workflow:\n" + "\n".join(f"- {line}" for line in lines)) from error
    unknown = _unknown_words(workflow)
    if unknown:
        raise WorkflowError(f"{where}:\n" + "\n".join(f"- {line}" for line in unknown))
    return workflow


def _unknown_words(workflow: Workflow) -> list[str]:
    problems: list[str] = []
    for name, node in workflow.nodes.items():
        for subscription in node.on:
            if subscription.event not in OF_THE_TEAM:
                problems.append(f"{name} waits for {subscription.event!r}, which nobody ever says")
        for event in node.says:
            if not any(event in events_of_kind(kind) for kind in node.writes):
                problems.append(f"{name} says {event!r}, but writes no kind that publishes it")
        for kind in (*node.kinds, *node.writes):
            if kind not in KINDS:
                problems.append(f"{name} names the kind {kind!r}; known kinds are {', '.join(sorted(KINDS))}")
        for looked_at in node.when.fields() if node.when is not None else ():
            kind, _, part = looked_at.partition(".")
            if kind not in KINDS or part not in KINDS[kind].model_fields:
                problems.append(f"{name} has a guard on {looked_at!r}, which no entry has: write kind.field")
    return problems
