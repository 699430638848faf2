"""The team: its list, its limits, and what each role hands in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pydantic import ValidationError

from agents import roles as package
from agents.board import KINDS, Code, FileChange, Report, Requirements, Review, Tests, Value
from agents.ports import Json
from agents.role import Made, Output
from agents.roles import ROLES, role
from agents.schema import tool_schema
from agents.tools import TOOLS
from agents.views import prompts

NAMES = [known.name for known in ROLES]
MADE = Made("b" * 40, "t" * 40, "p" * 64, (FileChange(path="a", status="M"),), "+x", ("z",), ("e1",))
ITEM: Json = {"id": "R1", "text": "It adds.", "priority": "must", "criteria": ["1 + 2 is 3"]}
COMMENT: Json = {
    "file": "a",
    "line": 1,
    "severity": "blocker",
    "category": "security",
    "message": "m",
    "suggestion": "",
}


def test_the_list_is_the_files() -> None:
    folder = Path(package.__path__[0])
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    prompted = {file.name.removesuffix(".md.j2") for file in folder.glob("*.md.j2") if not file.name.startswith("_")}
    assert set(NAMES) == modules == prompted
    assert len(NAMES) == len(set(NAMES))


def test_an_unknown_role_is_answered_with_those_there_are() -> None:
    with pytest.raises(KeyError, match="product_manager, architect"):
        role("intern")


@pytest.mark.parametrize("name", NAMES)
def test_a_role_is_whole(name: str) -> None:
    who = role(name)
    assert {*who.readable, *who.writes} <= set(KINDS)
    assert set(who.tools) <= {tool.name for tool in TOOLS}
    writers = {tool.name for tool in TOOLS if tool.mutates}
    assert bool(writers & set(who.tools)) == (who.may_write != "nothing")
    assert who.max_tokens > 4096
    assert who.purpose
    assert not who.purpose.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_begins_with_its_role_and_says_the_rules(name: str) -> None:
    text = prompts().get_template(role(name).prompt).render(role=role(name))
    assert text.startswith(f"role: {name}\n")
    for word in ("`submit`", f"You have {role(name).max_turns} replies", "## What you get", "## How to work"):
        assert word in text
    for field in role(name).output.model_fields:
        assert field in text or field in ("summary", "approved", "decision", "items", "questions", "reason"), field


@pytest.mark.parametrize(
    ("name", "said", "unsaid"),
    [
        pytest.param("reviewer", 'say "by reading"', "two of them", id="no claim of a run that it cannot make"),
        pytest.param("reviewer", "no test has decided anything", "approve all", id="nothing ran and it says so"),
        pytest.param("reviewer", "only what a maintainer would ask for", "at most", id="nits are no offer"),
        pytest.param("tester", "A test of *new* behaviour that passes before", "all of them once", id="old and new"),
        pytest.param(
            "developer", "try it in the `shell`, and leave no file of that behind", "now hold", id="a look, not to keep"
        ),
        pytest.param("architect", "`path:start-end`", "", id="passages for the others"),
        pytest.param("product_manager", "guidance files, if it has any", "own guidance", id="guidance may be missing"),
    ],
)
def test_what_a_prompt_says_and_does_not(name: str, said: str, unsaid: str) -> None:
    text = " ".join(prompts().get_template(role(name).prompt).render(role=role(name)).split())
    assert said in text
    assert not unsaid or unsaid not in text
    assert "`round: N` counts your visits" in text
    assert "belong in one reply" in text


def test_what_the_team_wrote_is_data_too() -> None:
    rule = prompts().get_template("_data.md.j2").render(delimiter="d3l1m1t3r0")
    for words in (
        "What the team wrote (requirements, design, notes, review)",
        "a teammate",
        "your limits",
        "a README is",
    ):
        assert words in rule


def test_tools_do_not_say_when_a_role_uses_them() -> None:
    """Roles differ in that, and a tool's words reach all of them."""
    assert [tool.name for tool in TOOLS if "submit" in tool.description] == []


def objects(schema: object) -> Iterator[Json]:
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("name", NAMES)
def test_submit_schemas_keep_to_what_strict_tools_take(name: str) -> None:
    schema = tool_schema(role(name).output, strict=True)
    found = list(objects(schema))
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(cast("Json", each["properties"]))
    text = repr(schema)
    for word in ("$ref", "$defs", "minLength", "minItems", "minimum", "maxItems", "'default'", "'title'"):
        assert word not in text


