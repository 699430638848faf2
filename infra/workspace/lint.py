"""Which linter a repository configures, and the words that run it: never one that the repository did not ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agents.ports import ToolError

_RUFF = ("ruff.toml", ".ruff.toml")
_ESLINT = re.compile(r"(?:eslint\.config\.(?:[cm]?js|[cm]?ts)|\.eslintrc(?:\.(?:c?js|json|ya?ml))?)\Z")
_SECTIONS = ("setup.cfg", "tox.ini")
_PYTHON = (".py", ".pyi")
_SCRIPT = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte")
WANTED = ("pyproject.toml", "package.json", *_SECTIONS)


@dataclass(frozen=True)
class Linter:
    """A linter: its name, its words before the paths, and the endings of the files that it reads."""

    name: str
    words: tuple[str, ...]
    endings: tuple[str, ...]


RUFF = Linter("ruff", ("python", "-m", "ruff", "check", "--no-cache", "--output-format=concise", "--"), _PYTHON)
FLAKE8 = Linter("flake8", ("python", "-m", "flake8", "--"), _PYTHON)
ESLINT = Linter("eslint", ("npx", "--no-install", "eslint", "--"), _SCRIPT)


def configured(paths: Collection[str], texts: Mapping[str, str]) -> tuple[Linter, ...]:
    """The linters that files of the root configure; `texts` holds those of `WANTED` that could be read."""
    root = {path for path in paths if "/" not in path}
    found = []
    if root & set(_RUFF) or re.search(r"^\[tool\.ruff[\].]", texts.get("pyproject.toml", ""), re.MULTILINE):
        found.append(RUFF)
    if ".flake8" in root or any(re.search(r"^\[flake8\]", texts.get(name, ""), re.MULTILINE) for name in _SECTIONS):
        found.append(FLAKE8)
    if any(_ESLINT.match(path) for path in root) or _has_eslint(texts.get("package.json", "{}")):
        found.append(ESLINT)
    return tuple(found)


def _has_eslint(package: str) -> bool:
    try:
        found = json.loads(package)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "eslintConfig" in found


def words_for(linters: tuple[Linter, ...], paths: tuple[str, ...], changed: tuple[str, ...]) -> tuple[str, ...]:
    """The command for these paths, or for the changed files. Raises `ToolError` with what there is to do."""
    if not linters:
        raise ToolError("the repository configures no linter that is known here (ruff, flake8, eslint)")
    if paths:
        fitting = [one for one in linters if any(path.endswith(one.endings) for path in paths)]
        return (*(fitting or linters)[0].words, *(path or "." for path in paths))
    for one in linters:
        wanted = tuple(path for path in changed if path.endswith(one.endings))
        if wanted:
            return (*one.words, *wanted)
    names = ", ".join(one.name for one in linters)
    raise ToolError(f"no changed file is one that {names} reads; give paths to lint others")
