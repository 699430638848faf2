"""Node's modules from a lock file: what is refused, and what a test run gets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from infra.dependencies.environments import Environments, EnvironmentSettings
from infra.dependencies.indexes import IndexSettings
from infra.dependencies.node import node_plan
from infra.sandbox.bubblewrap import Sandbox
from tests.fakes.package_index import PackageIndex
from tests.fakes.trees import Files

HASH = "sha512-" + "A" * 86 + "=="
PACKAGE: dict[str, object] = {"name": "x", "version": "1.0.0", "dependencies": {"a": "^1.0.0"}}
GOOD: dict[str, object] = {"version": "1.0.0", "resolved": "https://registry.test/a/-/a-1.0.0.tgz", "integrity": HASH}


def repository(packages: object, package: object = PACKAGE, version: int = 3) -> Files:
    lock = {"name": "x", "lockfileVersion": version, "packages": packages}
    return Files({"package.json": json.dumps(package), "package-lock.json": json.dumps(lock)})


def test_a_lock_is_reduced_to_what_names_packages() -> None:
    package = {**PACKAGE, "scripts": {"preinstall": "evil"}, "workspaces": ["a"], "overrides": {"b": "1"}}
    entry = {**GOOD, "hasInstallScript": True, "funding": "x", "bin": {"a": "cli.js"}, "dev": True}
    plan = node_plan(repository({"": {**PACKAGE, "workspaces": ["a"]}, "node_modules/@s/a": entry}, package))
    assert plan is not None
    assert (plan.problem, plan.package) == ("", {**PACKAGE, "overrides": {"b": "1"}})
    assert plan.lock["packages"] == {
        "": PACKAGE,
        "node_modules/@s/a": {
            "version": "1.0.0",
            "integrity": HASH,
            "dev": True,
            "bin": {"a": "cli.js"},
            "resolved": "a/-/a-1.0.0.tgz",
        },
    }


@pytest.mark.parametrize(
    ("place", "entry", "why"),
    [
        pytest.param(
            "node_modules/a", {**GOOD, "resolved": "git+ssh://git@evil.test/a.git#1"}, "a URL outside", id="git"
        ),
        pytest.param(
            "node_modules/a",
            {"version": "1", "resolved": "git+https://evil.test/a"},
            "version control",
            id="git, no hash",
        ),
        pytest.param("node_modules/a", {**GOOD, "resolved": "https://evil.test/a.tgz"}, "a URL outside", id="tarball"),
        pytest.param("node_modules/a", {**GOOD, "resolved": "http://r.test/a/-/a-1.tgz"}, "a URL outside", id="http"),
        pytest.param("node_modules/a", {**GOOD, "resolved": "file:../a.tgz"}, "a URL outside", id="file"),
        pytest.param("node_modules/a", {**GOOD, "resolved": 7}, "a URL outside", id="no text"),
        pytest.param("node_modules/a", {"version": "1.0.0"}, "without a hash", id="no hash"),
        pytest.param("node_modules/a", {**GOOD, "integrity": "md5-x"}, "version control or a path", id="weak hash"),
        pytest.param("node_modules/a", {"link": True, "resolved": "packages/a"}, "a workspace or a link", id="link"),
        pytest.param("packages/a", {"version": "1.0.0"}, "a workspace or a link", id="workspace"),
        pytest.param("node_modules/../../etc", GOOD, "a workspace or a link", id="above"),
        pytest.param("node_modules/a/../../b", GOOD, "a workspace or a link", id="above, later"),
        pytest.param("/etc/a", GOOD, "a workspace or a link", id="absolute"),
        pytest.param("node_modules/a", [], "without a hash", id="no table"),
    ],
)
def test_packages_from_other_places_are_refused(place: str, entry: object, why: str) -> None:
    plan = node_plan(repository({"": {}, place: entry}))
    assert plan is not None
    assert why in plan.problem
    assert len(plan.refused) == 1


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param({"package.json": json.dumps(PACKAGE)}, "there is no package-lock.json", id="no lock"),
        pytest.param({"package.json": json.dumps(PACKAGE), "yarn.lock": ""}, "yarn.lock is not", id="another's lock"),
        pytest.param(
            {"package.json": json.dumps(PACKAGE), "package-lock.json": "{"}, "not valid JSON", id="broken lock"
        ),
        pytest.param(
            {"package.json": json.dumps(PACKAGE), "package-lock.json": '{"dependencies": {}}'},
            "version 1",
            id="old lock",
        ),
        pytest.param(
            {"package.json": json.dumps(PACKAGE), "package-lock.json": "[]"}, "names no packages", id="a list"
        ),
        pytest.param(
            {"package.json": json.dumps(PACKAGE), "package-lock.json": "[" * 100_000}, "not valid JSON", id="deep"
        ),
    ],
)
def test_what_cannot_be_followed_is_said(files: dict[str, str | None], why: str) -> None:
    plan = node_plan(Files(files))
    assert plan is not None
    assert why in plan.problem


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"package.json": '{"scripts": {"test": "node --test"}}'}, id="no packages"),
        pytest.param({"package.json": "7"}, id="a number"),
        pytest.param({"package.json": None}, id="binary"),
    ],
)
def test_what_asks_for_nothing_needs_nothing(files: dict[str, str | None]) -> None:
    assert node_plan(Files(files)) is None


async def test_modules_are_installed_and_no_script_runs(sandbox: Sandbox, index: PackageIndex, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed here")
    digest = index.add_node("a", "1.0.0", {"index.js": "module.exports = 42;\n"})
    lock = {"": PACKAGE, "node_modules/a": {**GOOD, "integrity": digest}}
    env = {**index.env(tmp_path), "PATH": f"{Path(shutil.which('npm') or '/').parent}:/usr/bin:/bin"}
    settings = EnvironmentSettings(tmp_path / "shelf", indexes=IndexSettings(env=env))
    tree = tmp_path / "tree"
    tree.mkdir(mode=0o755)
    (tree / "look.mjs").write_text("import a from 'a'; console.log('a is', a)\n")
    environments = Environments(settings, sandbox)
    async with environments.provided("npm", repository(lock)) as given:
        assert given.problem == ""
        result = await sandbox.run_tree(tree, ("node", "look.mjs"), {}, given.folders)
        assert (result.exit_code, result.output) == (0, b"a is 42\n")
    wrong = {"": PACKAGE, "node_modules/a": GOOD}
    async with environments.provided("npm", repository(wrong)) as given:
        assert "could not be fetched" in given.problem
