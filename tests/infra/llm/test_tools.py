"""Tool schemas for strict mode."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, ConfigDict

from agents.board import KINDS
from agents.ports import Json, ModelError, ToolSpec
from infra.llm.tools import strict_schema, tool_params

UNSUPPORTED = {"minimum", "maximum", "minLength", "maxLength", "default", "pattern", "maxItems", "uniqueItems"}


class Inner(BaseModel):
    name: str
    weight: int | None = None


class Outer(BaseModel):
    inner: Inner
    many: tuple[Inner, ...] = ()


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    inner: str = ""


def objects_of(schema: object) -> list[dict[str, object]]:
    if isinstance(schema, list):
        return [found for part in schema for found in objects_of(part)]
    if not isinstance(schema, dict):
        return []
    mine = [schema] if schema.get("type") == "object" else []
    return mine + [found for part in schema.values() for found in objects_of(part)]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_the_board_can_be_submitted(kind: str) -> None:
    schema = strict_schema("submit", KINDS[kind].model_json_schema())
    assert all(found["additionalProperties"] is False for found in objects_of(schema))
    keys = {key for found in objects_of(schema) for part in [found, *_properties(found)] for key in part}
    assert not keys & UNSUPPORTED


def _properties(schema: dict[str, object]) -> list[dict[str, object]]:
    named = schema.get("properties")
    return list(named.values()) if isinstance(named, dict) else []


def test_references_and_descriptions_are_kept() -> None:
    schema = strict_schema("submit", Outer.model_json_schema())
    text = json.dumps(schema)
    assert "$defs" in schema
    assert "#/$defs/Inner" in text
    assert len(objects_of(schema)) == 2


def test_limits_become_words() -> None:
    given: Json = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "description": "How many"}}}
    before = json.dumps(given)
    properties = strict_schema("t", given)["properties"]
    assert properties == {"n": {"type": "integer", "description": "How many\n\n{minimum: 1}"}}
    assert json.dumps(given) == before, "the caller's schema is not changed"


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {}}, id="no-arguments"),
        pytest.param({"type": "object", "additionalProperties": False}, id="closed-without-properties"),
        pytest.param({"type": "object", "properties": {"type": {"type": "string"}}}, id="property-named-type"),
        pytest.param(
            {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}}}, id="items"
        ),
    ],
)
def test_plain_schemas_pass(schema: Json) -> None:
    assert strict_schema("t", schema)["additionalProperties"] is False


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        pytest.param({"type": "string"}, "has to be an object", id="no-object"),
        pytest.param({}, "has to be an object", id="empty"),
        pytest.param({"type": "object"}, "input takes any key", id="bare-object"),
        pytest.param(Open.model_json_schema(), "input takes any key", id="extra-allowed"),
        pytest.param(
            {"type": "object", "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}}},
            r"input\.env takes any key",
            id="mapping-inside",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
            r"input\.a\.items takes any key",
            id="object-in-list",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "object"}]}}},
            r"input\.a\.anyOf\[1\] takes any key",
            id="object-in-union",
        ),
        pytest.param({"type": "object", "properties": {"a": {}}}, "strict mode has no form", id="anything"),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}, "strict mode has no form", id="types"
        ),
        pytest.param({"type": "object", "properties": {"a": True}}, "strict mode has no form", id="schema-true"),
    ],
)
def test_what_strict_mode_cannot_hold_is_refused_by_name(schema: Json, says: str) -> None:
    with pytest.raises(ModelError, match=f"tool odd_tool: .*{says}") as caught:
        strict_schema("odd_tool", schema)
    assert caught.value.kind == "rejected"


def test_a_tool_that_is_not_strict_keeps_its_schema() -> None:
    schema: Json = {"type": "object"}
    (tool,) = tool_params((ToolSpec("free", "Anything", schema, strict=False),))
    assert tool == {"name": "free", "description": "Anything", "input_schema": schema}
