"""The verdict on a test run: flaky, known on the base commit, slow; on trees that exist, with a place that answers."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.ports import TestReport, ToolError
from infra.workspace.detect import TestCommand
from infra.workspace.shelf import Shelf
from infra.workspace.suites import Base, Suite, judged
from infra.workspace.testing import Ground

PYTEST = TestCommand("pytest", ("pytest", "-q"), "pytest.ini")
UNITTEST = TestCommand("unittest", ("python", "-m", "unittest", "discover", "-s", "tests", "-t", "."), "tests")
PATHS = frozenset({"tests/test_a.py", "tests/test_b.py"})


@dataclass(frozen=True)
class Run:
    """How a run ends: names of failing tests, the count of passing ones."""

    failing: tuple[str, ...] = ()
    passing: int = 3
    reason: str = "exit"
    seconds: float = 1.0
    truncated: bool = False
    text: str = ""

    @property
    def exit_code(self) -> int | None:
        return None if self.reason != "exit" else int(bool(self.failing or self.text))

    @property
    def output(self) -> bytes:
        names = "".join(f"FAILED {name} - no\n" for name in self.failing)
        summary = f"=== short test summary info ===\n{names}" if names else ""
        counts = [f"{len(self.failing)} failed"] * bool(names) + [f"{self.passing} passed"] * bool(self.passing)
        return (self.text or f"{summary}{', '.join(counts)} in 1.00s\n").encode()


@dataclass
class Place:
    """Answers by the tree's name and the words behind the command; `asked` keeps both, and the seconds given."""

    answers: Mapping[tuple[str, str], Run | Sequence[Run]]
    isolation: str = "told"
    asked: list[tuple[str, str]] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)

    async def unavailable(self) -> str | None:
        return None

    async def run_tree(
        self,
        source: Path,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        environments: Mapping[str, Path] | None = None,
        seconds: float | None = None,
    ) -> Run:
        words = argv[2:] if argv[0] == "pytest" else argv[6 if "discover" in argv else 3 :]
        key = (source.name, " ".join(words))
        self.asked.append(key)
        self.seconds.append(seconds)
        answer = self.answers[key]
        return answer if isinstance(answer, Run) else answer[self.asked.count(key) - 1]


@dataclass
class Scene:
    """A suite on the tree `here`, with the base commit's beside it."""

    place: Place
    suite: Suite
    tree: Path


def scene(
    tmp_path: Path, answers: Mapping[tuple[str, str], Run | Sequence[Run]], command: TestCommand = PYTEST
) -> Scene:
    @contextlib.asynccontextmanager
    async def base() -> AsyncIterator[Path]:
        yield tmp_path / "base"

    async def paths() -> frozenset[str]:
        return PATHS

    place = Place(answers)
    suite = Suite(command, Ground(place), Base(7, "t" * 40, paths, base), Shelf(tmp_path / "shelf"))
    return Scene(place, suite, tmp_path / "here")


A, B, NEW = "tests/test_a.py::test_a", "tests/test_b.py::test_b", "tests/test_new.py::test_new"


@pytest.mark.parametrize(
    ("answers", "outcome", "flaky", "known"),
    [
        pytest.param({("here", ""): Run()}, "passed", (), (), id="all pass, and nothing more is run"),
        pytest.param(
            {("here", ""): Run((A,)), ("here", A): Run((A,), 0), ("base", "tests/test_a.py"): Run()},
            "failed",
            (),
            (),
            id="the change broke it",
        ),
        pytest.param(
            {("here", ""): Run((A,)), ("here", A): Run((), 1), ("base", "tests/test_a.py"): Run()},
            "passed",
            (A,),
            (),
            id="flaky",
        ),
        pytest.param(
            {("here", ""): Run((A,)), ("here", A): Run((A,), 0), ("base", "tests/test_a.py"): Run((A,))},
            "passed",
            (),
            (A,),
            id="it failed before",
        ),
        pytest.param(
            {
                ("here", ""): Run((A, B)),
                ("here", f"{A} {B}"): Run((B,), 1),
                ("base", "tests/test_a.py tests/test_b.py"): Run(),
            },
            "failed",
            (A,),
            (),
            id="one flaky, one broken",
        ),
        pytest.param({("here", ""): Run((NEW,)), ("here", NEW): Run((NEW,), 0)}, "failed", (), (), id="a new test"),
        pytest.param(
            {("here", ""): Run((A,)), ("here", A): Run((), 0), ("base", "tests/test_a.py"): Run()},
            "failed",
            (),
            (),
            id="the second run ran nothing, so it tells nothing",
        ),
        pytest.param(
            {("here", ""): Run((A,), 0), ("here", A): Run((A,), 0), ("base", "tests/test_a.py"): Run((A,))},
            "not_run",
            (),
            (A,),
            id="nothing passes, before or after",
        ),
        pytest.param(
            {("here", ""): Run(text="No module named pytest"), ("base", ""): Run(text="No module named pytest")},
            "not_run",
            (),
            (),
            id="tests cannot run here at all",
        ),
        pytest.param(
            {("here", ""): Run(text="boom"), ("base", ""): Run()}, "failed", (), (), id="the change broke the runner"
        ),
        pytest.param(
            {("here", ""): Run(reason="memory")}, "failed", (), (), id="over a limit: no second look would be different"
        ),
    ],
)
async def test_the_verdict(
    tmp_path: Path,
    answers: dict[tuple[str, str], Run],
    outcome: str,
    flaky: tuple[str, ...],
    known: tuple[str, ...],
) -> None:
    one = scene(tmp_path, answers)
    report = await one.suite.verdict(one.tree, False, ())
    assert (report.outcome, report.flaky, report.known) == (outcome, flaky, known)
    assert sorted(one.place.asked) == sorted(answers), "nothing else is run"


