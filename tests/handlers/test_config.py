"""`.github/seconder.yml`: what may stand there, what is wrong, and that it only tightens."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from handlers.config import PLANNED, Config, ConfigError, load, schema
from handlers.configs import bounded, veil
from handlers.context import Options
from tests.fakes.team import OPTIONS

SCHEMA = Path(__file__).parents[2] / "docs" / "seconder.schema.json"

GOOD = """
triggers:
  issues: false
labels: {start: "team: go"}
gates:
  quality:
    approvals: 2
    requester_may_approve: false
limits:
  budget_usd: 2.5
paths:
  never_read: [/keys/, "*.pem", 'my\\ notes/*']
short_commands: false
"""


def test_every_key() -> None:
    config = load(GOOD.encode())
    assert not config.triggers.issues
    assert config.labels.start == "team: go"
    assert config.gates.quality.approvals == 2
    assert config.limits.budget_usd == Decimal("2.5")
    assert config.paths.never_read == ("/keys/", "*.pem", "my\\ notes/*")
    assert not config.short_commands


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}", "\ufeff{}"])
def test_nothing_is_all_defaults(text: str) -> None:
    assert load(text.encode()) == Config()


@pytest.mark.parametrize(
    ("text", "line", "key", "word"),
    [
        pytest.param("short_command: false", 1, "short_command", "Did you mean `short_commands`?", id="a typo"),
        pytest.param("\ngates:\n  qualty: {}", 3, "gates.qualty", "Did you mean `gates.quality`?", id="a typo inside"),
        pytest.param("zebra: 1", 1, "zebra", "Known here: `triggers`", id="nothing like it"),
        pytest.param("gates: {quality: {approvals: 0}}", 1, "gates.quality.approvals", "greater than", id="too few"),
        pytest.param("gates:\n quality:\n  approvals: two", 3, "gates.quality.approvals", "integer", id="a word"),
        pytest.param('gates: {quality: {approvals: "2"}}', 1, "gates.quality.approvals", "integer", id="quoted"),
        pytest.param("short_commands: 0", 1, "short_commands", "boolean", id="a number for a switch"),
        pytest.param("short_commands: null", 1, "short_commands", "boolean", id="null"),
        pytest.param("limits: {budget_usd: -1}", 1, "limits.budget_usd", "greater than 0", id="negative"),
        pytest.param("limits: {budget_usd: .inf}", 1, "limits.budget_usd", "finite", id="infinite"),
        pytest.param("gates: []", 1, "gates", "valid dictionary", id="a list for a section"),
        pytest.param("paths: {never_read: keys}", 1, "paths.never_read", "tuple", id="no list"),
        pytest.param("paths:\n never_read:\n - a\n - '!b'", 4, "paths.never_read.1", "`!`", id="a bad pattern"),
        pytest.param("paths: {never_read: ['']}", 1, "paths.never_read.0", "empty", id="an empty pattern"),
        pytest.param("labels: {start: ''}", 1, "labels.start", "at least 1", id="an empty label"),
        pytest.param("a: 1\nshort_commands: true\nshort_commands: false", 3, "short_commands", "twice", id="twice"),
        pytest.param("- a", 1, "", "no keys", id="a list"),
        pytest.param("hello", 1, "", "no keys", id="a word alone"),
        pytest.param("a: [1\nb: 2", 2, "", "no YAML", id="broken"),
        pytest.param("a: 1\n\tb: 2", 2, "", "no YAML", id="a tab"),
        pytest.param("a: &x [1]\nb: *x", 1, "", "anchor", id="an anchor"),
        pytest.param("a: 1\n---\nb: 2", 2, "", "no YAML", id="two documents"),
        pytest.param("a: !!python/object/apply:os.system [x]", 1, "a", "", id="a tag is no code"),
        pytest.param("short_commands: !!python/name:os.system", 1, "short_commands", "cannot be read", id="a tag"),
        pytest.param("a: " + "[" * 3000, 1, "", "", id="nested without end"),
        pytest.param("2026-13-45: 1", 1, "2026-13-45", "no key", id="no date either"),
        pytest.param("short_commands: 2026-13-45", 1, "short_commands", "", id="an impossible date"),
        pytest.param("x: " + "a" * 70_000, 1, "", "64 KiB", id="too large"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_a_way_out(text: str, line: int, key: str, word: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text.encode())
    found = [one for one in caught.value.problems if (one.line, one.key) == (line, key)]
    assert found, caught.value.problems
    assert word in f"{found[0].what} {found[0].fix}"


@pytest.mark.parametrize("key", PLANNED)
def test_what_is_not_built_is_refused_by_name(key: str) -> None:
    text = "".join(f"{'  ' * at}{part}:\n" for at, part in enumerate(key.split("."))).rstrip("\n") + " {}\n"
    with pytest.raises(ConfigError) as caught:
        load(text.encode())
    assert [(one.key, one.what) for one in caught.value.problems] == [(key, "is not in this version")]


def test_no_text_is_said() -> None:
    with pytest.raises(ConfigError, match="no UTF-8"):
        load(b"\xff\xfe")


def test_many_problems_are_cut() -> None:
    with pytest.raises(ConfigError) as caught:
        load("\n".join(f"k{n}: 1" for n in range(100)).encode())
    assert len(caught.value.problems) == 20


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        pytest.param({}, "", {}, id="defaults change nothing"),
        pytest.param({}, "gates: {quality: {approvals: 3}}", {"required_approvals": 3}, id="more approvals"),
        pytest.param({"required_approvals": 4}, "gates: {quality: {approvals: 2}}", {}, id="fewer do not count"),
        pytest.param({}, "limits: {budget_usd: 1.25}", {"budget": 1_250_000}, id="less money"),
        pytest.param({}, "limits: {budget_usd: 999}", {}, id="more money does not count"),
        pytest.param({}, "gates: {quality: {requester_may_approve: true}}", {}, id="allowing does not count"),
        pytest.param(
            {"requester_may_approve": True},
            "gates: {quality: {requester_may_approve: false}}",
            {"requester_may_approve": False},
            id="forbidding does",
        ),
        pytest.param({}, "short_commands: false", {"short_commands": False}, id="fewer commands"),
        pytest.param({"short_commands": False}, "short_commands: true", {}, id="more commands do not count"),
    ],
)
def test_it_only_tightens(options: dict[str, object], text: str, expected: dict[str, object]) -> None:
    operator = Options(**{**vars(OPTIONS), **options})
    assert bounded(operator, load(text.encode())) == Options(**{**vars(operator), **expected})


def test_the_veil() -> None:
    hidden = veil(load(GOOD.encode()))
    for path, hides in (
        ("keys/a", True),
        ("x/a.pem", True),
        ("my notes/a", True),
        ("x/keys/a", False),
        ("a.py", False),
    ):
        assert hidden.hides(path) == hides


def test_the_schema_in_the_docs_is_the_code() -> None:
    text = json.dumps(schema(), indent=2) + "\n"
    if os.environ.get("SECONDER_UPDATE_GOLDEN"):
        SCHEMA.write_text(text)
    assert SCHEMA.read_text() == text
