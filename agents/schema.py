"""JSON schemas as the Messages API takes them for tools.

Strict tools accept a subset of JSON Schema: `additionalProperties: false` on every object, no length or number
bounds, no recursion (Claude docs: Structured outputs, JSON Schema limitations). Bounds that the subset lacks are
checked by pydantic when the input arrives.
"""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel

from agents.ports import Json

_KEPT = ("type", "description", "enum", "const", "anyOf", "items", "properties", "required", "additionalProperties")


def tool_schema(model: type[BaseModel], *, strict: bool) -> Json:
    """The model's schema with references inlined. `strict` also makes every property required, defaults or not."""
    schema = model.model_json_schema()
    definitions = cast("dict[str, Json]", schema.get("$defs", {}))
    return _plain(schema, definitions, strict)


def _plain(node: Json, definitions: dict[str, Json], strict: bool) -> Json:
    reference = node.get("$ref")
    if isinstance(reference, str):
        target = definitions[reference.removeprefix("#/$defs/")]
        return _plain({**target, **{key: value for key, value in node.items() if key != "$ref"}}, definitions, strict)
    plain: Json = {key: value for key, value in node.items() if key in _KEPT}
    if isinstance(node.get("items"), dict):
        plain["items"] = _plain(cast("Json", node["items"]), definitions, strict)
    if isinstance(node.get("anyOf"), list):
        plain["anyOf"] = [_plain(option, definitions, strict) for option in cast("list[Json]", node["anyOf"])]
    if isinstance(node.get("properties"), dict):
        properties = cast("dict[str, Json]", node["properties"])
        plain["properties"] = {name: _plain(value, definitions, strict) for name, value in properties.items()}
        plain["additionalProperties"] = False
        if strict:
            plain["required"] = list(properties)
    return plain
