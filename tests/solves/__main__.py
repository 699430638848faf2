"""Real solves: closed bugs of published projects, told in our own words, judged by the projects' own later tests.

`python -m tests.solves [NAME …]` lets `seconder solve` work on each case with the model that the environment names;
`--check` needs no model: it shows that the later tests fail on the version before the fix and pass on the fixed one.
Nothing of the projects is kept here: both versions come from the package index each time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

from infra.sandbox.bubblewrap import Sandbox
from infra.sandbox.spec import python_toolchain
from tests.solves.table import table

CASES = Path(__file__).parent / "cases"
OUT = Path("build/solves.json")
_ENV = {"PYTHONPATH": "{work}:{work}/src"}
_TEXTS = ("kind", "project", "base", "fixed", "test_command")
_LISTS = ("packages", "tests", "judge")


class BadCase(ValueError):
    """A case that cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Case:
    """A bug: where its versions come from, which later tests judge it, and how they are run.

    `{env}` in a command is the environment's folder. `judge` runs in the sandbox, with `tests` laid over the tree.
    """

    name: str
    kind: str
    project: str
    base: str
    fixed: str
    packages: tuple[str, ...]
    tests: tuple[str, ...]
    test_command: str
    judge: tuple[str, ...]

    @property
    def issue(self) -> Path:
        return CASES / self.name / "issue.md"


def cases(names: list[str]) -> list[Case]:
    """The cases of these names, or all. Raises `BadCase`, also for a name that there is none of."""
    known = sorted(path.name for path in CASES.iterdir())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadCase(f"There is no case {', '.join(unknown)}. There are: {', '.join(known)}.")
    return [read_case(name, (CASES / name / "case.yml").read_text(encoding="utf-8")) for name in names or known]


def read_case(name: str, text: str) -> Case:
    """The case that a case.yml describes. Raises `BadCase`, which names the case and what is wrong with it."""
    try:
        row = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadCase(f"{name}: case.yml is no YAML: {error}") from None
    if not isinstance(row, dict) or set(row) != {*_TEXTS, *_LISTS}:
        raise BadCase(f"{name}: case.yml must have exactly {', '.join((*_TEXTS, *_LISTS))}")
    for key in _TEXTS:
        if not isinstance(row[key], str) or not row[key].strip() or row[key].startswith("-"):
            raise BadCase(f"{name}: {key} must be a text that is no option; a version such as 1.0 needs quotes")
    for key in _LISTS:
        if not isinstance(row[key], list) or not row[key] or not all(isinstance(one, str) and one for one in row[key]):
            raise BadCase(f"{name}: {key} must be a list of texts")
    if row["kind"] not in ("python", "node"):
        raise BadCase(f"{name}: kind is {row['kind']}; it can be python or node")
    if row["base"] == row["fixed"]:
        raise BadCase(f"{name}: base and fixed are the same version")
    if any(one.startswith("/") or ".." in one.split("/") for one in row["tests"]):
        raise BadCase(f"{name}: tests must be below the project's root")
    packages, tests, judge = (tuple(row[key]) for key in _LISTS)
    kind, project, base, fixed, test_command = (row[key] for key in _TEXTS)
    return Case(name, kind, project, base, fixed, packages, tests, test_command, judge)


