"""What agents need from the outside, as small Protocols: a model, the tools of a workspace, prices, and a journal.

Money is integer micro-dollars (1 USD = 1_000_000) everywhere. Message content is the Messages API's own JSON blocks,
passed back unchanged: thinking blocks are bound to the conversation that made them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

Json = dict[str, object]


@dataclass(frozen=True)
class Usage:
    """Tokens of one call. The total input is the sum of the four input fields."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def total(self) -> int:
        """All tokens, in and out."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.cache_write_1h_tokens
        )


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model sees it; `schema` is a JSON schema of an object."""

    name: str
    description: str
    schema: Json
    strict: bool = True


@dataclass(frozen=True)
class ModelRequest:
    """One call. `system` blocks and `messages` are Messages API JSON with cache marks; `seconds` bounds it."""

    model: str
    system: tuple[Json, ...]
    tools: tuple[ToolSpec, ...]
    messages: tuple[Json, ...]
    max_tokens: int
    effort: Literal["low", "medium", "high"]
    seconds: float


@dataclass(frozen=True)
class Reply:
    """One complete answer. `content` is JSON blocks; `model` is what the endpoint says answered."""

    content: tuple[Json, ...]
    stop_reason: str
    usage: Usage
    model: str
    request_id: str | None = None
    seconds: float = 0.0


ModelErrorKind = Literal["overloaded", "rate_limited", "unavailable", "rejected", "unauthorised", "spend_limit"]


class ModelError(Exception):
    """A call that brought no reply. `retry_after_s` is what the endpoint asked for, if it did.

    overloaded, rate_limited and unavailable (5xx, connection, time-out, truncated stream) heal with time;
    rejected (the request itself), unauthorised and spend_limit do not.
    """

    def __init__(self, kind: ModelErrorKind, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind: ModelErrorKind = kind
        self.retry_after_s = retry_after_s

    @property
    def heals(self) -> bool:
        """Whether trying again later can help."""
        return self.kind in ("overloaded", "rate_limited", "unavailable")


class Model(Protocol):
    """A language model behind the Messages API."""

    async def reply(self, request: ModelRequest) -> Reply:
        """One complete reply. Raises `ModelError`; a stream that ends early is an `unavailable`, never a reply."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int:
        """Input tokens that the request would take. Raises `ModelError`."""
        ...


class Prices(Protocol):
    """List prices per request, in micro-dollars."""

    def cost(self, model: str, usage: Usage) -> int:
        """Price of one finished call; an unknown model is priced as the dearest known."""
        ...

    def ceiling(self, model: str, input_tokens: int, max_tokens: int) -> int:
        """The most that a call can cost: all input uncached and written to the cache, all of max_tokens used."""
        ...


class ToolError(Exception):
    """A tool could not do what was asked; the text is shown to the model as it stands, so it says what would work."""


@dataclass(frozen=True)
class FileText:
    """A file's text as UTF-8. `lines` is the whole file's line count."""

    path: str
    text: str
    lines: int


@dataclass(frozen=True)
class SearchHit:
    """One matching line; `line` counts from 1."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class TestReport:
    """What a test run printed. `outcome` not_run means that it tells nothing, `reason` says why.

    `failures` are the failing tests by the runner's own names. Of these, `flaky` passed when they were run again, and
    `known` fail on the base commit as well. Where nothing else fails, the outcome is passed.

    `refused` are lines of the repository's manifests that were not acted on, `blocked` hosts that were refused while
    its packages were fetched.
    """

    __test__ = False

    outcome: Literal["passed", "failed", "not_run"]
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    reason: str = ""
    output: str = ""
    seconds: float = 0.0
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    isolation: str = ""
    failures: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    @property
    def blamed(self) -> tuple[str, ...]:
        """The failures that are neither flaky nor there on the base commit."""
        return tuple(name for name in self.failures if name not in self.flaky and name not in self.known)


@dataclass(frozen=True)
class CommandReport:
    """What came of a command in the sandbox. `exit_code` is None unless `reason` is exit.

    `changed`, `deleted` and `left` are paths: what of its changes was taken over, and what was not, with the reason.
    """

    command: tuple[str, ...]
    exit_code: int | None
    reason: str
    output: str
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Commands(Protocol):
    """What a workspace can run for an agent, all of it in the sandbox. Raises as `Tools` does."""

    async def run_tests(self, selection: tuple[str, ...]) -> TestReport:
        """Run the repository's tests on a copy of the tree as it stands; `selection` narrows the run."""
        ...

    async def lint(self, paths: tuple[str, ...]) -> CommandReport:
        """Run the linter that the repository configures, on the changed files if no paths are given."""
        ...

    async def shell(self, command: str, seconds: float) -> CommandReport:
        """Run a shell command on a copy of the tree, and take over the files that it changes; no link is followed."""
        ...


class Tools(Commands, Protocol):
    """What a workspace can do for an agent. Paths are relative POSIX paths in the work tree; no link is followed.

    Every verb raises `ToolError` with a helpful text for anything that the model could do better.
    """

    async def read(self, path: str) -> FileText:
        """A text file. Refuses directories, links, binary files and files over 1 MB."""
        ...

    async def listing(self, path: str) -> tuple[str, ...]:
        """Names in a directory, sorted; directories end in a slash. The root is an empty path or a dot."""
        ...

    async def search(self, pattern: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        """Lines that match a regular expression, at most `limit`, ignored files left out."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Create or replace a text file (UTF-8, newlines as given), directories included; keeps its mode."""
        ...

    async def delete(self, path: str) -> None:
        """Remove one file."""
        ...

    async def diff(self) -> str:
        """The unified diff of the tree as it stands against the base commit."""
        ...


@dataclass(frozen=True)
class Turn:
    """One committed exchange of a step: a model reply (`reply`), or what goes back to it (`results`).

    `content` is Messages API JSON blocks. `tree` and `pack` fix the work tree after tools that changed files.
    `steers` is how many of the step's steers the content of a `results` turn carries.
    """

    kind: Literal["reply", "results"]
    content: tuple[Json, ...]
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: int = 0
    model: str = ""
    seconds: float = 0.0
    tools: tuple[str, ...] = ()
    tree: str = ""
    pack: str = ""
    steers: int = 0


@dataclass(frozen=True)
class Signals:
    """What waited for the step when a turn was stored: all steers that no stored turn carries yet, oldest first."""

    steers: tuple[str, ...] = ()
    cancelled: bool = False


class Fenced(Exception):
    """The step belongs to somebody else by now (its lease ran out), or was cancelled: stop, write nothing more."""


class Journal(Protocol):
    """Where a step's turns are stored before anything is done about them."""

    async def reserve(self, amount: int) -> bool:
        """Set aside the most that the next call can cost; False when the run has less left. Raises `Fenced`."""
        ...

    async def left(self) -> int:
        """Micro-dollars that the run may still reserve."""
        ...

    async def store(self, turn: Turn) -> Signals:
        """Store a turn, settling the reservation by its cost; returns what waits for the step. Raises `Fenced`."""
        ...
