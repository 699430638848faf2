"""From a repository's files to what its Python tests need: which manifests count, and which extras and groups."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from infra.dependencies import locks, metadata, requirement_files, tox
from infra.dependencies.about import Metadata, normal, table
from infra.dependencies.found import Found, Refusal, Tree

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "uv.lock", "poetry.lock")
TEST_NAMES = frozenset({"test", "tests", "testing", "pytest", "unittest", "unit-tests", "test-requirements"})
DEV_NAMES = frozenset({"dev", "develop", "development", "dev-requirements", "ci"})
MAIN_NAMES = frozenset({"requirements", "base", "main", "common", "core", "prod", "production"})
_FILE = re.compile(r"(?:(?P<folder>requirements|tests?)/)?(?P<stem>[A-Za-z0-9_.-]+)\.txt\Z")
_DEEPEST = 8


@dataclass(frozen=True)
class Project:
    """What an installation of the project itself would say of it: (group, name, object) for each entry point."""

    name: str
    version: str
    entry_points: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class PythonPlan:
    """Requirements and constraints in normal form, allowed hashes by (name, version), and what was refused.

    `spare` are names that only tests or development ask for: what has no wheel of these is gone without. `sources` are
    the manifests that were followed, `roots` further folders that hold the project's packages.
    """

    requirements: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    hashes: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    spare: frozenset[str] = frozenset()
    project: Project | None = None
    requires_python: str = ""
    roots: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    left_out: int = 0

    def canonical(self) -> str:
        """All that decides what an environment holds, as one text: equal texts, equal environments."""
        whole = {**asdict(self), "spare": sorted(self.spare)}
        return json.dumps({key: whole[key] for key in ("requirements", "constraints", "hashes", "project", "spare")})

    def python_problem(self, version: str) -> str | None:
        """Why this project is not for a Python of `version` (as in 3.11.7), or None."""
        try:
            allowed = SpecifierSet(self.requires_python)
        except InvalidSpecifier:
            return None
        if allowed.contains(version, prereleases=True):
            return None
        return f"the project needs Python {self.requires_python}, and Seconder runs on {version}"


def python_plan(tree: Tree) -> PythonPlan | None:
    """What the tests need, or None for a repository without any manifest of Python's."""
    files = _requirement_files(tree.paths)
    if not files and not {*MANIFESTS, tox.WHERE} & set(tree.paths):
        return None
    found = Found()
    about = metadata.read(tree, found)
    if about is not None:
        found.own_name = normal(about.name) if about.name else ""
        found.elsewhere.update(about.elsewhere)
    lock = locks.read(tree, found)
    has_own = about is not None and about.dependencies is not None
    is_locked = lock is not None and has_own
    is_tox = not is_locked and tox.read(tree, found)
    kinds = _kinds(about) | ({"tox"} if is_tox else set())
    followed = [] if is_locked else _followed(files, has_own, kinds)
    for path in followed:
        requirement_files.read(tree, path, found)
    if about is not None:
        _take_own(about, found, is_dev_needed=not is_tox and not any(_kind(path) == "test" for path in followed))
    sources = [
        about.where if about is not None and about.where else "",
        lock or "",
        *followed,
        tox.WHERE if is_tox else "",
    ]
    if not any(sources):
        return None
    return PythonPlan(
        requirements=tuple(found.requirements),
        constraints=tuple(sorted(found.constraints)),
        hashes=tuple((*key, tuple(sorted(some))) for key, some in sorted(found.hashes.items()) if some),
        spare=_names(found) - _names(_core(tree, about, followed, found)),
        project=Project(about.name, about.version, about.entry_points) if about is not None and about.name else None,
        requires_python=about.requires_python if about is not None else "",
        roots=about.roots if about is not None else (),
        sources=tuple(dict.fromkeys(source for source in sources if source)),
        refused=tuple(found.refused),
        left_out=found.left_out,
    )


def _core(tree: Tree, about: Metadata | None, followed: Iterable[str], whole: Found) -> Found:
    """What the project itself needs, tests or not."""
    core = Found(own_name=whole.own_name, elsewhere=whole.elsewhere)
    for line in about.dependencies or () if about is not None else ():
        core.want("", line)
    for path in followed:
        if _kind(path) == "main":
            requirement_files.read(tree, path, core)
    return core


def _names(found: Found) -> frozenset[str]:
    return frozenset(normal(Requirement(one).name) for one in found.requirements)


def _take_own(about: Metadata, found: Found, is_dev_needed: bool) -> None:
    """The project's own dependencies, with the extras and groups that tests need."""
    for line in about.dependencies or ():
        found.want(about.where, line)
    known = {*about.extras, *about.groups}
    chosen = known & TEST_NAMES or (known & DEV_NAMES if is_dev_needed else set())
    for name in sorted(chosen & set(about.groups)):
        _take_group(about, name, found, ())
    done: set[str] = set()
    waiting = sorted((chosen & set(about.extras)) | found.own_extras)
    while waiting:
        name = waiting.pop(0)
        if name in done:
            continue
        done.add(name)
        if name not in about.extras:
            found.refuse(about.where, f"[{name}]", "no such extra")
        for line in about.extras.get(name, ()):
            found.want(about.where, line)
        # An extra may ask for others of the same project: `all = ["thing[a,b]"]`.
        waiting += sorted(found.own_extras - done)


def _take_group(about: Metadata, name: str, found: Found, above: tuple[str, ...]) -> None:
    if name in above or len(above) > _DEEPEST:
        found.refuse(about.where, f"group {name}", "includes itself, or groups too deep")
        return
    for line in about.groups.get(name, ()):
        included = table(line).get("include-group")
        if isinstance(included, str):
            _take_group(about, normal(included), found, (*above, name))
        else:
            found.want(f"{about.where}, group {name}", line)


def _requirement_files(paths: Collection[str]) -> list[str]:
    return sorted(path for path in paths if _kind(path) is not None)


def _kind(path: str) -> str | None:
    """What a requirements file is for, by its name: test, dev, main; None for any other file."""
    match = _FILE.match(path)
    if match is None:
        return None
    stem = normal(match["stem"])
    if match["folder"] in ("test", "tests"):
        return "test" if stem == "requirements" else None
    bare = re.sub(r"^requirements?-|-requirements?$", "", stem)
    if match["folder"] is None and bare == stem and stem != "requirements":
        return None
    for kind, names in (("test", TEST_NAMES), ("dev", DEV_NAMES), ("main", MAIN_NAMES)):
        if bare in names:
            return kind
    return None


def _kinds(about: Metadata | None) -> set[str]:
    names = set() if about is None else {*about.extras, *about.groups}
    return {kind for kind, known in (("test", TEST_NAMES), ("dev", DEV_NAMES)) if names & known}


def _followed(files: Iterable[str], has_own: bool, own_kinds: set[str]) -> list[str]:
    """Files for tests; else those for development, unless the project's own extras or tox serve; and the main ones
    where the project itself says nothing."""
    by_kind: dict[str, list[str]] = {}
    for path in files:
        by_kind.setdefault(_kind(path) or "", []).append(path)
    chosen = [] if has_own else by_kind.get("main", [])
    if "test" in by_kind:
        return [*chosen, *by_kind["test"]]
    return chosen if own_kinds else [*chosen, *by_kind.get("dev", [])]
