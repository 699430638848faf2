"""The boundary of an agent: it has the tools on its list and nothing else, whatever the model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from agents.ports import ToolError, Tools, ToolSpec
from agents.quoting import cut
from agents.role import Role
from agents.tools import TOOLS
from agents.tools.paths import WriteFilter, write_filter
from agents.tools.tool import Changes, Tool

MAX_OUTPUT = 40_000
ANYWHERE = "src/any.py"
"""A path that only who may write anything may write."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool call brought, as text for the model."""

    text: str
    is_error: bool = False


def explain(error: ValidationError) -> str:
    """A validation error as one line per field, in words."""
    return "\n".join(
        f"- {'.'.join(str(part) for part in item['loc']) or 'input'}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    )


class Router:
    """Runs a role's tool calls against one workspace. `changed` remembers that files were changed."""

    def __init__(
        self,
        tools: Tools,
        allowed: Sequence[str],
        may_write: WriteFilter,
        known: Sequence[Tool[Any]] = TOOLS,
        must_change: bool = False,
    ) -> None:
        by_name = {tool.name: tool for tool in known}
        unknown = [name for name in allowed if name not in by_name]
        if unknown:
            raise ValueError(f"no such tool: {', '.join(unknown)}; there are {', '.join(sorted(by_name))}")
        loose = [name for name in allowed if by_name[name].anywhere and may_write(ANYWHERE)]
        if loose:
            raise ValueError(f"{', '.join(loose)} can change any file, and this role may not")
        self._tools = tools
        self._allowed = {name: by_name[name] for name in allowed}
        self._may_write = may_write
        self._must_change = must_change
        self.changed = False

    @classmethod
    def for_role(cls, role: Role, tools: Tools) -> Router:
        """The router that a role gets: its list of tools and its rule on where it may write."""
        return cls(tools, role.tools, write_filter(role.may_write), must_change=role.may_write == "anything")

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The allowed tools as the model sees them, in a fixed order so that the prompt cache holds."""
        return tuple(tool.spec for tool in self._allowed.values())

    def asks(self, name: str) -> bool:
        """Whether a person has to let this call pass first."""
        tool = self._allowed.get(name)
        return tool is not None and tool.asks

    def take_changed(self) -> bool:
        """Whether files were changed since the last time this was called."""
        changed, self.changed = self.changed, False
        return changed

    async def lack(self) -> str | None:
        """What a result still wants before it can be accepted: whoever writes code has to have changed something."""
        if not self._must_change:
            return None
        try:
            diff = await self._tools.diff()
        except ToolError as error:
            return f"the change cannot be shown: {error}"
        if not diff.strip():
            return "no file differs from the base commit. Make the change; if there is none to make, say so in `notes`."
        return None

    async def run(self, name: str, given: object) -> ToolResult:
        """Run one call. What the model could do better comes back as an error result, never as an exception."""
        tool = self._allowed.get(name)
        if tool is None:
            return ToolResult(
                f"There is no tool {name!r} for you. You have: {', '.join([*self._allowed, 'submit'])}.", True
            )
        try:
            args = tool.input.model_validate(given)
        except ValidationError as error:
            return ToolResult(f"The input of {name} does not fit:\n{explain(error)}", True)
        if isinstance(args, Changes):
            refusal = next((why for path in args.changed() if (why := self._may_write(path))), None)
            if refusal:
                return ToolResult(f"Refused: {refusal}.", True)
        try:
            text = await tool.run(self._tools, args)
        except ToolError as error:
            return ToolResult(f"{name}: {error}", True)
        self.changed = self.changed or tool.mutates
        return ToolResult(cut(text, MAX_OUTPUT, "ask for less at a time") or "(no output)")
