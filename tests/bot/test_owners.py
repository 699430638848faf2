"""`seconder owners`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import app
from bot.owners import in_words, owners_of

TEXT = "* @octo/all\n/docs/ docs@example.com # prose\n!*.py @ada\n/docs/free\n"


def test_paths_get_their_owners_and_the_line_that_decides(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text(TEXT)
    words = ["owners", "--codeowners", str(tmp_path / "CODEOWNERS"), "a.py", "./docs/x.md", "docs/free"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    said = json.loads(result.stdout)
    assert said["paths"] == [
        {"path": "a.py", "owners": ["@octo/all"], "line": 1, "pattern": "*"},
        {"path": "./docs/x.md", "owners": ["docs@example.com"], "line": 2, "pattern": "/docs/"},
        {"path": "docs/free", "owners": [], "line": 4, "pattern": "/docs/free"},
    ]
    assert [problem["line"] for problem in said["problems"]] == [3]


def test_for_people(tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text(TEXT)
    lines = in_words(owners_of(tmp_path / "CODEOWNERS", ["a.py", "docs/free"])).split("\n")
    assert lines[:2] == ["a.py: @octo/all  (line 1: *)", "docs/free: nobody  (line 4: /docs/free)"]
    assert lines[2].startswith("line 3 is left out: ")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["owners", "--codeowners", str(tmp_path / "none"), "a.py"])
    assert result.exit_code == 2
    assert "none cannot be read: No such file" in result.output.replace("\n", "")