@dataclass(frozen=True)
class Site:
    """A case on disk: the repository before the fix, the fixed version's files, the environment."""

    case: Case
    root: Path

    @property
    def repository(self) -> Path:
        return self.root / "base" / self.case.project

    @property
    def fixed(self) -> Path:
        return self.root / "fixed"

    @property
    def env(self) -> Path:
        return self.root / "env"

    def words(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """A command with the environment's folder in its place."""
        return tuple(word.replace("{env}", str(self.env)) for word in command)

    async def judged(self, tree: Path) -> int | None:
        """With which code the later tests end on a copy of a tree: 0 passed, 1 some failed; None when they did not."""
        judged = Path(tempfile.mkdtemp(dir=self.root)) / "tree"
        shutil.copytree(tree, judged, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        for name in self.case.tests:
            target = judged / name
            if target.is_dir():
                shutil.rmtree(target)
            _lay(self.fixed / name, target)
        sandbox = Sandbox(python_toolchain(self.env, Path(sys.base_prefix)))
        problem = await sandbox.unavailable()
        if problem is not None:
            raise RuntimeError(f"the later tests cannot be kept apart here: {problem}")
        result = await sandbox.run_tree(judged, self.words(self.case.judge), _ENV)
        return result.exit_code if result.reason == "exit" else None


def _lay(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def prepared(case: Case, root: Path) -> Site:
    """Fetch both versions and make the environment. Raises `CalledProcessError` when something cannot be fetched."""
    site = Site(case, root)
    _environment(site)
    for version, target in ((case.base, site.repository), (case.fixed, site.fixed)):
        target.mkdir(parents=True)
        with tarfile.open(_archive(site, version)) as archive:
            archive.extractall(root / version, filter="data")
        (inner,) = (root / version).iterdir()
        shutil.copytree(inner, target, dirs_exist_ok=True)
    who = ("-c", "user.name=Maintainers", "-c", "user.email=maintainers@example.org")
    for words in (("init", "-q", "-b", "main"), ("add", "-A", "-f"), (*who, "commit", "-qm", f"Version {case.base}")):
        subprocess.run(("git", *words), cwd=site.repository, check=True)
    return site


def _environment(site: Site) -> None:
    if site.case.kind == "python":
        subprocess.run((sys.executable, "-m", "venv", str(site.env)), check=True)
        subprocess.run((site.env / "bin" / "python", "-m", "pip", "install", "-q", *site.case.packages), check=True)
        return
    (site.env / "bin").mkdir(parents=True)
    words = ("npm", "install", "--silent", "--ignore-scripts", "--prefix", str(site.env), *site.case.packages)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def _archive(site: Site, version: str) -> Path:
    """The version's source archive, as the package index has it."""
    folder = site.root / f"archive-{version}"
    folder.mkdir()
    if site.case.kind == "python":
        pip = (str(site.env / "bin" / "python"), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:")
        subprocess.run((*pip, "-d", str(folder), f"{site.case.project}=={version}"), check=True)
    else:
        words = ("npm", "pack", "--silent", f"{site.case.project}@{version}", "--pack-destination", str(folder))
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.iterdir()
    return found


async def checked(site: Site) -> dict[str, object]:
    """Whether the case is one: the later tests fail before the fix and pass after it.

    Only 1 counts as failing: pytest, tape and node end with it when a test fails, pytest with another code when tests
    cannot be found or loaded. Source: pytest's "Exit codes" page.
    """
    before, after = await site.judged(site.repository), await site.judged(site.fixed)
    return {"case": site.case.name, "before": before, "after": after, "sound": before == 1 and after == 0}


async def solved(site: Site) -> dict[str, object]:
    """What `seconder solve` made of the case, and whether the later tests agree."""
    test = " ".join(site.words(tuple(site.case.test_command.split(" "))))
    words = (sys.executable, "-m", "bot", "solve", str(site.repository), str(site.case.issue), "--yes", "--json")
    more = ("--env", str(site.env), "--test-command", test, "--state", str(site.root / "state"))
    process = await asyncio.create_subprocess_exec(*words, *more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    try:
        report = json.loads(out)
    except ValueError:
        return _unsolved(site.case, f"seconder solve ended with {process.returncode} and no report")
    if not report.get("branch"):
        return {"case": site.case.name, "solved": False, "outcome": report["outcome"], "why": report["why"]}
    tree = site.root / "solved"
    adding = ("git", "worktree", "add", "-q", "--detach", str(tree), report["branch"])
    await asyncio.to_thread(subprocess.run, adding, cwd=site.repository, check=True)
    spent = report["spent"]
    return {
        "case": site.case.name,
        "solved": await site.judged(tree) == 0,
        "outcome": report["outcome"],
        "turns": spent["calls"],
        "tokens": spent["tokens_in"] + spent["tokens_out"],
        "cached_share": spent["cached_share"],
        "usd": spent["usd"],
        "seconds": report["seconds"],
        # Replies of roles that work side by side are added up: it may be more than all seconds.
        "model_s": round(spent["model_seconds"], 1),
    }


def _unsolved(case: Case, why: str) -> dict[str, object]:
    return {"case": case.name, "solved": False, "sound": False, "outcome": "not run", "why": why}


async def _row(case: Case, check: bool) -> dict[str, object]:
    """One case from the package index to its row; what goes wrong with it does not keep the others from their turn."""
    with tempfile.TemporaryDirectory(prefix="seconder-solves-") as folder:
        try:
            site = await asyncio.to_thread(prepared, case, Path(folder))
            return await (checked(site) if check else solved(site))
        except (subprocess.CalledProcessError, OSError, tarfile.TarError) as error:
            return _unsolved(case, str(error))


async def main() -> int:
    """Check or solve; prints a table. Solves are also written to `build/solves.json`."""
    parser = argparse.ArgumentParser(prog="python -m tests.solves")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="only show that the cases are sound; needs no model")
    asked = parser.parse_args()
    try:
        picked = cases(asked.names)
    except BadCase as error:
        parser.error(str(error))
    rows = []
    for case in picked:
        rows.append(await _row(case, asked.check))
        print("  ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
        if not asked.check:
            OUT.parent.mkdir(exist_ok=True)
            OUT.write_text(json.dumps(rows, indent=2) + "\n")
    if asked.check:
        return 0 if all(row["sound"] for row in rows) else 1
    print("\n".join(["", *table(rows)]))
    return 0 if all(row["solved"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
