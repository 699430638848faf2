"""Environments from manifests to a test run: fetched from an index of ours, installed and used in the real sandbox."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import pytest

from infra.dependencies.environments import Environments, EnvironmentSettings
from infra.dependencies.indexes import IndexSettings
from infra.sandbox.bubblewrap import Sandbox
from tests.fakes.package_index import PackageIndex
from tests.fakes.trees import Files

PROJECT = """
[project]
name = "Thing"
version = "1.2"
dependencies = ["dep>=1", "evil @ https://evil.test/evil.whl"]
optional-dependencies = {test = ["helper"]}
[project.scripts]
thing = "thing:main"
"""
LOOK = """
import importlib.metadata, importlib.util, subprocess, sys
import dep, helper
print("dep", dep.VALUE, "helper", helper.VALUE)
print("thing", importlib.metadata.version("thing"), subprocess.run(["thing"], capture_output=True, text=True).stdout)
OURS = ("redis", "pydantic", "hypothesis", "pytest_asyncio", "pip")
print("leaked", [name for name in OURS if importlib.util.find_spec(name)])
print("pytest", importlib.util.find_spec("pytest") is not None)
for path in (dep.__file__, sys.prefix + "/new"):
    try:
        open(path, "w")
    except OSError as error:
        print("refused", error.strerror)