async def test_the_reason_why_tests_cannot_run_is_said(tmp_path: Path) -> None:
    broken = Run(text="python: No module named pytest\n")
    one = scene(tmp_path, {("here", ""): broken, ("base", ""): broken})
    report = await one.suite.verdict(one.tree, False, ())
    assert report.reason == "on the base commit they fail in the same way: python: No module named pytest"


async def test_the_base_commit_is_run_once(tmp_path: Path) -> None:
    answers = {("here", ""): Run((A,)), ("here", A): Run((A,), 0), ("base", "tests/test_a.py"): Run((A,))}
    one, other = scene(tmp_path, answers), scene(tmp_path, answers)
    first = await one.suite.verdict(one.tree, False, ())
    assert await other.suite.verdict(other.tree, False, ()) == first
    assert ("base", "tests/test_a.py") not in other.place.asked


async def test_on_the_base_commit_itself_every_failure_is_known(tmp_path: Path) -> None:
    one = scene(tmp_path, {("here", ""): Run((A,))})
    report = await one.suite.for_agent(one.tree, True, (), 120.0)
    assert (report.outcome, report.known, report.blamed) == ("failed", (A,), ())


async def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    names = tuple(f"tests/test_a.py::test_{number}" for number in range(11))
    one = scene(tmp_path, {("here", ""): Run(names), ("base", "tests/test_a.py"): Run()})
    assert (await one.suite.verdict(one.tree, False, ())).outcome == "failed"


SLOW = Run(seconds=900.0)
FIRST = ("tests/test_new.py",)


async def test_of_a_slow_suite_the_selection_comes_first(tmp_path: Path) -> None:
    fails = Run((NEW,))
    one = scene(
        tmp_path,
        {("here", ""): [SLOW, SLOW], ("here", FIRST[0]): [fails, Run()], ("here", NEW): Run((NEW,), 0)},
    )
    await one.suite.verdict(one.tree, False, FIRST)
    assert one.place.asked == [("here", "")], "how long it takes is not known yet"
    report = await one.suite.verdict(one.tree, False, FIRST)
    assert (report.outcome, report.failures) == ("failed", (NEW,))
    assert "slow rest was not run" in report.reason
    assert one.place.asked.count(("here", "")) == 1
    assert (await one.suite.verdict(one.tree, False, FIRST)).outcome == "passed"
    assert one.place.asked.count(("here", "")) == 2
    with pytest.raises(ToolError, match="900 seconds or more here: select tests"):
        await one.suite.for_agent(one.tree, False, (), 120.0)


async def test_an_agent_waits_for_a_whole_suite_only_so_long(tmp_path: Path) -> None:
    one = scene(tmp_path, {("here", ""): [Run(reason="timeout", seconds=120.0), Run()]})
    report = await one.suite.for_agent(one.tree, False, (), 120.0)
    assert (report.outcome, one.place.seconds) == ("failed", [120.0])
    assert "select tests" in report.reason
    again = await one.suite.for_agent(one.tree, False, (), 120.0)
    assert again.outcome == "passed", "a change that hung once says nothing of the suite"


@pytest.mark.parametrize(
    ("base", "outcome", "words"),
    [
        pytest.param(Run(reason="timeout", seconds=300.0), "passed", "only the new and changed tests", id="both"),
        pytest.param(Run(seconds=200.0), "failed", "timeout", id="only the change"),
    ],
)
async def test_a_suite_that_is_too_long_in_any_case_is_not_blamed_on_the_change(
    tmp_path: Path, base: Run, outcome: str, words: str
) -> None:
    late = Run(reason="timeout", seconds=300.0)
    one = scene(tmp_path, {("here", ""): late, ("base", ""): base, ("here", FIRST[0]): Run()})
    report = await one.suite.verdict(one.tree, False, FIRST)
    assert report.outcome == outcome
    assert words in report.reason


async def test_unittest_runs_failures_again_by_name(tmp_path: Path) -> None:
    name = "tests.test_a.T.test_a"
    fails = f"{'=' * 70}\nFAIL: test_a ({name})\n{'-' * 70}\nRan 2 tests in 0.1s\n\nFAILED (failures=1)\n"
    answers = {
        ("here", "-t ."): Run(text=fails),
        ("here", f"-t . -k {name}"): Run(passing=1),
        ("base", "tests.test_a"): Run(),
    }
    one = scene(tmp_path, answers, UNITTEST)
    report = await one.suite.verdict(one.tree, False, ())
    assert (report.outcome, report.flaky) == ("passed", (name,))


@pytest.mark.parametrize(
    "record", [pytest.param("[", id="broken"), pytest.param('{"odd": 1}', id="other"), pytest.param("7", id="number")]
)
async def test_a_broken_record_is_made_anew(tmp_path: Path, record: str) -> None:
    answers = {("here", ""): Run((A,)), ("here", A): Run((A,), 0), ("base", "tests/test_a.py"): Run((A,))}
    one = scene(tmp_path, answers)
    await one.suite.verdict(one.tree, False, ())
    for path in (tmp_path / "shelf").iterdir():
        path.write_text(record)
    report = await one.suite.verdict(one.tree, False, ())
    assert report.known == (A,)
    assert one.place.asked.count(("base", "tests/test_a.py")) == 2


def test_judging_is_pure_and_blames_what_is_left() -> None:
    report = TestReport("failed", reason="exit", passed=1, failures=("a", "b"))
    assert judged(report, None) == report
    both = judged(report, TestReport("failed", reason="exit", failures=("a", "b", "c")))
    assert (both.outcome, both.known, both.blamed) == ("passed", ("a", "b"), ())
    timed_out = judged(report, TestReport("failed", reason="timeout", failures=("a", "b")))
    assert timed_out.outcome == "failed"
