"""A repository's own settings, `.github/seconder.yml` on its default branch: what may stand there, and what is wrong.

They may only tighten what the operator set: of two numbers the stricter counts. A key whose feature this version does
not have is refused by name, so that nobody relies on it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from gates.codeowners import pattern_fault

PATH = ".github/seconder.yml"
SIZE_LIMIT = 64 * 1024
"""Bytes."""
MOST_PROBLEMS = 20

PLANNED = (
    "approvers",
    "gates.cost",
    "gates.merge",
    "gates.plan",
    "gates.security",
    "labels.hold",
    "limits.rounds",
    "limits.runs",
    "models",
    "projects",
    "roles",
    "setup",
    "sla",
    "test_command",
    "workflow",
)
"""Keys of later versions: refused by name."""


class Section(BaseModel):
    """Base: no unknown keys, no silent conversion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _pattern(text: str) -> str:
    """A path pattern as in CODEOWNERS."""
    fault = pattern_fault(text) if text.strip() else "a path pattern is empty"
    if fault is not None:
        raise ValueError(fault.replace("CODEOWNERS", "a path pattern"))
    return text


class Triggers(Section):
    """What starts a run besides the label and `/start`."""

    issues: bool = Field(True, description="Whether an issue filed by somebody with write access starts a run.")


class Labels(Section):
    """Names of labels."""

    start: str = Field(
        "seconder",
        min_length=1,
        max_length=50,
        description="The label by which somebody with triage access starts a run.",
    )


class Quality(Section):
    """The quality gate."""

    approvals: int = Field(
        1, ge=1, le=6, description="Approving reviews that a pull request needs; the strictest of all settings counts."
    )
    requester_may_approve: bool = Field(
        True, description="False: who asked for the change never counts, whatever the operator allows."
    )


class Gates(Section):
    """Where a run waits for people."""

    quality: Quality = Quality()


class Limits(Section):
    """What a run may use up."""

    budget_usd: Decimal | None = Field(
        None,
        gt=0,
        le=1000,
        strict=False,
        description="Dollars that a run may spend unasked, where that is less than the operator allows.",
    )


class Paths(Section):
    """Files by path. Patterns are written as in CODEOWNERS."""

    never_read: Annotated[
        tuple[Annotated[str, AfterValidator(_pattern)], ...],
        Field(max_length=200, strict=False, description="Files whose content and names no model gets to see."),
    ] = ()


class Config(Section):
    """All settings of a repository."""

    model_config = ConfigDict(title="Seconder's settings of a repository (.github/seconder.yml)")

    triggers: Triggers = Triggers()
    labels: Labels = Labels()
    gates: Gates = Gates()
    limits: Limits = Limits()
    paths: Paths = Paths()
    short_commands: bool = Field(
        True, description="False: only `/seconder VERB` is a command, `/VERB` belongs to somebody else."
    )


@dataclass(frozen=True)
class Problem:
    """What is wrong: on which line (from 1), with which key (dotted), and what to write instead."""

    line: int
    key: str
    what: str
    fix: str


class ConfigError(ValueError):
    """A file that cannot be used; `problems` are in the order of their lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"line {one.line}: {one.key or 'the file'} {one.what}" for one in problems))
        self.problems = problems


def schema() -> dict[str, Any]:
    """The JSON schema of the file, for editors."""
    made = Config.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def load(content: bytes) -> Config:
    """Read a configuration file; an empty one is all defaults. Raises `ConfigError` with everything that is wrong."""
    if len(content) > SIZE_LIMIT:
        raise ConfigError((Problem(1, "", f"is larger than {SIZE_LIMIT // 1024} KiB", "Shorten it."),))
    root = _compose(content)
    if root is None or (isinstance(root, yaml.ScalarNode) and root.value == "" and not root.style):
        return Config()
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    data = _plain(root, "", lines, problems)
    if not isinstance(data, dict) and not problems:
        raise ConfigError((Problem(1, "", "holds no keys", "Write `key: value` lines."),))
    if problems:
        raise ConfigError(tuple(problems[:MOST_PROBLEMS]))
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_problems(error, lines)) from error


def _compose(content: bytes) -> yaml.Node | None:
    """The file as YAML nodes, which know their lines. Raises `ConfigError`; anchors are refused, they can explode."""
    try:
        text = content.decode("utf-8-sig")
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ConfigError((Problem(line, "", "uses an anchor (`&` or `*`)", "Write the value out."),))
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError((Problem(1, "", "is no UTF-8 text", "Save it as UTF-8."),)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = f"is no YAML ({getattr(error, 'problem', None) or 'it cannot be read'})"
        raise ConfigError(
            (Problem(mark.line + 1 if mark else 1, "", what, "Look at indentation and quotes."),)
        ) from error
    except RecursionError as error:
        raise ConfigError((Problem(1, "", "is nested too deep", "Two or three levels are enough."),)) from error


def _plain(node: yaml.Node, key: str, lines: dict[str, int], problems: list[Problem]) -> object:
    """A node's value; notes each key's line, and keys that stand twice."""
    lines[key] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, f"{key}.{at}", lines, problems) for at, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return _scalar(node, key, problems)
    found: dict[str, object] = {}
    for name_node, value in node.value:
        name = name_node.value if isinstance(name_node, yaml.ScalarNode) else "?"
        inner = f"{key}.{name}" if key else name
        if name in found:
            line = name_node.start_mark.line + 1
            problems.append(Problem(line, inner, "stands twice", "Keep one of the two."))
        found[name] = _plain(value, inner, lines, problems)
        lines[inner] = name_node.start_mark.line + 1
    return found


def _scalar(node: yaml.Node, key: str, problems: list[Problem]) -> object:
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError):
        problems.append(Problem(node.start_mark.line + 1, key, "cannot be read", "Write a plain value."))
        return None


def _problems(error: ValidationError, lines: Mapping[str, int]) -> tuple[Problem, ...]:
    found = []
    for fault in error.errors(include_url=False, include_input=False):
        key = ".".join(str(part) for part in fault["loc"])
        what, fix = _in_words(fault["type"], fault["msg"], key)
        found.append(Problem(lines.get(key, 1), key, what, fix))
    return tuple(sorted(found, key=lambda one: (one.line, one.key)))[:MOST_PROBLEMS]


def _in_words(kind: str, message: str, key: str) -> tuple[str, str]:
    if kind != "extra_forbidden":
        text = message.removeprefix("Value error, ").removeprefix("Input ")
        return f"{text[0].lower()}{text[1:]}", f"See {', '.join(f'`{one}`' for one in _beside(key))}."
    if key in PLANNED:
        return "is not in this version", "Leave it out: nothing would come of it."
    beside = _beside(key)
    parent = key.rpartition(".")[0]
    close = difflib.get_close_matches(key, beside, n=1, cutoff=0.7)
    fix = f"Did you mean `{close[0]}`?" if close else f"Known here: {', '.join(f'`{one}`' for one in beside)}."
    return "is no key" + (f" of `{parent}`" if parent else ""), fix


def _beside(key: str) -> list[str]:
    """The keys that a section knows, dotted; the key itself where it is one of them."""
    known, prefix = Config.model_fields, ""
    for part in key.split("."):
        inner = known[part].annotation if part in known else None
        if not (isinstance(inner, type) and issubclass(inner, Section)) or key == f"{prefix}{part}":
            return [f"{prefix}{part}"] if part in known else [f"{prefix}{name}" for name in known]
        known, prefix = inner.model_fields, f"{prefix}{part}."
    return [f"{prefix}{name}" for name in known]
