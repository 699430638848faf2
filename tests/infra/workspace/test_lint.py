"""Which linter a repository asks for."""

from __future__ import annotations

import pytest

from agents.ports import ToolError
from infra.workspace.lint import ESLINT, FLAKE8, RUFF, Linter, configured, words_for


@pytest.mark.parametrize(
    ("texts", "linters"),
    [
        pytest.param({"ruff.toml": ""}, (RUFF,), id="ruff.toml"),
        pytest.param({"pyproject.toml": "[tool.ruff.lint]\n"}, (RUFF,), id="pyproject"),
        pytest.param({"pyproject.toml": "[tool.black]\n"}, (), id="something else"),
        pytest.param({".flake8": ""}, (FLAKE8,), id="flake8"),
        pytest.param({"tox.ini": "[flake8]\n"}, (FLAKE8,), id="flake8 in tox.ini"),
        pytest.param({"eslint.config.mjs": "", "ruff.toml": ""}, (RUFF, ESLINT), id="two"),
        pytest.param({"package.json": '{"eslintConfig": {}}'}, (ESLINT,), id="package.json"),
        pytest.param({"package.json": "[" * 9999}, (), id="hostile JSON"),
        pytest.param({"docs/.eslintrc": ""}, (), id="not in the root"),
    ],
)
def test_configured(texts: dict[str, str], linters: tuple[Linter, ...]) -> None:
    assert configured(set(texts), texts) == linters


def test_changed_files_are_linted_unless_told_otherwise() -> None:
    both = (RUFF, ESLINT)
    assert words_for(both, (), ("a.py", "b.md"))[-2:] == ("--", "a.py")
    assert words_for(both, (), ("a.ts",)) == (*ESLINT.words, "a.ts")
    assert words_for(both, ("web/x.ts",), ("a.py",)) == (*ESLINT.words, "web/x.ts")
    assert words_for(both, ("", "src"), ())[-2:] == (".", "src")
    with pytest.raises(ToolError, match="no changed file"):
        words_for(both, (), ("b.md",))
    with pytest.raises(ToolError, match="configures no linter"):
        words_for((), (), ("a.py",))
