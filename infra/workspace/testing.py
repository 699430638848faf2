"""Runs a work tree's tests and reads what they printed.

Everything printed comes from the code under test: it is cut, cleaned and shown, and only integers are taken from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from agents.ports import TestReport, ToolError
from infra.workspace.detect import TestCommand
from infra.workspace.failures import failing
from infra.workspace.needs import Provided, RunResult, TestPlace

OUTPUT_BYTES = 20_000
# A package beside its tests, or below src/, can be imported without being installed.
_ENV = {"PYTHONPATH": "{work}:{work}/src"}
_SELECTION_CHARACTERS = 500
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_PYTEST_SUMMARY = re.compile(r"^[= ]*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)
_JEST_SUMMARY = re.compile(r"^Tests: +(.+total)", re.MULTILINE)
_PAIR = re.compile(r"(?<!\d)(\d{1,7}) (passed|failed|skipped|errors?|xfailed|xpassed|todo)")
_UNITTEST_RAN = re.compile(r"^Ran (\d{1,7}) tests? in ", re.MULTILINE)
_UNITTEST_END = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?\s*$", re.MULTILINE)
_NODE = re.compile(r"^(?:#|ℹ) (pass|fail|skipped) (\d{1,7})\s*$", re.MULTILINE)
_MOCHA = re.compile(r"^\s+(\d{1,7}) (passing|failing|pending)\b", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w+\. (\d{1,7}) passed; (\d{1,7}) failed; (\d{1,7}) ignored;", re.MULTILINE)
_GO = re.compile(r"^\s*--- (PASS|FAIL|SKIP): ", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """How many tests passed, failed and were skipped, by their own word; None when they did not say."""

    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None


@dataclass(frozen=True)
class Ground:
    """Where tests run: the sandbox, and where there is none a plain process, if one was given for that case.

    `prepared` gives what the tests of a tree need besides it; without it, they have the sandbox's own toolchain.
    """

    sandbox: TestPlace
    plain: TestPlace | None = None
    prepared: Callable[[Path], AbstractAsyncContextManager[Provided]] | None = None


async def run(tree: Path, words: tuple[str, ...], ground: Ground, seconds: float | None = None) -> TestReport:
    """Run a command on a copy of `tree`, for at most `seconds` if given.

    Without a place nothing is run, nor where the environment that the tests need cannot be made.
    """
    place = ground.sandbox
    problem = await place.unavailable()
    if problem is not None:
        if ground.plain is None:
            return TestReport("not_run", words, reason=problem)
        place = ground.plain
    if ground.prepared is None or problem is not None:
        return _report(await place.run_tree(tree, words, _ENV, seconds=seconds), words, place.isolation)
    async with ground.prepared(tree) as given:
        if given.problem:
            report = TestReport("not_run", words, reason=given.problem)
        else:
            env = {"PYTHONPATH": ":".join([_ENV["PYTHONPATH"], *(f"{{work}}/{root}" for root in given.roots)])}
            report = _report(await place.run_tree(tree, words, env, given.folders, seconds), words, place.isolation)
        return replace(report, refused=given.refused, blocked=given.blocked)


_PYTEST = re.compile(r"(?:^|/)(?:pytest|py\.test)$")
_BARE_FLAG = re.compile(r"-[lqsvx]+$")


def narrowed(command: TestCommand, selection: tuple[str, ...]) -> tuple[str, ...]:
    """The command's words for a part of the tests. Raises `ToolError`."""
    for part in selection:
        if not part or part.startswith("-") or len(part) > _SELECTION_CHARACTERS or not part.isprintable():
            raise ToolError(f"{part[:100]!r} does not select tests: give paths or test names, no options")
        if part.startswith("/") or ".." in part.split("/"):
            raise ToolError(f"{part[:100]!r} leads out of the repository: give paths relative to its root")
    if not selection:
        return command.words
    if command.kind == "unittest":
        return ("python", "-m", "unittest", *(_dotted(part) for part in selection))
    if command.kind == "npm":
        return (*command.words, "--", *selection)
    if command.kind == "cargo":
        return (*command.words, *_cargo_words(selection))
    if command.kind == "go":
        return (*command.words[:-1], *dict.fromkeys(_package(part) for part in selection))
    if command.kind == "make":
        raise ToolError("`make test` runs all tests; call run_tests without a selection")
    return (*unaimed(command), *selection)


def unaimed(command: TestCommand) -> tuple[str, ...]:
    """The command's words without the paths at their end: added to them, a selection would select nothing.

    Patterns are paths for every runner, other words for pytest alone, and neither behind an option that may take one.
    """
    words = list(command.words)
    while len(words) > 1 and not words[-1].startswith("-"):
        is_path = command.runner == "pytest" and not _PYTEST.search(words[-1])
        if words[-2].startswith("-") and not _BARE_FLAG.match(words[-2]):
            break
        if not ("*" in words[-1] or is_path):
            break
        words.pop()
    return tuple(words)