"""


def made(sandbox: Sandbox, index: PackageIndex, tmp_path: Path, one_bytes: int = 1 << 30) -> Environments:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    indexes = IndexSettings(env=index.env(home))
    return Environments(EnvironmentSettings(tmp_path / "shelf", one_bytes, indexes=indexes), sandbox)


def publish(index: PackageIndex) -> None:
    index.add("dep", "1.0", {"dep.py": "VALUE = 1\n"})
    index.add("helper", "2.0", {"helper.py": "VALUE = 2\n"}, ("dep",))


async def test_what_manifests_name_is_there_and_nothing_else(
    sandbox: Sandbox, index: PackageIndex, tmp_path: Path
) -> None:
    publish(index)
    tree = tmp_path / "tree"
    tree.mkdir(mode=0o755)
    (tree / "thing.py").write_text("def main(): print('from the tree')\n")
    (tree / "look.py").write_text(LOOK)
    (tree / "test_it.py").write_text("import helper\ndef test_it(): assert helper.VALUE == 2\n")
    environments = made(sandbox, index, tmp_path)
    files = Files({"pyproject.toml": PROJECT})
    async with environments.provided("pytest", files) as given:
        assert given.problem == ""
        assert given.refused == ("pyproject.toml: evil @ https://evil.test/evil.whl (a URL)",)
        env = {"PYTHONPATH": "{work}"}
        result = await sandbox.run_tree(tree, ("python", "look.py"), env, given.folders)
        said = result.output.decode()
        assert "dep 1 helper 2\n" in said
        assert "thing 1.2 from the tree\n" in said
        assert "leaked []\npytest True\n" in said
        assert said.count("refused Read-only file system") == 2
        tests = await sandbox.run_tree(tree, ("python", "-m", "pytest", "-q"), env, given.folders)
        assert (tests.exit_code, b"1 passed" in tests.output) == (0, True)
        first = given.folders
    asked = len(index.asked)
    async with made(sandbox, index, tmp_path).provided("unittest", files) as again:
        assert again.folders == first
    assert len(index.asked) == asked, "the second time, nothing is fetched"


async def test_two_workers_make_one_environment(sandbox: Sandbox, index: PackageIndex, tmp_path: Path) -> None:
    publish(index)
    tree = Files({"requirements.txt": "dep==1.0\n"})

    async def one() -> Path:
        async with made(sandbox, index, tmp_path).provided("pytest", tree) as given:
            return given.folders["python"]

    first, second = await asyncio.gather(one(), one())
    assert first == second
    assert sum(path.startswith("/files/dep-") for path in index.asked[-20:]) >= 1
    assert [path.name for path in (tmp_path / "shelf").glob("new-*")] == []
    assert len(list((tmp_path / "shelf").glob("*/files"))) == 1


EVIL_PAGE = '<a href="https://evil.test/moved-1.0-py3-none-any.whl">moved-1.0-py3-none-any.whl</a>'


@pytest.mark.parametrize(
    ("manifest", "why", "blocked"),
    [
        pytest.param(
            {"requirements.txt": "nowhere==1"}, "No matching distribution found for nowhere", (), id="unknown"
        ),
        pytest.param({"requirements.txt": "source"}, "only wheels are used", (), id="no wheel"),
        pytest.param({"requirements.txt": "moved"}, "could not be fetched", ("evil.test",), id="file at another host"),
        pytest.param({"requirements.txt": "dep==1.0\ndep==2.0"}, "could not be fetched", (), id="cannot both hold"),
        pytest.param(
            {"requirements.txt": f"dep==1.0 --hash=sha256:{'0' * 64}"}, "its hash differs", (), id="not what was locked"
        ),
        pytest.param(
            {"pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=99"'}, "needs Python >=99", (), id="Python"
        ),
    ],
)
async def test_what_cannot_be_made_is_said(
    sandbox: Sandbox,
    index: PackageIndex,
    tmp_path: Path,
    manifest: dict[str, str | None],
    why: str,
    blocked: tuple[str, ...],
) -> None:
    publish(index)
    index.pages["moved"] = EVIL_PAGE
    index.pages["source"] = '<a href="/files/source-1.0.tar.gz">source-1.0.tar.gz</a>'
    environments = made(sandbox, index, tmp_path)
    async with environments.provided("pytest", Files(manifest)) as given:
        assert why in given.problem
        assert (dict(given.folders), given.blocked) == ({}, blocked)
    asked = len(index.asked)
    async with environments.provided("pytest", Files(manifest)) as again:
        assert again == given
    assert len(index.asked) == asked, "a failure is remembered for a while"
    assert list((tmp_path / "shelf").glob("new-*")) == []


async def test_a_locked_hash_that_fits_is_installed_and_too_large_is_not(
    sandbox: Sandbox, index: PackageIndex, tmp_path: Path
) -> None:
    digest = index.add("big", "1.0", {"big.py": "#" * 100_000})
    assert digest == hashlib.sha256(index.files["big-1.0-py3-none-any.whl"].read_bytes()).hexdigest()
    tree = Files({"requirements.txt": f"big==1.0 --hash=sha256:{digest}"})
    async with made(sandbox, index, tmp_path, one_bytes=80_000).provided("pytest", tree) as given:
        assert "over the limit" in given.problem


async def test_tests_go_without_what_has_no_wheel_and_it_is_said(
    sandbox: Sandbox, index: PackageIndex, tmp_path: Path
) -> None:
    publish(index)
    index.add("needy", "1.0", {"needy.py": ""}, ("nowhere",))
    tree = Files({"requirements.txt": "dep", "requirements-test.txt": "needy\nhelper\nsource"})
    index.pages["source"] = '<a href="/files/source-1.0.tar.gz">source-1.0.tar.gz</a>'
    async with made(sandbox, index, tmp_path).provided("pytest", tree) as given:
        assert given.problem == ""
        assert set(given.refused) == {"needy: no wheel of nowhere fits", "source: no wheel of source fits"}
        assert list(given.folders["python"].glob("lib/python*/site-packages/helper.py"))
    async with made(sandbox, index, tmp_path).provided("pytest", tree) as again:
        assert again == given, "it is said the second time as well"


async def test_an_index_that_cannot_be_reached_is_no_package_without_a_wheel(
    sandbox: Sandbox, index: PackageIndex, tmp_path: Path
) -> None:
    closed = IndexSettings("https://localhost:9/simple", env=index.env(tmp_path))
    environments = Environments(EnvironmentSettings(tmp_path / "shelf", indexes=closed), sandbox)
    async with environments.provided("pytest", Files({"requirements-test.txt": "helper"})) as given:
        assert "could not be fetched" in given.problem
        assert (given.refused, dict(given.folders)) == ((), {})


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        pytest.param("pytest", {"tests/test_a.py": "", "README.md": ""}, id="no manifest"),
        pytest.param("go", {"requirements.txt": "dep"}, id="not for Python"),
        pytest.param("pytest", {"pyproject.toml": "[tool.ruff]\n"}, id="a manifest that asks for nothing"),
    ],
)
async def test_nothing_is_made_where_nothing_is_asked_for(
    sandbox: Sandbox, index: PackageIndex, tmp_path: Path, kind: str, files: dict[str, str | None]
) -> None:
    asked = len(index.asked)
    async with made(sandbox, index, tmp_path).provided(kind, Files(files)) as given:
        assert (dict(given.folders), given.problem) == ({}, "")
    assert len(index.asked) == asked
