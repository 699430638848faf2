"""`seconder config`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        pytest.param("short_commands: false\n", 0, "nothing wrong", id="good"),
        pytest.param("\nsla: {}\n", 1, ":2: sla is not in this version. Leave it out", id="wrong"),
        pytest.param(None, 2, "cannot be read: No such file", id="missing"),
    ],
)
def test_check(tmp_path: Path, text: str | None, code: int, said: str) -> None:
    if text is not None:
        (tmp_path / "s.yml").write_text(text)
    result = CliRunner().invoke(app, ["config", "check", str(tmp_path / "s.yml")])
    assert result.exit_code == code
    assert said in result.output


def test_check_for_scripts(tmp_path: Path) -> None:
    (tmp_path / "s.yml").write_text("limits: {budget_usd: 2}\n")
    found = json.loads(CliRunner().invoke(app, ["config", "check", "--json", str(tmp_path / "s.yml")]).stdout)
    assert (found["good"], found["problems"], found["config"]["limits"]) == (True, [], {"budget_usd": "2"})
    (tmp_path / "s.yml").write_text("zebra: 2\n")
    found = json.loads(CliRunner().invoke(app, ["config", "check", "--json", str(tmp_path / "s.yml")]).stdout)
    assert (found["good"], found["problems"][0]["line"], found["problems"][0]["key"]) == (False, 1, "zebra")


def test_schema() -> None:
    assert "short_commands" in json.loads(CliRunner().invoke(app, ["config", "schema"]).stdout)["properties"]
