"""The names of failing tests, as test runners print them.

What is printed comes from the code under test, so a name is only ever a name: it is shown, compared, and handed back to
the same runner to select a test. Formats: pytest's short test summary, unittest's headings, Jest, TAP, Mocha,
`go test`, cargo's libtest.
"""

from __future__ import annotations

import re

MAX_NAMES = 500
_MAX_NAME = 400

_SHORT_SUMMARY = re.compile(r"^=+ short test summary info =+$", re.MULTILINE)
_PYTEST = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.MULTILINE)
_UNITTEST = re.compile(r"^={70}\n(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", re.MULTILINE)
_OTHERS = (
    re.compile(r"^ {2}● (?!Console$)(\S.*)$", re.MULTILINE),
    re.compile(r"^not ok \d+ -? ?(\S.*)$", re.MULTILINE),
    re.compile(r"^(?:\s*--- FAIL: (?=\S)|FAIL\s+(?=\S+ \[(?:build|setup) failed\]))(\S+)", re.MULTILINE),
    re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE),
    re.compile(r"^ {2}\d+\) (\S.*?):?$", re.MULTILINE),
    re.compile(r"^\s*✖ (?!failing tests)(\S.*?)(?: \([\d.]+ms\))?$", re.MULTILINE),
)
_LOADER = "unittest.loader._FailedTest"


def failing(text: str) -> tuple[str, ...]:
    """The failing tests that a run's output names, each once, in its order; none where it names none."""
    short = _SHORT_SUMMARY.search(text)
    if short is not None:
        found = [match[1] for match in _PYTEST.finditer(text, short.end())]
    else:
        found = [_dotted(match[1], match[2]) for match in _UNITTEST.finditer(text)]
    for pattern in _OTHERS:
        if found:
            break
        found = [match[1] for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(name.strip()[:_MAX_NAME] for name in found))[:MAX_NAMES]


def _dotted(name: str, place: str) -> str:
    """A unittest heading as the dotted name by which the test is run: since Python 3.11 the place holds the name."""
    if place.startswith(_LOADER):
        return name
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def files_of(names: tuple[str, ...], paths: frozenset[str]) -> tuple[str, ...] | None:
    """The files among `paths` that hold these tests; None when one of the names says nothing of a file.

    A test whose file is not among them is new there: it has no file, and is left out.
    """
    found: dict[str, None] = {}
    for name in names:
        if "::" in name or name.endswith(".py"):
            path = name.partition("::")[0]
            if path in paths:
                found[path] = None
            continue
        parts = name.split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            return None
        homes = ["/".join(parts[:count]) + ".py" for count in range(len(parts), 0, -1)]
        home = next((path for path in homes if path in paths), None)
        if home is not None:
            found[home] = None
    return tuple(found)
