"""`seconder commands parse`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from bot.cli import app

NOTHING = {"verb": None, "arguments": None, "refusal": None}
ROWS = [
    pytest.param(
        b"/approve security 0123abc\n",
        {"verb": "approve", "arguments": "security 0123abc", "refusal": None},
        id="a command",
    ),
    pytest.param(b"/STOP\r\nwhy not", {"verb": "stop", "arguments": "", "refusal": None}, id="upper case and CRLF"),
    pytest.param(b"> /stop\n", NOTHING, id="a quote"),
    pytest.param(b"", NOTHING, id="nothing"),
    pytest.param(b"\xff\xfe/stop", NOTHING, id="no UTF-8"),
    pytest.param(b"/steer " + b"x" * 100_000, {"verb": "steer", "refusal": None}, id="huge"),
    pytest.param(b"x" * 100_000, NOTHING, id="huge prose"),
]


@pytest.mark.parametrize(("comment", "expected"), ROWS)
def test_a_comment_is_read_from_standard_input(comment: bytes, expected: dict[str, str | None]) -> None:
    result = CliRunner().invoke(app, ["commands", "parse"], input=comment)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert set(found) == set(NOTHING)
    assert expected.items() <= found.items()


def test_a_refusal_is_explained() -> None:
    found = json.loads(CliRunner().invoke(app, ["commands", "parse"], input="/approve\n\n/reject no").stdout)
    assert found["verb"] is None
    assert "contradict" in found["refusal"]


def test_where_short_commands_are_off() -> None:
    found = json.loads(CliRunner().invoke(app, ["commands", "parse", "--no-short"], input="/stop").stdout)
    assert found == NOTHING
