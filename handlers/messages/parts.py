"""What several messages show alike: money, time, people, test results, what each agent spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from handlers.messages.neutral import inline


@dataclass(frozen=True)
class Spend:
    """What one agent used so far. `cost` in micro-dollars."""

    agent: str
    calls: int
    tokens: int
    cost: int
    seconds: float


@dataclass(frozen=True)
class Spending:
    """What a run used. `models` are the names that the endpoint gave itself; `budget` in micro-dollars.

    `unconfirmed`: the most that calls cost whose answers were lost, because a process died while they were under way.
    """

    agents: tuple[Spend, ...]
    models: frozenset[str]
    budget: int
    unconfirmed: int = 0

    @property
    def cost(self) -> int:
        """Micro-dollars of all agents."""
        return sum(agent.cost for agent in self.agents)

    @property
    def tokens(self) -> int:
        """Tokens of all agents, in and out."""
        return sum(agent.tokens for agent in self.agents)

    @property
    def calls(self) -> int:
        """Model calls of all agents."""
        return sum(agent.calls for agent in self.agents)

    @property
    def scripted(self) -> bool:
        """Whether a script played the model, so that no model was called at all."""
        return self.models == {"scripted"}


@dataclass(frozen=True)
class TestsView:
    """The result of a test run, as printed by the code under test. `command` is the argv.

    `flaky`, `known`, `on_base` and `proven` are those of `agents.board.TestResults`.
    `refused` are lines of manifests that were not acted on, `blocked` hosts refused while packages were fetched.
    """

    __test__ = False

    outcome: Literal["passed", "failed", "not_run", "conflict"]
    command: tuple[str, ...] = ()
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    exit_code: int | None = None
    seconds: float = 0.0
    reason: str = ""
    isolation: str = ""
    last_line: str = ""
    flaky: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    on_base: Literal["", "fail", "pass", "unknown"] = ""
    proven: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


def money(micro: int) -> str:
    """Micro-dollars as dollars: `$0.42`; anything above nothing is never shown as nothing."""
    if 0 < micro < 10_000:
        return "under $0.01"
    return f"${micro / 1_000_000:,.2f}"


def duration(seconds: float) -> str:
    """Seconds in words: `4 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def sentence(text: str) -> str:
    """The text as one harmless sentence: a capital at the beginning, one full stop at the end."""
    line = inline(text).rstrip(". ")
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def people(logins: Iterable[str], last: str = "or") -> str:
    """Logins in bold and without a mention: nobody is notified by our editing a comment."""
    return listed([f"**{inline(login, 45)}**" for login in logins], last)


def agents(names: Iterable[str]) -> str:
    """Role names as people say them: `product_manager` reads `product manager`."""
    return listed([f"the {agent(name)}" for name in names])


def agent(name: str) -> str:
    """A role's name as people say it."""
    return inline(name.replace("_", " "), 40)


def short(sha: str) -> str:
    """The first twelve digits of a commit's SHA."""
    return sha[:12]


def _counts(tests: TestsView) -> str:
    known = (("failed", tests.failed), ("passed", tests.passed), ("skipped", tests.skipped))
    return ", ".join(
        f"{number} {word}" for word, number in known if number is not None and (number or word == "passed")
    )


def _but_for(tests: TestsView) -> str:
    exceptions = [
        f"{len(names)} that {one if len(names) == 1 else many}"
        for names, one, many in (
            (tests.known, "fails without the change as well", "fail without the change as well"),
            (tests.flaky, "passed only when it was run again", "passed only when they were run again"),
        )
        if names
    ]
    return f" but for {listed(exceptions)}" if exceptions else ""


def tests_in_words(tests: TestsView | None) -> str:
    """One plain sentence about the tests. It says "passed" only when they were run and passed."""
    if tests is None:
        return "not run yet"
    why = inline(tests.reason, 200)
    if tests.outcome == "not_run":
        return f"**not run**: {why or 'no reason was given'}"
    if tests.outcome == "conflict":
        return "**not run**: developer and tester wrote the same file differently"
    counts = _counts(tests)
    if tests.outcome == "passed":
        return f"passed{_but_for(tests)} ({counts or 'the runner printed no numbers'}) in {duration(tests.seconds)}"
    ended = f"ended by {why}" if why and why != "exit" else ""
    code = f"exit code {tests.exit_code}" if tests.exit_code is not None else ""
    details = ", ".join(part for part in (counts, ended or code) if part)
    return f"**failed** ({details or 'no details'}) after {duration(tests.seconds)}"
