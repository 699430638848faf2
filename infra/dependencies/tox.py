"""What tox would install for a project's tests.

Source: tox's "Configuration" page: `deps` and `extras` of `[testenv]`, with conditional settings (`factor: value`).
"""

from __future__ import annotations

import configparser
import re

from infra.dependencies import requirement_files
from infra.dependencies.about import normal
from infra.dependencies.found import Found, Tree

WHERE = "tox.ini"
_SECTIONS = ("testenv", "testenv:test", "testenv:tests", "testenv:unit", "testenv:py")
_CONDITION = re.compile(r"(?P<factors>[A-Za-z0-9_.!{},-]+):\s+(?P<value>\S.*)\Z")
_ROOT = re.compile(r"\{(?:toxinidir|tox_root)\}[/\\]?")
_FOR_TESTS = re.compile(r"(?:py|pypy|cpython)\d*|py\{.*|tests?|unit|unittests?|pytest")


def read(tree: Tree, found: Found) -> bool:
    """Take the dependencies and extras of the environments for tests. Returns whether there were any."""
    text = tree.read(WHERE) if WHERE in tree.paths else None
    if text is None:
        return False
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        found.refuse(WHERE, error, "not a valid configuration file")
        return False
    lines, extras = [], []
    for section in _SECTIONS:
        if parser.has_section(section):
            lines += _values(parser.get(section, "deps", fallback=""))
            extras += [one for line in _values(parser.get(section, "extras", fallback="")) for one in line.split(",")]
    requirement_files.read_lines(tree, WHERE, "\n".join(_ROOT.sub("", line) for line in lines), found)
    found.own_extras |= {normal(extra.strip()) for extra in extras if re.match(r"\s*[\w.-]+\s*\Z", extra)}
    return bool(lines or extras)


def _values(text: str) -> list[str]:
    """The lines of a setting that count for tests, without their conditions."""
    kept = []
    for line in (one.strip() for one in text.splitlines()):
        condition = _CONDITION.match(line)
        if condition is None:
            kept.append(line)
        elif any(_FOR_TESTS.fullmatch(factor) for factor in re.split(r"[,-]", condition["factors"])):
            kept.append(condition["value"])
    return [line for line in kept if line]
