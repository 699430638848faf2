"""Lock files of uv and Poetry: the versions to hold, and the hashes that what is fetched must have.

Sources: uv's "Locking and syncing" and the file itself (`uv.lock`, version 1); Poetry's own `poetry.lock`, old and new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from infra.dependencies.about import listed, normal, table
from infra.dependencies.found import Found, Tree, pin
from infra.dependencies.metadata import toml

_SHA256 = re.compile(r"sha256:([0-9a-f]{64})\Z")
_UV_PLACES = {
    "git": "version control",
    "url": "a URL",
    "path": "a path",
    "directory": "a path",
    "editable": "a path",
    "virtual": "a path",
}
_POETRY_PLACES = {"git": "version control", "url": "a URL", "file": "a path", "directory": "a path"}


def read(tree: Tree, found: Found) -> str | None:
    """Take the pins of uv.lock, or else of poetry.lock; returns which one there was, None without any."""
    uv = toml(tree, "uv.lock", found)
    if uv is not None:
        _take(uv, "uv.lock", found)
        return "uv.lock"
    poetry = toml(tree, "poetry.lock", found)
    if poetry is not None:
        _take(poetry, "poetry.lock", found)
        return "poetry.lock"
    return None


def _take(lock: Mapping[str, object], where: str, found: Found) -> None:
    packages = [table(one) for one in listed(lock.get("package"))]
    old_files = table(table(lock.get("metadata")).get("files"))
    versions: dict[str, set[str]] = {}
    for package in packages:
        name, version = package.get("name"), package.get("version")
        if not isinstance(name, str):
            continue
        key = normal(name)
        place = _place(table(package.get("source")), where)
        if place is not None:
            if not _is_own(package, key, found):
                found.elsewhere[key] = f"the lock takes it from {place}"
            continue
        if isinstance(version, str):
            versions.setdefault(key, set()).add(version)
            files = (*listed(package.get("wheels")), *listed(package.get("files")), *listed(old_files.get(name)))
            found.hashes.setdefault((key, version), set()).update(_digests(files))
    for key, known in sorted(versions.items()):
        # A lock may hold several versions of a package for several Pythons; then each of them is allowed.
        if len(known) == 1 and key not in found.elsewhere:
            pin(found, where, key, next(iter(known)))


def _is_own(package: Mapping[str, object], key: str, found: Found) -> bool:
    source = table(package.get("source"))
    at_root = any(source.get(kind) == "." for kind in ("editable", "virtual", "directory"))
    return at_root or key == found.own_name


def _place(source: Mapping[str, object], where: str) -> str | None:
    if where == "poetry.lock":
        return _POETRY_PLACES.get(str(source.get("type")))
    return next((word for kind, word in _UV_PLACES.items() if kind in source), None)


def _digests(files: tuple[object, ...]) -> set[str]:
    matches = (_SHA256.match(str(table(one).get("hash", ""))) for one in files)
    return {match[1] for match in matches if match is not None}
