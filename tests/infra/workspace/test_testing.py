"""What is taken from a test run's output, and how a run is narrowed."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.ports import ToolError
from infra.workspace.detect import Kind, TestCommand
from infra.workspace.testing import Counts, Ground, count, narrowed, run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("..F.\n1 failed, 3 passed, 2 skipped in 0.12s\n", Counts(3, 1, 2), id="pytest-quiet"),
        pytest.param("===== 3 passed, 1 warning in 1.2s =====\n", Counts(3, 0, 0), id="pytest"),
        pytest.param("2 errors in 0.1s\n", Counts(0, 2, 0), id="pytest-errors"),
        pytest.param("1 passed, 1 xfailed, 1 xpassed in 61.00s (0:01:01)\n", Counts(2, 0, 1), id="pytest-xfail"),
        pytest.param("no tests ran in 0.00s\n", Counts(), id="pytest-none"),
        pytest.param(
            "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", Counts(2, 2, 1), id="unittest"
        ),
        pytest.param("Ran 2 tests in 0.1s\n\nOK\n", Counts(2, 0, 0), id="unittest-ok"),
        pytest.param("Ran 0 tests in 0.0s\n\nNO TESTS RAN\n", Counts(0, 0, 0), id="unittest-none"),
        pytest.param("Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", Counts(3, 1, 2), id="jest"),
        pytest.param("# tests 3\n# pass 2\n# fail 1\n# skipped 0\n", Counts(2, 1, 0), id="node-tap"),
        pytest.param("ℹ tests 2\nℹ pass 2\nℹ fail 0\n", Counts(2, 0, 0), id="node-spec"),
        pytest.param("  3 passing (5ms)\n  1 pending\n  2 failing\n", Counts(3, 2, 1), id="mocha"),
        pytest.param(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n"
            "test result: FAILED. 1 passed; 2 failed; 0 ignored;",
            Counts(4, 2, 1),
            id="cargo",
        ),
        pytest.param("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", Counts(1, 1, 0), id="go-verbose"),
        pytest.param("ok  \tx\t0.01s\n", Counts(), id="go"),
        pytest.param("", Counts(), id="silent"),
        pytest.param("99999999999999999999 passed in 1s\n", Counts(0, 0, 0), id="absurd-number"),
        pytest.param("1 passed in 1s\n" * 3, Counts(1, 0, 0), id="the-last-summary-counts"),
    ],
)
def test_counts(text: str, expected: Counts) -> None:
    assert count(text) == expected


def command(kind: Kind, *words: str) -> TestCommand:
    return TestCommand(kind, words, "x")


@pytest.mark.parametrize(
    ("whole", "selection", "words"),
    [
        pytest.param(command("pytest", "pytest"), (), "pytest", id="all"),
        pytest.param(command("pytest", "pytest", "-q"), ("a.py::test_x",), "pytest -q a.py::test_x", id="pytest"),
        pytest.param(
            command("unittest", "python", "-m", "unittest", "discover", "-s", "tests"),
            ("tests/test_a.py::T::test_x", "tests.test_b"),
            "python -m unittest tests.test_a.T.test_x tests.test_b",
            id="unittest",
        ),
        pytest.param(command("npm", "npm", "test"), ("a.js",), "npm test -- a.js", id="npm"),
        pytest.param(command("go", "go", "test", "./..."), ("pkg", "./b"), "go test ./pkg ./b", id="go"),
        pytest.param(
            command("go", "go", "test", "./..."), ("a/x_test.go", "a/y_test.go"), "go test ./a", id="go-files"
        ),
        pytest.param(command("cargo", "cargo", "test"), ("name",), "cargo test -- name", id="cargo"),
        pytest.param(
            command("cargo", "cargo", "test"), ("tests/a.rs", "b"), "cargo test --test a -- b", id="cargo-file-and-name"
        ),
        pytest.param(command("configured", "./t"), ("a",), "./t a", id="configured"),
        pytest.param(
            command("configured", "python", "-m", "pytest", "-q", "tests/test_a.py", "tests/test_b.py"),
            ("tests/test_b.py",),
            "python -m pytest -q tests/test_b.py",
            id="in-place-of-configured-files",
        ),
        pytest.param(
            command("configured", "pytest", "-k", "not slow", "-p", "no:x", "tests"),
            ("a.py",),
            "pytest -k not slow -p no:x a.py",
            id="options-keep-their-values",
        ),
        pytest.param(command("configured", "bin/pytest"), ("a.py",), "bin/pytest a.py", id="pytest-by-path"),
        pytest.param(
            command("configured", "node", "bin/tape", "test/*.js"),
            ("test/a.js",),
            "node bin/tape test/a.js",
            id="pattern",
        ),
        pytest.param(
            command("configured", "sh", "-c", "run test/*"),
            ("a",),
            "sh -c run test/* a",
            id="an-option-takes-the-pattern",
        ),
    ],
)
def test_narrowed(whole: TestCommand, selection: tuple[str, ...], words: str) -> None:
    assert " ".join(narrowed(whole, selection)) == words


@pytest.mark.parametrize("part", ["-p", "--rootdir=/", "", "/etc", "../x", "a/../../x", "a\nb", "a\0b", "x" * 501])
def test_selection_that_is_refused(part: str) -> None:
    with pytest.raises(ToolError):
        narrowed(command("pytest", "pytest"), (part,))


def test_make_cannot_be_narrowed() -> None:
    with pytest.raises(ToolError, match="without a selection"):
        narrowed(command("make", "make", "test"), ("a",))


@dataclass(frozen=True)
class Ended:
    """What a place answers."""

    exit_code: int | None = 0
    reason: str = "exit"
    output: bytes = b""
    truncated: bool = False
    seconds: float = 1.0


@dataclass
class Place:
    """A place to run tests that answers as told."""

    ended: Ended = field(default_factory=Ended)
    problem: str | None = None
    isolation: str = "told"
    asked: list[tuple[str, ...]] = field(default_factory=list)
    given: list[tuple[str, dict[str, Path]]] = field(default_factory=list)

    async def unavailable(self) -> str | None:
        return self.problem

    async def run_tree(
        self,
        source: Path,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        environments: Mapping[str, Path] | None = None,
        seconds: float | None = None,
    ) -> Ended:
        self.asked.append(argv)
        self.given.append((env["PYTHONPATH"], dict(environments or {})))
        return self.ended


@dataclass(frozen=True)
class Given:
    """What a test run is given."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    problem: str = ""