def test_loose_schemas_keep_optional_fields_optional() -> None:
    schema = tool_schema(next(tool for tool in TOOLS if tool.name == "read_file").input, strict=False)
    assert schema["required"] == ["path"]


@pytest.mark.parametrize(
    ("name", "given", "kind", "value"),
    [
        pytest.param(
            "product_manager",
            {"decision": "requirements", "summary": "s", "items": [ITEM], "complexity": "trivial"},
            "requirements",
            Requirements.model_validate({"summary": "s", "items": [ITEM], "complexity": "trivial"}),
            id="requirements",
        ),
        pytest.param(
            "product_manager",
            {"decision": "nothing_to_do", "reason": "It works: a.py:3."},
            "report",
            Report(outcome="declined", text="It works: a.py:3."),
            id="nothing to do",
        ),
        pytest.param(
            "developer",
            {"summary": "s", "requirement_ids": ["R1"]},
            "code",
            Code(
                summary="s",
                base_sha="b" * 40,
                tree="t" * 40,
                pack="p" * 64,
                files=MADE.files,
                diff="+x",
                requirement_ids=("R1",),
                outside_design=("z",),
                includes=("e1",),
            ),
            id="code",
        ),
        pytest.param(
            "tester",
            {"summary": "s", "covers": ["R1"]},
            "tests",
            Tests(summary="s", base_sha="b" * 40, tree="t" * 40, pack="p" * 64, files=MADE.files, covers=("R1",)),
            id="tests",
        ),
        pytest.param(
            "reviewer",
            {"approved": True, "summary": "s", "comments": [{**COMMENT, "severity": "major"}]},
            "review",
            Review.model_validate(
                {"approved": True, "summary": "s", "comments": [{**COMMENT, "severity": "major"}], "tree": "t" * 40}
            ),
            id="approved with a major point",
        ),
    ],
)
def test_what_is_handed_in_becomes_an_entry(name: str, given: Json, kind: str, value: Value) -> None:
    assert role(name).output.model_validate(given).to_board(MADE) == (kind, value)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param("product_manager", {"decision": "questions", "questions": ["Which?"]}, id="questions"),
        pytest.param("architect", {"approach": "a", "files_to_touch": ["a.py"], "monthly_usd": 4}, id="design"),
    ],
)
def test_what_is_handed_in_survives_the_board(name: str, given: Json) -> None:
    kind, value = role(name).output.model_validate(given).to_board(MADE)
    assert kind in role(name).writes
    assert KINDS[kind].model_validate(value.model_dump(mode="json")) == value


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        pytest.param("product_manager", {"decision": "requirements"}, "must not be empty", id="no requirements"),
        pytest.param(
            "product_manager",
            {"decision": "requirements", "summary": "s", "items": [ITEM, ITEM]},
            "an id of its own",
            id="the same id twice",
        ),
        pytest.param(
            "product_manager",
            {"decision": "requirements", "summary": "s", "items": [{**ITEM, "criteria": []}]},
            "criterion that a test can decide: R1",
            id="a must that nothing decides",
        ),
        pytest.param("product_manager", {"decision": "questions"}, "1 to 3", id="no question"),
        pytest.param(
            "product_manager", {"decision": "questions", "questions": ["?"] * 4}, "1 to 3", id="four questions"
        ),
        pytest.param("product_manager", {"decision": "nothing_to_do", "reason": " "}, "reason", id="no reason"),
        pytest.param("product_manager", {"decision": "maybe"}, "decision", id="unknown decision"),
        pytest.param("architect", {"approach": "a", "files_to_touch": []}, "files_to_touch", id="a design of no file"),
        pytest.param(
            "architect",
            {"approach": "a", "files_to_touch": ["a"], "monthly_usd": -1},
            "monthly_usd",
            id="negative money",
        ),
        pytest.param(
            "reviewer", {"approved": True, "summary": "s", "comments": [COMMENT]}, "zero blockers", id="blocker"
        ),
        pytest.param(
            "reviewer", {"approved": False, "summary": "s"}, "name as a blocker", id="rejected without a blocker"
        ),
        pytest.param(
            "reviewer",
            {"approved": False, "summary": "s", "comments": [{**COMMENT, "category": "vibes"}]},
            "category",
            id="unknown category",
        ),
    ],
)
def test_what_does_not_hold_together_is_refused(name: str, given: Json, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        role(name).output.model_validate(given)


def test_an_output_must_know_its_entry() -> None:
    class Half(Output):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
