"""Wheels: which ones were fetched, what they would take on disk, and two kinds that we make ourselves.

One stands for the project itself: it holds what an installation would say of it (its version, its entry points) and
none of its code, which tests import from the tree. The others carry our own pytest to projects that bring none, without
a plugin of ours. Sources: the "Binary distribution format" and "Recording installed projects" pages of the Python
packaging user guide.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import io
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from infra.dependencies.plan import Project

_STAMP = (1980, 1, 1, 0, 0, 0)
_UNKNOWN = "0.0.0"
_OBJECT = re.compile(r"[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?(?:\s*\[[\w\s,.-]*\])?\Z")
_SCRIPT = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}\Z")
_GROUP = re.compile(r"\w+(?:[.-]\w+)*\Z")


class BadWheel(Exception):
    """A wheel that is not installed; the text says why."""


@dataclass(frozen=True)
class Wheel:
    """A fetched wheel: its project's name in normal form, version, file name, SHA-256, and bytes once unpacked."""

    name: str
    version: str
    file: str
    sha256: str
    unpacked: int


def fetched(folder: Path, hashes: Mapping[tuple[str, str], Collection[str]]) -> tuple[Wheel, ...]:
    """The wheels in a folder, each checked against the lock's hashes for its version, where the lock has any.

    Raises `BadWheel` for a file that is no wheel, or not the one that the lock names.
    """
    locked = {name for name, _ in hashes}
    allowed = {(name, _comparable(version)): set(some) for (name, version), some in hashes.items()}
    found = []
    for path in sorted(folder.iterdir()):
        wheel = _described(path)
        key = (wheel.name, _comparable(wheel.version))
        if wheel.name in locked and wheel.sha256 not in allowed.get(key, set()):
            raise BadWheel(f"{wheel.file} is not the file that the lock names: its hash differs")
        found.append(wheel)
    return tuple(found)


def _described(path: Path) -> Wheel:
    try:
        name, version, _, _ = parse_wheel_filename(path.name)
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(one.file_size for one in archive.infolist())
    except (InvalidWheelFilename, InvalidVersion, zipfile.BadZipFile, OSError) as error:
        raise BadWheel(f"{path.name[:100]} is no wheel: {error}") from None
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Wheel(str(name), str(version), path.name, digest, unpacked)


def _comparable(version: str) -> Version | str:
    """A version such that 1.0 and 1.0.0 are the same."""
    try:
        return Version(version)
    except InvalidVersion:
        return version


def write_project(folder: Path, project: Project) -> Path:
    """A wheel that says of the project what an installation would, and holds no code."""
    try:
        version = str(Version(project.version))
    except InvalidVersion:
        version = _UNKNOWN
    escaped = canonicalize_name(project.name).replace("-", "_")
    parts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project.name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: seconder\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": _entry_points(project.entry_points),
        "top_level.txt": "",
    }
    info = f"{escaped}-{version}.dist-info"
    return _packed(
        folder / f"{escaped}-{version}-py3-none-any.whl", {f"{info}/{key}": one.encode() for key, one in parts.items()}
    )


def _entry_points(points: Iterable[tuple[str, str, str]]) -> str:
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    for group, name, target in points:
        if _GROUP.match(group) and _SCRIPT.match(name) and _OBJECT.match(target):
            if not parser.has_section(group):
                parser.add_section(group)
            parser.set(group, name, target)
    text = io.StringIO()
    parser.write(text)
    return text.getvalue()


def write_own(folder: Path, name: str, present: Collection[str]) -> tuple[Path, ...]:
    """Wheels of our own installed package `name` and all that it needs, without what is `present` already.

    Raises `BadWheel` where one of them is not installed with us.
    """
    made, waiting, seen = [], [name], set(present)
    while waiting:
        one = canonicalize_name(waiting.pop())
        if one in seen:
            continue
        seen.add(one)
        try:
            installed = distribution(one)
        except PackageNotFoundError:
            raise BadWheel(f"{one} is not installed with Seconder") from None
        made.append(_repacked(folder, installed))
        needs = [Requirement(line) for line in installed.requires or ()]
        waiting += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return tuple(made)


def _repacked(folder: Path, installed: Distribution) -> Path:
    escaped = canonicalize_name(installed.metadata["Name"]).replace("-", "_")
    parts = {}
    for file in installed.files or ():
        # What lies outside the packages' folder are scripts, which an installation makes anew.
        if (
            file.parts[0] == ".."
            or file.suffix == ".pyc"
            or file.name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
        ):
            continue
        parts[file.as_posix()] = Path(str(file.locate())).read_bytes()
    return _packed(folder / f"{escaped}-{installed.version}-py3-none-any.whl", parts)


def _packed(path: Path, parts: Mapping[str, bytes]) -> Path:
    """Write a wheel, the same bytes for the same parts."""
    info = next(name.split("/")[0] for name in parts if ".dist-info/" in name)
    lines = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, data in sorted(parts.items())]
    record = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [*sorted(parts.items()), (f"{info}/RECORD", record)]:
            archive.writestr(zipfile.ZipInfo(name, _STAMP), data, zipfile.ZIP_DEFLATED)
    return path


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
