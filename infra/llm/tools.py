"""Tool definitions as the Messages API takes them, with schemas that strict mode accepts."""

from __future__ import annotations

from typing import cast

import anthropic
from anthropic.types import ToolParam

from agents.ports import Json, ModelError, ToolSpec


def tool_params(tools: tuple[ToolSpec, ...]) -> list[ToolParam]:
    """The tools in their order. Raises `ModelError` rejected, naming the tool, for a schema that cannot be strict."""
    return [_tool_param(tool) for tool in tools]


def _tool_param(tool: ToolSpec) -> ToolParam:
    if not tool.strict:
        return ToolParam(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
    return ToolParam(
        name=tool.name, description=tool.description, input_schema=strict_schema(tool.name, tool.schema), strict=True
    )


def strict_schema(name: str, schema: Json) -> Json:
    """`schema` for `strict: true`: closed objects, and keywords that the grammar does not know moved into descriptions.

    The rewriting is the SDK's (`anthropic.transform_schema`). It closes every object, so an object with free keys would
    quietly become one that is always empty; such a schema is refused here instead. Raises `ModelError` rejected.
    Source: Claude API docs, "Structured outputs", JSON Schema limitations.
    """
    if schema.get("type") != "object":
        raise _refused(name, "the schema of a tool's input has to be an object")
    free = _free_keys(schema, "input")
    if free is not None:
        raise _refused(name, f"{free} takes any key; list its properties, use a list of pairs, or set strict=False")
    try:
        return cast("Json", anthropic.transform_schema(schema))
    except (ValueError, AssertionError, TypeError, AttributeError) as error:
        why = f"strict mode has no form for its schema ({error}); simplify it or set strict=False"
        raise _refused(name, why) from error


_CARRY_SCHEMAS = frozenset({"items", "anyOf", "oneOf", "allOf"})


def _free_keys(schema: object, where: str) -> str | None:
    """The place of the first object that allows unnamed keys, or None."""
    if isinstance(schema, list):
        parts = [(f"{where}[{index}]", part) for index, part in enumerate(schema)]
    elif isinstance(schema, dict):
        closed = schema.get("additionalProperties")
        if schema.get("type") == "object" and (closed or (closed is None and "properties" not in schema)):
            return where
        parts = [(f"{where}.{key}", part) for key, part in schema.items() if key in _CARRY_SCHEMAS]
        for named in (schema.get("properties"), schema.get("$defs")):
            parts += [(f"{where}.{key}", part) for key, part in named.items()] if isinstance(named, dict) else []
    else:
        return None
    found = (_free_keys(part, place) for place, part in parts)
    return next((place for place in found if place is not None), None)


def _refused(name: str, why: str) -> ModelError:
    return ModelError("rejected", f"tool {name}: {why}")
