"""Poetry's own tables, with its way of writing versions, as requirements that everybody reads.

Source: Poetry's "The pyproject.toml file" and "Dependency specification" pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from infra.dependencies.about import Listed, Metadata, listed, normal, table

_PLACES = {
    "git": "version control",
    "url": "a URL",
    "path": "a path",
    "file": "a path",
    "source": "an index of its own",
}
_LEADING = re.compile(r"(\^|~(?!=))\s*(\S+)\Z")


def read(poetry: Mapping[str, object], groups: Mapping[str, Listed]) -> Metadata:
    """A project that is described in `[tool.poetry]` alone."""
    wanted = table(poetry.get("dependencies"))
    elsewhere: dict[str, str] = {}
    python = wanted.pop("python", None)
    own: dict[str, Listed] = {
        normal(name): _all(table(table(one).get("dependencies")), elsewhere)
        for name, one in table(poetry.get("group")).items()
    }
    if "dev-dependencies" in poetry:
        own["dev"] = (*own.get("dev", ()), *_all(table(poetry["dev-dependencies"]), elsewhere))
    by_name = {normal(name): (name, one) for name, one in wanted.items()}
    extras = {
        normal(extra): _all(
            dict(by_name[key] for one in listed(names) if (key := normal(str(one))) in by_name),
            elsewhere,
        )
        for extra, names in table(poetry.get("extras")).items()
    }
    needed = {name: one for name, one in wanted.items() if not table(one).get("optional")}
    name, version = poetry.get("name"), poetry.get("version")
    scripts = [(name, target) for name, target in sorted(table(poetry.get("scripts")).items())]
    plugins = [(group, sorted(table(one).items())) for group, one in sorted(table(poetry.get("plugins")).items())]
    points = [("console_scripts", scripts), *plugins]
    return Metadata(
        where="pyproject.toml",
        name=name if isinstance(name, str) else "",
        version=version if isinstance(version, str) else "",
        requires_python=versions(python) or "" if isinstance(python, str) else "",
        dependencies=_all(needed, elsewhere),
        extras=extras,
        groups={**groups, **own},
        entry_points=tuple((group, key, one) for group, pairs in points for key, one in pairs if isinstance(one, str)),
        elsewhere=elsewhere,
    )


def _all(wanted: Mapping[str, object], elsewhere: dict[str, str]) -> Listed:
    return tuple(line for name, one in wanted.items() for line in _requirements(name, one, elsewhere))


def _requirements(name: str, given: object, elsewhere: dict[str, str]) -> list[object]:
    """One entry of a table: a version, a table, or a list of tables with conditions."""
    if isinstance(given, list):
        return [line for one in given if not isinstance(one, list) for line in _requirements(name, one, elsewhere)]
    if isinstance(given, str):
        given = {"version": given}
    if not isinstance(given, dict):
        return [f"{name} {given!r}"]
    place = next((word for key, word in _PLACES.items() if key in given), None)
    if place is not None:
        elsewhere[normal(name)] = f"the manifest takes it from {place}"
        return [name]
    allowed = versions(given.get("version", "*"))
    if allowed is None:
        return [f"{name} {given.get('version')}"]
    extras = ",".join(str(one) for one in listed(given.get("extras")))
    conditions = [f"({given['markers']})"] if isinstance(given.get("markers"), str) else []
    if isinstance(given.get("python"), str):
        pythons = versions(given["python"])
        if pythons is None:
            return [f"{name} for Python {given['python']}"]
        conditions += [f'python_version {one.operator} "{one.version}"' for one in SpecifierSet(pythons)]
    marker = f" ; {' and '.join(conditions)}" if conditions else ""
    return [f"{name}{f'[{extras}]' if extras else ''}{allowed}{marker}"]


def versions(text: object) -> str | None:
    """A constraint of Poetry's as a specifier set; empty for any version, None for what cannot be said that way."""
    if not isinstance(text, str) or "|" in text:
        return None
    parts = [_part(part.strip()) for part in text.split(",") if part.strip()]
    if None in parts:
        return None
    try:
        return str(SpecifierSet(",".join(part for part in parts if part)))
    except InvalidSpecifier:
        return None


def _part(text: str) -> str | None:
    if text == "*":
        return ""
    leading = _LEADING.match(text)
    if leading is None:
        return text if re.match(r"[<>=!~]", text) else f"=={text}"
    try:
        version = Version(leading[2])
    except InvalidVersion:
        return None
    numbers = list(version.release)
    place = _first_nonzero(numbers) if leading[1] == "^" else min(1, len(numbers) - 1)
    above = [*numbers[:place], numbers[place] + 1]
    return f">={version},<{'.'.join(map(str, above))}"


def _first_nonzero(numbers: list[int]) -> int:
    """Where `^` lets versions change from: after the leftmost number that is not zero, as far as any is given."""
    return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