def _cargo_words(selection: tuple[str, ...]) -> tuple[str, ...]:
    """Files below `tests/` are test targets of their own; everything else is a test's name."""
    targets = [part for part in selection if part.endswith(".rs")]
    odd = [part for part in targets if not part.startswith("tests/") or part.count("/") > 1]
    if odd:
        raise ToolError(f"cargo selects tests by name, or files right below tests/; {odd[0]} is neither")
    files = (word for part in targets for word in ("--test", part.removeprefix("tests/").removesuffix(".rs")))
    names = tuple(part for part in selection if part not in targets)
    return (*files, *(("--", *names) if names else ()))


def _package(part: str) -> str:
    """Go selects packages, which are directories."""
    directory = part.rpartition("/")[0] if part.endswith(".go") else part
    return directory if directory.startswith("./") else f"./{directory}"


def _dotted(part: str) -> str:
    path, *names = part.split("::")
    module = path.removesuffix(".py").strip("/").replace("/", ".") if path.endswith(".py") else path
    return ".".join((module, *names))


def _report(result: RunResult, words: tuple[str, ...], isolation: str) -> TestReport:
    text = cleaned(result.output)
    if result.reason == "backend_error":
        said = " ".join(text.split())[-300:]
        return TestReport(
            "not_run", words, reason=f"the sandbox could not start the tests: {said}", isolation=isolation
        )
    counts = count(text)
    return TestReport(
        outcome="passed" if result.reason == "exit" and result.exit_code == 0 else "failed",
        command=words,
        exit_code=result.exit_code,
        reason=result.reason,
        output=_shortened(text, result.truncated),
        seconds=round(result.seconds, 3),
        passed=counts.passed,
        failed=counts.failed,
        skipped=counts.skipped,
        isolation=isolation,
        failures=failing(text) if result.exit_code != 0 else (),
    )


def cleaned(output: bytes) -> str:
    """What a command printed as text: no escape sequences, no control characters, odd bytes marked."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n")
    return unicodedata.normalize("NFC", _UNPRINTABLE.sub("", _ESCAPES.sub("", text)))


def _shortened(text: str, is_truncated: bool) -> str:
    raw = text.encode()
    if len(raw) > OUTPUT_BYTES:
        kept = raw[-OUTPUT_BYTES:].decode("utf-8", "ignore")
        text = f"[the first {len(raw) - OUTPUT_BYTES:,} bytes are left out; select fewer tests to see them]\n{kept}"
    return f"{text}\n[stopped: the tests printed more than the limit]" if is_truncated else text


def count(text: str) -> Counts:
    """The counts in a test runner's summary: pytest, unittest, Jest, Node's runner, Mocha, cargo or `go test -v`."""
    readers: Iterable[Callable[[str], Counts | None]] = (_pytest, _unittest, _jest, _node, _mocha, _cargo, _go)
    for reader in readers:
        found = reader(text)
        if found is not None:
            return found
    return Counts()


def _pytest(text: str) -> Counts | None:
    found = _PYTEST_SUMMARY.findall(text)
    return _pairs(found[-1]) if found else None


def _jest(text: str) -> Counts | None:
    found = _JEST_SUMMARY.findall(text)
    return _pairs(found[-1]) if found else None


def _pairs(summary: str) -> Counts:
    numbers = {name: int(number) for number, name in _PAIR.findall(summary)}
    errors = numbers.get("error", 0) + numbers.get("errors", 0)
    skipped = numbers.get("skipped", 0) + numbers.get("todo", 0) + numbers.get("xfailed", 0)
    return Counts(numbers.get("passed", 0) + numbers.get("xpassed", 0), numbers.get("failed", 0) + errors, skipped)


def _unittest(text: str) -> Counts | None:
    ran = _UNITTEST_RAN.findall(text)
    end = _UNITTEST_END.findall(text)
    if not ran or not end:
        return None
    numbers = {name.strip(): int(number) for name, number in re.findall(r"([a-z ]+)=(\d{1,7})", end[-1])}
    failed = numbers.get("failures", 0) + numbers.get("errors", 0) + numbers.get("unexpected successes", 0)
    skipped = numbers.get("skipped", 0) + numbers.get("expected failures", 0)
    return Counts(max(0, int(ran[-1]) - failed - skipped), failed, skipped)


def _node(text: str) -> Counts | None:
    numbers = {name: int(number) for name, number in _NODE.findall(text)}
    return Counts(numbers["pass"], numbers.get("fail", 0), numbers.get("skipped", 0)) if "pass" in numbers else None


def _mocha(text: str) -> Counts | None:
    numbers = {name: int(number) for number, name in _MOCHA.findall(text)}
    if "passing" not in numbers:
        return None
    return Counts(numbers["passing"], numbers.get("failing", 0), numbers.get("pending", 0))


def _cargo(text: str) -> Counts | None:
    found = _CARGO.findall(text)
    if not found:
        return None
    passed, failed, ignored = (sum(int(row[place]) for row in found) for place in range(3))
    return Counts(passed, failed, ignored)


def _go(text: str) -> Counts | None:
    found = _GO.findall(text)
    return Counts(found.count("PASS"), found.count("FAIL"), found.count("SKIP")) if found else None
