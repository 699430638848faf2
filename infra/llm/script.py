"""Scripts for the scripted model: what each role says in each round and turn, as YAML.

    script: The sample repository's date bug
    latency_s: 0.3
    roles:
      developer:
        - round: 1
          turns:
            - say: I read the failing function first.
              calls: [{tool: read_file, input: {path: src/tally/dates.py}}]
            - submit: {summary: Read the month before the day}
        - round: any
          turns: [{say: Nothing left to do.}]

A turn has at least one of `think`, `say`, `calls` and `submit` (short for a call of the tool `submit`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator, model_validator

_SHAPES = {
    "calls": "a call is {tool: NAME, input: {...}}",
    "turns": "a turn has one or more of think, say, calls and submit, and optionally latency_s",
    "roles": "a role is a list of parts, each {round: NUMBER or any, turns: [...]}",
}


class ScriptError(ValueError):
    """A script that cannot be played; the text names the file, the line, the place and what belongs there."""


class MissingTurn(LookupError):
    """The script has nothing for this role, round and turn."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(_Part):
    """One tool call."""

    tool: Annotated[str, Field(min_length=1, max_length=128)]
    input: dict[str, JsonValue] = Field(default_factory=dict)


class ScriptTurn(_Part):
    """What the model answers in one turn; `latency_s` overrides the script's pause."""

    think: str | None = Field(default=None, min_length=1)
    say: str | None = Field(default=None, min_length=1)
    calls: tuple[Call, ...] = ()
    submit: dict[str, JsonValue] | None = None
    latency_s: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _not_empty(self) -> ScriptTurn:
        if self.think is None and self.say is None and not self.calls and self.submit is None:
            raise ValueError("the turn is empty")
        return self

    @property
    def all_calls(self) -> tuple[Call, ...]:
        """The calls in their order, `submit` last."""
        return self.calls if self.submit is None else (*self.calls, Call(tool="submit", input=self.submit))


class Part(_Part):
    """The turns of one round; `any` is for rounds that have no part of their own."""

    round: Annotated[int, Field(ge=1, strict=True)] | Literal["any"] = "any"
    turns: Annotated[tuple[ScriptTurn, ...], Field(min_length=1)]


class Script(_Part):
    """A whole script. `script` is its title, shown wherever a person looks."""

    script: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\r\n]+$")]
    roles: Annotated[dict[str, tuple[Part, ...]], Field(min_length=1)]
    latency_s: float = Field(default=0.0, ge=0)

    @field_validator("roles")
    @classmethod
    def _rounds_once(cls, roles: dict[str, tuple[Part, ...]]) -> dict[str, tuple[Part, ...]]:
        for role, parts in roles.items():
            rounds = [part.round for part in parts]
            twice = next((number for number in rounds if rounds.count(number) > 1), None)
            if twice is not None:
                raise ValueError(f"role {role} has round {twice} twice; put all its turns into one part")
        return roles

    def turn(self, role: str, round_number: int, turn: int) -> ScriptTurn:
        """The answer for a role in a round at a turn, both counted from 1. Raises `MissingTurn`, saying why."""
        parts = self.roles.get(role)
        if parts is None:
            raise MissingTurn(f"{self._at(role, round_number, turn)}; the script knows {', '.join(sorted(self.roles))}")
        exact = next((part for part in parts if part.round == round_number), None)
        part = exact or next((part for part in parts if part.round == "any"), None)
        if part is None:
            rounds = ", ".join(str(part.round) for part in parts)
            raise MissingTurn(f"{self._at(role, round_number, turn)}; the role has round {rounds}")
        if turn > len(part.turns):
            raise MissingTurn(f"{self._at(role, round_number, turn)}; the part has {len(part.turns)} turns")
        return part.turns[turn - 1]

    def _at(self, role: str, round_number: int, turn: int) -> str:
        return f"the script {self.script!r} has no answer for role {role}, round {round_number}, turn {turn}"


def load_script(path: Path) -> Script:
    """Read a script file (UTF-8 YAML). Raises `ScriptError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: cannot be read as UTF-8 text ({error}); name an existing script file") from error
    return parse_script(text, str(path))


def parse_script(text: str, name: str) -> Script:
    """A script from YAML text; `name` is what errors call it. Raises `ScriptError`."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_doubles(node, name)
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"{name}: this is no valid YAML: {error}") from error
    if not isinstance(raw, dict):
        raise ScriptError(f"{name}: a script is a mapping with the keys script and roles")
    try:
        return Script.model_validate(raw)
    except ValidationError as error:
        found = (_explain(detail["loc"], detail["msg"], node, name) for detail in error.errors())
        raise ScriptError("\n".join(found)) from None


def _refuse_doubles(root: yaml.Node | None, name: str) -> None:
    """YAML's reader keeps the last of two equal keys in silence; in a script that loses turns."""
    waiting, visited = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            waiting.extend(value for _, value in node.value)
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for index, key in enumerate(keys):
                if any(key.value == other.value for other in keys[:index]):
                    raise ScriptError(
                        f"{name}, line {key.start_mark.line + 1}: the key {key.value!r} stands here twice"
                    )


def _explain(loc: Sequence[int | str], message: str, node: yaml.Node | None, name: str) -> str:
    """One validation error with its line, its path as in the file, and the shape that belongs there."""
    path, line = "", 1
    for step in loc:
        child = _child(node, step)
        if child is None:
            path += f".{step}" if isinstance(step, str) and step not in _UNION_STEPS else ""
            continue
        node, line = child, child.start_mark.line + 1
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    shape = next((text for key, text in _SHAPES.items() if f".{key}[" in path or path.endswith(f".{key}")), "")
    if not shape and path.startswith(".roles."):
        shape = _SHAPES["roles"]
    hint = f" ({shape})" if shape else ""
    return f"{name}, line {line}: {path.lstrip('.') or 'the script'}: {message}{hint}"


_UNION_STEPS = frozenset({"int", "literal['any']", "constrained-int"})
"""Steps that pydantic adds to a location for the branches of a union; the file has no such keys."""


def _child(node: yaml.Node | None, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None
