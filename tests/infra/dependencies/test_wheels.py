"""Wheels that are fetched are checked against the lock; wheels that we make say what an installation would, no more."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from infra.dependencies.plan import Project
from infra.dependencies.wheels import BadWheel, fetched, write_own, write_project
from tests.fakes.package_index import wheel


def test_fetched_wheels_are_described_and_checked(tmp_path: Path) -> None:
    wheel(tmp_path, "Dep_A", "1.0", {"a.py": "x" * 50})
    found = fetched(tmp_path, {})
    assert [(one.name, one.version, one.file) for one in found] == [("dep-a", "1.0", "Dep_A-1.0-py3-none-any.whl")]
    assert found[0].unpacked > 50
    good, bad = found[0].sha256, "0" * 64
    assert fetched(tmp_path, {("dep-a", "1.0.0"): [good, bad]}) == found
    for hashes in ({("dep-a", "1.0"): [bad]}, {("dep-a", "2.0"): [good]}):
        with pytest.raises(BadWheel, match="its hash differs"):
            fetched(tmp_path, hashes)


@pytest.mark.parametrize("name", ["a-1.0.tar.gz", "a.whl", "a-1.0-py3-none-any.whl"])
def test_what_is_no_wheel_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not a zip")
    with pytest.raises(BadWheel, match="is no wheel"):
        fetched(tmp_path, {})


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(
            [("console_scripts", "tool", "thing.cli:main")], "[console_scripts]\ntool = thing.cli:main", id="script"
        ),
        pytest.param([("pytest11", "Thing", "thing.plugin")], "[pytest11]\nThing = thing.plugin", id="plugin"),
        pytest.param([("console_scripts", "../../bin/sh", "a:b")], "", id="a path for a name"),
        pytest.param([("console_scripts", "x", "os:system('id')")], "", id="code for an object"),
        pytest.param([("console_scripts", "x", "a:b\n[other]\ny = c")], "", id="a line more"),
        pytest.param([("a]\n[b", "x", "a:b")], "", id="a group that ends early"),
    ],
)
def test_the_project_says_its_version_and_entry_points(
    tmp_path: Path, points: list[tuple[str, str, str]], expected: str
) -> None:
    path = write_project(tmp_path, Project("My.Thing", "not a version", tuple(points)))
    assert path.name == "my_thing-0.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        assert archive.read("my_thing-0.0.0.dist-info/entry_points.txt").decode().strip() == expected
        assert all(name.startswith("my_thing-0.0.0.dist-info/") for name in archive.namelist())


def test_our_pytest_comes_without_our_plugins_and_without_what_is_there(tmp_path: Path) -> None:
    made = {path.name.split("-")[0] for path in write_own(tmp_path, "pytest", {"packaging"})}
    assert made >= {"pytest", "pluggy", "iniconfig"}
    assert not made & {"packaging", "pytest_asyncio", "pytest_timeout", "pytest_xdist"}
    assert write_own(tmp_path, "pytest", {"pytest"}) == ()
    with pytest.raises(BadWheel, match="not installed with Seconder"):
        write_own(tmp_path, "no-such-thing", ())


def test_equal_parts_make_equal_bytes(tmp_path: Path) -> None:
    first = write_project(tmp_path, Project("a", "1", ())).read_bytes()
    assert write_project(tmp_path, Project("a", "1", ())).read_bytes() == first
