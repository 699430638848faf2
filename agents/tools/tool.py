"""The record of a tool: how the model sees it, what it takes, and the function that works against the workspace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agents.ports import Tools, ToolSpec
from agents.schema import tool_schema
from agents.tools.paths import clean_path

RepoPath = Annotated[str, AfterValidator(clean_path), Field(description="path relative to the repository's root")]


class ToolInput(BaseModel):
    """Base of every tool's input: frozen, and unknown fields are refused so that the model hears of a slip."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Changes(ToolInput, ABC):
    """Base of the input of every tool that names the files that it changes: the router checks them before it runs."""

    @abstractmethod
    def changed(self) -> tuple[str, ...]:
        """The clean paths of the files."""


class WriteInput(Changes):
    """The input of a tool that changes one file."""

    path: RepoPath

    def changed(self) -> tuple[str, ...]:
        """The one path."""
        return (self.path,)


I = TypeVar("I", bound=ToolInput)  # noqa: E741


@dataclass(frozen=True)
class Tool(Generic[I]):
    """One tool. `run` gets the workspace and the checked input and returns text for the model, or raises `ToolError`.

    `mutates`: it changes files, and its input names them, unless it changes files `anywhere`: that is for roles that
    may write anything. `asks`: a person has to let each call pass first.
    """

    name: str
    description: str
    input: type[I]
    run: Callable[[Tools, I], Awaitable[str]]
    mutates: bool = False
    anywhere: bool = False
    asks: bool = False

    def __post_init__(self) -> None:
        if self.mutates != (self.anywhere or issubclass(self.input, Changes)):
            raise TypeError(f"tool {self.name}: a tool that changes files takes a WriteInput or another of Changes")

    @property
    def spec(self) -> ToolSpec:
        """As the model sees it. Not strict: the API compiles all strict tools of a request into one bounded grammar."""
        return ToolSpec(self.name, self.description, tool_schema(self.input, strict=False), strict=False)
