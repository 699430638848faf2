"""The command records: complete, and every example means what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from handlers import commands, grammar
from handlers.commands import COMMANDS, Command, table

RECORDS = [pytest.param(command, id=command.verb) for command in COMMANDS]
NOT_COMMANDS = {"__init__", "record"}


@pytest.mark.parametrize("command", RECORDS)
def test_every_example_parses_back_to_its_command(command: Command) -> None:
    assert command.examples
    for example in command.examples:
        parsed = grammar.parse(example)
        assert isinstance(parsed, grammar.Command), parsed
        assert parsed.verb == command.verb


@pytest.mark.parametrize("command", RECORDS)
def test_a_record_is_complete(command: Command) -> None:
    assert command.usage.startswith(f"/{command.verb}")
    assert command.summary.endswith(".")
    assert command.who in ("anyone", "write", "maintain")
    assert "|" not in command.usage + command.summary


def test_no_verb_stands_twice() -> None:
    verbs = [command.verb for command in COMMANDS]
    assert len(verbs) == len(set(verbs))


def test_the_list_is_the_files() -> None:
    folder = Path(commands.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - NOT_COMMANDS == {command.verb for command in COMMANDS}


def test_what_changes_something_needs_at_least_write() -> None:
    assert {command.verb for command in COMMANDS if command.who == "anyone"} == {"status", "why", "help"}


def test_the_table_has_one_row_a_command() -> None:
    rows = table().split("\n")
    assert rows[:2] == ["| command | what it does | who |", "|---|---|---|"]
    assert len(rows) == 2 + len(COMMANDS)
    merge = "| `/merge [commit]` | Merge the pull request as it stands, once it is approved. |"
    assert any(row.startswith(merge) for row in rows)
