"""Finds out how a repository runs its tests, from its files alone: nothing of it is executed.

Detection looks at a listing and at the few files that `wanted` names.
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["configured", "pytest", "unittest", "npm", "go", "cargo", "make"]

_ROOT_FILES = ("pyproject.toml", "tox.ini", "setup.cfg", "package.json", "Makefile", "makefile", "GNUmakefile")
_MAX_TEST_FILES = 20
_TEST_FILE = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]+_test)\.py\Z")
_UNITTEST_FILE = re.compile(r"(?:.*/)?test[^/]*\.py\Z")
_PYTEST_STYLE = re.compile(r"^(?:import pytest\b|from pytest\b|(?:async )?def test_)", re.MULTILINE)
_MAKE_TARGET = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_NPM_PLACEHOLDER = "no test specified"


@dataclass(frozen=True)
class TestCommand:
    """A command that runs the tests, what kind it is, and which file says so."""

    __test__ = False

    kind: Kind
    words: tuple[str, ...]
    source: str

    @property
    def runner(self) -> Kind:
        """The kind, also of a configured command that calls pytest or unittest itself."""
        named = {posixpath.basename(word) for word in self.words}
        if self.kind == "configured" and named & {"pytest", "py.test"}:
            return "pytest"
        return "unittest" if self.kind == "configured" and "unittest" in named else self.kind


def wanted(paths: Collection[str]) -> tuple[str, ...]:
    """The files whose text `detect` looks at."""
    present = [name for name in _ROOT_FILES if name in paths]
    return (*present, *_test_files(paths, _TEST_FILE)[:_MAX_TEST_FILES])


def detect(paths: Collection[str], texts: Mapping[str, str]) -> TestCommand | None:
    """The repository's test command, or None when nothing is recognised.

    `paths` are all files; `texts` holds those of `wanted` that could be read. The first that fits, in this order:
    pytest, unittest, npm, go, cargo, make.
    """
    names = set(paths)
    source = _pytest(names, texts)
    if source:
        return TestCommand("pytest", ("python", "-m", "pytest", "-q"), source)
    unit = _unittest(names)
    if unit is not None:
        return unit
    if _npm(texts.get("package.json")):
        return TestCommand("npm", ("npm", "test"), "package.json, scripts.test")
    if "go.mod" in names:
        return TestCommand("go", ("go", "test", "./..."), "go.mod")
    if "Cargo.toml" in names:
        return TestCommand("cargo", ("cargo", "test"), "Cargo.toml")
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if _MAKE_TARGET.search(texts.get(name, "")):
            return TestCommand("make", ("make", "test"), f"{name}, target test")
    return None


def _pytest(names: set[str], texts: Mapping[str, str]) -> str:
    for name in ("pytest.ini", ".pytest.ini"):
        if name in names:
            return name
    if _has_toml_table(texts.get("pyproject.toml", "")):
        return "pyproject.toml, [tool.pytest]"
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if _has_section(texts.get(name, ""), section):
            return f"{name}, [{section}]"
    conftests = sorted(name for name in names if posixpath.basename(name) == "conftest.py")
    if conftests:
        return conftests[0]
    for name in _test_files(names, _TEST_FILE):
        if _PYTEST_STYLE.search(texts.get(name, "")):
            return f"{name}, test functions"
    return ""


def _unittest(names: set[str]) -> TestCommand | None:
    files = _test_files(names, _UNITTEST_FILE)
    if not files:
        return None
    # Discovery does not descend into directories that are no packages, so it starts where the tests are.
    directory = posixpath.dirname(files[0])
    words = ["python", "-m", "unittest", "discover"]
    if directory:
        words += ["-s", directory]
        above = [directory[:end] for end in (*_slashes(directory), len(directory))]
        if all(f"{part}/__init__.py" in names for part in above):
            words += ["-t", "."]
    return TestCommand("unittest", tuple(words), files[0])


def _test_files(paths: Collection[str], pattern: re.Pattern[str]) -> list[str]:
    found = [path for path in paths if pattern.match(path)]
    return sorted(found, key=lambda path: (path.count("/"), path))


def _slashes(path: str) -> list[int]:
    return [place for place, character in enumerate(path) if character == "/"]


def _has_toml_table(text: str) -> bool:
    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return isinstance(tool, dict) and "pytest" in tool


def _has_section(text: str, section: str) -> bool:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return False
    return parser.has_section(section)


def _npm(text: str | None) -> bool:
    if text is None:
        return False
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return False
    scripts = package.get("scripts") if isinstance(package, dict) else None
    command = scripts.get("test") if isinstance(scripts, dict) else None
    return isinstance(command, str) and bool(command.strip()) and _NPM_PLACEHOLDER not in command
