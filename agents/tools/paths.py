"""Where an agent may write: rules on path names alone. The workspace resolves links; this comes before it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from agents.role import MayWrite

WriteFilter = Callable[[str], str | None]
"""Takes a clean path; returns why it may not be written, or None when it may."""

_TEST_DIRECTORIES = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "__snapshots__"})

_TEST_NAMES = re.compile(
    r"""
      tests? \. (py|rs|ex|exs)                                 # tests.py of Django, tests.rs of Rust
    | test_ .+ \. (py|rb|c|cc|cpp|lua)                         # pytest, Ruby, C
    | .+ _ (test|tests|spec) \. (py|go|rb|rs|c|cc|cpp|dart|exs|lua)
    | .+ \. (test|spec|e2e) \. ([cm]?[jt]sx?|vue|svelte)       # Jest, Vitest, Playwright
    """,
    re.VERBOSE,
)
_TEST_CLASSES = re.compile(r"(?:[A-Z]\w*)?(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|kts|scala|groovy|cs|swift|php|vb)")
_GIT_INTERNALS = frozenset({".git", "git~1"})


def clean_path(path: str) -> str:
    """The path in its one spelling (`a/b`, no `.` parts, no double slashes); the root is an empty string.

    Raises `ValueError` for what cannot name a file of the repository: absolute, with `..`, backslash or control
    characters.
    """
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path):
        raise ValueError(f"{path!r} is not a path inside the repository: use one relative to its root, like src/app.py")
    if "\\" in path or any(unicodedata.category(char) == "Cc" for char in path):
        raise ValueError(f"{path!r} holds a backslash or a control character: use forward slashes")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"{path!r} leads out by '..': use a path relative to the repository's root")
    return "/".join(parts)


def is_git_internal(path: str) -> bool:
    """Whether the path lies in a git directory, also in the spellings that some file systems take for `.git`."""
    return any(_folded(part) in _GIT_INTERNALS for part in path.split("/"))


def _folded(part: str) -> str:
    """As a forgiving file system reads a name: no format characters, no case, no trailing dots, spaces or streams."""
    visible = "".join(char for char in part if unicodedata.category(char) != "Cf")
    return visible.split(":", 1)[0].rstrip(". ").casefold()


def is_test_path(path: str) -> bool:
    """Whether a file is a test by the customs of the common languages: by its directory or by its name."""
    parts = PurePosixPath(path).parts
    if not parts:
        return False
    for directory in parts[:-1]:
        name = directory.casefold()
        if name in _TEST_DIRECTORIES or name.endswith((".test", ".tests")):
            return True
    return bool(_TEST_NAMES.fullmatch(parts[-1]) or _TEST_CLASSES.fullmatch(parts[-1]))


def is_test_file(path: str) -> bool:
    """Whether a file holds tests by its own name, so that a runner takes it as a selection; no helper, no data."""
    name = PurePosixPath(path).name
    return bool(_TEST_NAMES.fullmatch(name) or _TEST_CLASSES.fullmatch(name))


def _nowhere(path: str) -> str | None:
    return f"{path} was not written: this role reads only"


def _tests_only(path: str) -> str | None:
    if is_test_path(path):
        return None
    return (
        f"{path} is not a test file, and this role writes tests only. Put the file where the repository keeps its "
        "tests (a tests directory, or a name such as test_x.py, x_test.go, x.test.ts)"
    )


def _anywhere(_path: str) -> str | None:
    return None


def write_filter(may_write: MayWrite) -> WriteFilter:
    """The rule for a role; whatever the role, nothing writes to the root itself or into a git directory."""
    rules: Mapping[MayWrite, WriteFilter] = {"nothing": _nowhere, "tests": _tests_only, "anything": _anywhere}
    rule = rules[may_write]

    def checked(path: str) -> str | None:
        if not path:
            return "a file name is missing"
        if is_git_internal(path):
            return f"{path} belongs to git itself and can never be part of a change"
        return rule(path)

    return checked
