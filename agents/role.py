"""What makes an agent: its name, what it reads, what it may use, what it hands in, and its limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agents.board import FileChange, Value

Tier = Literal["fast", "standard", "strong"]
Effort = Literal["low", "medium", "high"]
MayWrite = Literal["nothing", "tests", "anything"]


@dataclass(frozen=True)
class Made:
    """The work tree as the step fixed it when the role was done. Roles that only read are given the tree they read."""

    base_sha: str
    tree: str
    pack: str = ""
    files: tuple[FileChange, ...] = ()
    diff: str = ""
    outside_design: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


class Part(BaseModel):
    """Base of everything inside an output: frozen, and unknown fields are refused so that slips are seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Output(Part, ABC):
    """What a role hands in by the tool `submit`."""

    @abstractmethod
    def to_board(self, made: Made) -> tuple[str, Value]:
        """The board entry that this becomes: its kind and value. Pure."""


@dataclass(frozen=True)
class Role:
    """An agent's identity.

    `prompt` is the template's file name in `agents/roles`. `reads` are board kinds, with a question mark when the
    role can do without. `writes` are the kinds that its output can become. `seconds` bounds one model call.
    `unseen` are fields (`kind.field`) of what it reads that it is not shown.
    """

    name: str
    purpose: str
    prompt: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    output: type[Output]
    tools: tuple[str, ...]
    may_write: MayWrite
    tier: Tier
    effort: Effort
    max_turns: int
    max_tokens: int
    seconds: float
    unseen: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The kinds that the role cannot work without."""
        return tuple(kind for kind in self.reads if not kind.endswith("?"))

    @property
    def readable(self) -> tuple[str, ...]:
        """Every kind that the role may be shown, in order."""
        return tuple(kind.removesuffix("?") for kind in self.reads)
