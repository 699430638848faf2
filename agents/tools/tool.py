"""The record of a tool: how the model sees it, what it takes, and the function that works against the workspace."""

from __future__ import annotations

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


class WriteInput(ToolInput):
    """Base of the input of every tool that changes a file: the router checks `path` before the tool runs."""

    path: RepoPath


I = TypeVar("I", bound=ToolInput)  # noqa: E741


@dataclass(frozen=True)
class Tool(Generic[I]):
    """One tool. `run` gets the workspace and the checked input and returns text for the model, or raises `ToolError`.

    `mutates`: it changes files, and its input is a `WriteInput`. `asks`: a person has to let each call pass first.
    """

    name: str
    description: str
    input: type[I]
    run: Callable[[Tools, I], Awaitable[str]]
    mutates: bool = False
    asks: bool = False

    def __post_init__(self) -> None:
        if self.mutates != issubclass(self.input, WriteInput):
            raise TypeError(
                f"tool {self.name}: a tool that changes files takes a WriteInput, and only such a tool does"
            )

    @property
    def spec(self) -> ToolSpec:
        """As the model sees it. Not strict: the API compiles all strict tools of a request into one bounded grammar."""
        return ToolSpec(self.name, self.description, tool_schema(self.input, strict=False), strict=False)