@dataclass
class Maker:
    """Gives what it was told to, and notes for which trees, and how many are held."""

    given: Given
    trees: list[Path] = field(default_factory=list)
    held: int = 0

    @contextlib.asynccontextmanager
    async def prepared(self, tree: Path) -> AsyncIterator[Given]:
        self.trees.append(tree)
        self.held += 1
        yield self.given
        self.held -= 1


PYTEST = command("pytest", "pytest")


@pytest.mark.parametrize(
    ("ended", "outcome", "reason"),
    [
        pytest.param(Ended(0), "passed", "exit", id="passed"),
        pytest.param(Ended(1), "failed", "exit", id="failed"),
        pytest.param(Ended(5), "failed", "exit", id="nothing-collected"),
        pytest.param(Ended(None, "timeout"), "failed", "timeout", id="timeout"),
        pytest.param(Ended(None, "memory"), "failed", "memory", id="memory"),
        pytest.param(Ended(None, "output_cap", truncated=True), "failed", "output_cap", id="output"),
        pytest.param(
            Ended(None, "backend_error", b"bwrap: no"), "not_run", "the sandbox could not start", id="backend"
        ),
        pytest.param(Ended(0, "timeout"), "failed", "timeout", id="success-that-is-none"),
    ],
)
async def test_outcomes(tmp_path: Path, ended: Ended, outcome: str, reason: str) -> None:
    report = await run(tmp_path, PYTEST.words, Ground(Place(ended), None))
    assert report.outcome == outcome
    assert report.reason.startswith(reason)
    assert report.isolation == "told"


async def test_without_a_sandbox_nothing_runs_unless_a_plain_place_was_given(tmp_path: Path) -> None:
    sandbox = Place(problem="No namespaces. Allow them.")
    refused = await run(tmp_path, PYTEST.words, Ground(sandbox, None))
    assert (refused.outcome, refused.reason) == ("not_run", "No namespaces. Allow them.")
    plain = Place(isolation="none: a plain process")
    ran = await run(tmp_path, PYTEST.words, Ground(sandbox, plain))
    assert (ran.outcome, ran.isolation) == ("passed", "none: a plain process")
    assert sandbox.asked == []
    unused = Place()
    await run(tmp_path, PYTEST.words, Ground(Place(), unused))
    assert unused.asked == []


async def test_output_is_cleaned_and_cut(tmp_path: Path) -> None:
    raw = b"\x1b[31mred\x1b[0m \x1b]0;title\x07caf\xc3\xa9 \xff\x00\x07\r\nend"
    report = await run(tmp_path, PYTEST.words, Ground(Place(Ended(output=raw)), None))
    assert report.output == "red café \ufffd\nend"
    long = await run(
        tmp_path, PYTEST.words, Ground(Place(Ended(1, output=b"x" * 50_000 + b"\n1 failed in 1.0s\n")), None)
    )
    assert long.output.startswith("[the first 30,0")
    assert long.output.endswith("1 failed in 1.0s\n")
    assert len(long.output) < 20_200
    assert long.failed == 1


async def test_an_environment_is_used_and_held_while_the_tests_run(tmp_path: Path) -> None:
    place, folders = Place(), {"python": tmp_path}
    maker = Maker(Given(folders, roots=("lib",), refused=("r.txt: --pre (an option)",), blocked=("evil.test",)))
    report = await run(tmp_path, PYTEST.words, Ground(place, prepared=maker.prepared))
    assert (report.outcome, report.refused, report.blocked) == ("passed", ("r.txt: --pre (an option)",), ("evil.test",))
    assert place.given == [("{work}:{work}/src:{work}/lib", folders)]
    assert (maker.trees, maker.held) == ([tmp_path], 0)


async def test_what_has_no_environment_is_not_run(tmp_path: Path) -> None:
    place, maker = Place(), Maker(Given(problem="its packages could not be fetched: no x", blocked=("evil.test",)))
    report = await run(tmp_path, PYTEST.words, Ground(place, prepared=maker.prepared))
    assert (report.outcome, report.reason) == ("not_run", "its packages could not be fetched: no x")
    assert (report.blocked, place.asked) == (("evil.test",), [])


async def test_where_nothing_is_kept_apart_no_environment_is_made(tmp_path: Path) -> None:
    maker = Maker(Given())
    ground = Ground(Place(problem="No namespaces."), Place(), maker.prepared)
    assert (await run(tmp_path, PYTEST.words, ground)).outcome == "passed"
    assert maker.trees == []
