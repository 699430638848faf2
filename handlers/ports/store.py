"""The store as the core needs it: bus, log, steps under leases, turns, effects, blobs.

Times are milliseconds UTC, money is integer micro-dollars.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents.board import Entry
from handlers.events import Actor, Event, RepoRef


class StoreDown(ConnectionError):
    """The store cannot be reached, or takes no writes now. What was asked may have been done: every write is safe to
    repeat. No step is to blame, so none may fail because of it."""


@dataclass(frozen=True)
class Delivery:
    """One webhook delivery as it goes into the store: ids to recognise a repeat by, and the small events made of it.

    `body_digest` is None for kinds that repeat byte for byte (button presses, re-requests).
    """

    id: str
    body_digest: str | None
    events: tuple[Event, ...]


class Bus(Protocol):
    """A stream with consumer groups; anything may subscribe, also late, also from another process."""

    async def ingest(self, delivery: Delivery) -> bool:
        """Store a delivery's events, once: False when the delivery or its body was seen before."""
        ...

    async def read(
        self, group: str, consumer: str, count: int, block_ms: int, held: Collection[str] = ()
    ) -> Sequence[tuple[str, Event]]:
        """The next events of a group with their stream ids: first what this consumer has not acknowledged, then new.

        `held` are stream ids that it has in hand still and is not given again.
        """
        ...

    async def keep(self, group: str, consumer: str) -> None:
        """This consumer lives: what it was given stays its own for another ten seconds, or goes to others then."""
        ...

    async def first(self, group: str, lane: str, ids: Sequence[str]) -> str:
        """Note that a consumer was given these events of a lane; the oldest one in it that anybody has in hand."""
        ...

    async def ack(self, group: str, ids: Sequence[str]) -> None: ...

    async def park(self, group: str, stream_id: str, event: Event, reason: str) -> None:
        """Put a poison event aside, visibly, and acknowledge it."""
        ...


RecordType = Literal["run", "event", "entry", "activated", "turn", "ended", "attempt", "receipt", "note"]


RECORD_VERSION = 1


@dataclass(frozen=True)
class LogRecord:
    """One record of a run's log. `position` counts from 1, `at` is milliseconds UTC.

    `v` is the version of its schema, `chain` the digest that ties it to all records before it. Of an `erased` record
    the content was purged: only ids, authors, parents, votes and receipts are left in `data`.
    """

    position: int
    type: RecordType
    data: Mapping[str, object]
    at: int
    v: int = RECORD_VERSION
    chain: str = ""
    erased: bool = False


class LogUnreadable(Exception):
    """A record of a run's log is missing or cannot be read: nothing may be concluded from what comes behind it."""

    def __init__(self, run: str, position: int, why: str) -> None:
        super().__init__(f"the log of run {run} cannot be read at record {position}: {why}")
        self.run = run
        self.position = position
        self.why = why


@dataclass(frozen=True)
class Checkpoint:
    """A stored fold of a run's log up to `position`, where the log's chain is `chain`.

    `digest` is the SHA-256 in hex of `content`, JSON whose form has the version `schema`.
    """

    position: int
    chain: str
    schema: int
    digest: str
    content: bytes


class Checkpoints(Protocol):
    """One checkpoint per run: a cache that may be missing, old or damaged at any time."""

    async def load(self, run: str) -> Checkpoint | None:
        """The newest checkpoint that was saved, as it is stored; None when there is none."""
        ...

    async def save(self, run: str, checkpoint: Checkpoint) -> bool:
        """Replace the run's checkpoint; False when its content is over 8 MiB and nothing was stored."""
        ...


@dataclass(frozen=True)
class NewRun:
    """A run to start. `entries` are its first (issue, repository map); `workflow` is stored whole in the run."""

    repo: RepoRef
    issue: int
    requester: Actor
    base_sha: str
    default_branch: str
    workflow: Mapping[str, object]
    budget: int
    cause: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class RunFacts:
    """A run's small, often read facts. Money in micro-dollars; `length` is the log's.

    `reserved` is set aside for calls under way; `unconfirmed` is the most that calls cost whose answers were lost.

    `after` is when the issue's run before this one ended, None for the first.

    `delimiter` is a random word by which people's text is fenced off in this run's prompts.
    """

    id: str
    repo: RepoRef
    issue: int
    attempt: int
    status: str
    requester: Actor
    base_sha: str
    default_branch: str
    workflow: Mapping[str, object]
    delimiter: str
    budget: int
    spent: int
    reserved: int
    unconfirmed: int
    length: int
    started_at: int
    pull: int | None = None
    branch: str | None = None
    ended_at: int | None = None
    after: int | None = None


@dataclass(frozen=True)
class Word:
    """What somebody said, or that something which waiting steps look at has changed. Counts once per `cause`.

    `steers` reach running agents before their next turn; `budget` raises the run's limit (micro-dollars), to `ceiling`
    at most: a word that would go beyond is not written at all. Without a ceiling (0) there is no bound. `halt` is a
    reason to stop the run for, as `RunLog.cancel` does, in the same moment.
    """

    cause: str
    entries: tuple[Entry, ...] = ()
    events: tuple[Event, ...] = ()
    steers: tuple[str, ...] = ()
    budget: int = 0
    ceiling: int = 0
    halt: str = ""


class RunLog(Protocol):
    """Runs and their append-only logs."""

    async def start(self, new: NewRun) -> str | None:
        """Start a run; None when the issue has an open one, or when `cause` has started one before."""
        ...

    async def facts(self, run: str) -> RunFacts | None:
        """The run's small facts, None when there is no such run. Raises `LogUnreadable`."""
        ...

    async def read(self, run: str, after: int) -> Sequence[LogRecord]:
        """The records behind position `after`, oldest first and without a gap. Raises `LogUnreadable`."""
        ...

    async def vote(self, run: str, word: Word) -> bool:
        """Append what was said and wake the run's waiting steps; False when it was known, the run is not
        open, or its budget would go beyond the word's ceiling."""
        ...

    async def find(self, repo: RepoRef, issue: int | None = None, pull: int | None = None) -> str | None:
        """The newest run of an issue, or the run to which a pull request belongs."""
        ...

    async def cancel(self, run: str, cause: str, reason: str) -> bool:
        """Fence every open step and make the closing step due; False when the run has ended or is being cancelled."""
        ...

    async def later(self, run: str, ms: int, length: int | None = None) -> None:
        """Decide about the run again in `ms`, if its log is still `length` long (None: however long it is)."""
        ...


@dataclass(frozen=True)
class NewTask:
    """A step to make due. `key` is node + ids of the entries read + retry number: the same key never runs twice."""

    key: str
    node: str
    inputs: tuple[str, ...]
    writes: tuple[str, ...]
    visit: int


@dataclass(frozen=True)
class Lease:
    """A claimed step: who holds it and until when, on this machine's monotonic clock (seconds)."""

    task: str
    run: str
    node: str
    inputs: tuple[str, ...]
    visit: int
    token: int
    until: float
    attempts: int
    pokes: int


Loss = Literal["fenced", "unreachable"]
"""Why a lease was lost: the store said that it is somebody else's or cancelled, or the store did not answer."""


@dataclass(frozen=True)
class StoredTurn:
    """A turn as JSON, with what the step loop needs to go on."""

    data: Mapping[str, object]


@dataclass(frozen=True)
class Commit:
    """The end of a step: done, failed (again after `retry_in_ms`, or for good), or parked until it is poked, and at
    most for `retry_in_ms` where that is not 0. `paused` is parked for want of money: no step of the run spends any
    until somebody gives it more."""

    outcome: Literal["done", "retry", "failed", "parked", "paused"]
    entries: tuple[Entry, ...] = ()
    events: tuple[Event, ...] = ()
    retry_in_ms: int = 0
    error: str = ""
    pull: int | None = None
    branch: str | None = None
    ending: str | None = None


class Tasks(Protocol):
    """Steps: made due, claimed under a lease with a fencing token, committed. Every stale token raises `Fenced`."""

    async def activate(self, run: str, length: int, tasks: Sequence[NewTask], events: Sequence[Event]) -> bool:
        """Make steps due and say `events`, if the log is still `length` long; False when it grew: decide again."""
        ...

    async def claim(self, task: str, worker: str) -> Lease | None:
        """Take a due step; None when it is not due, done, or somebody else's."""
        ...

    async def commit(self, lease: Lease, commit: Commit) -> bool:
        """End the step with its entries, events and wake-ups at once; False when this step had been committed."""
        ...

    async def due(self, limit: int) -> Sequence[tuple[str, str]]:
        """What is due now: a step's id, or `control:<run>` where something has to be decided; each with a version."""
        ...

    async def alive(self, lease: Lease) -> bool:
        """Whether the lease still holds: not run out, not fenced, not cancelled."""
        ...

    async def lost(self, lease: Lease) -> Loss:
        """Returns when the lease is lost, and why; until then it is renewed from a thread."""
        ...

    async def let_go(self, lease: Lease) -> None:
        """Stop renewing the lease, also one that ended or was lost: what was not committed is soon due again."""
        ...


@dataclass(frozen=True)
class Bounds:
    """What all runs of a repository may spend in a day, and all of an installation in a month (UTC); 0: no bound."""

    installation: int = 0
    day: int = 0
    month: int = 0


UNBOUNDED = Bounds()


@dataclass(frozen=True)
class Ledger:
    """What was spent: by a repository today, by an installation this month (UTC), and by each of the repository's
    newest completed runs, newest first."""

    day: int
    month: int
    past: tuple[int, ...] = ()


class Turns(Protocol):
    """A step's stored turns and the money set aside for its next call."""

    async def load(self, lease: Lease) -> Sequence[StoredTurn]: ...

    async def reserve(self, lease: Lease, amount: int, bounds: Bounds = UNBOUNDED) -> bool:
        """Set money aside; False when there is not that much left, or the run is paused for money."""
        ...

    async def store(self, lease: Lease, number: int, turn: StoredTurn, cost: int, steers_seen: int) -> Sequence[str]:
        """Store turn `number` once, settle the reservation by `cost`; returns steers that came after `steers_seen`."""
        ...

    async def waiting(self, lease: Lease, steers_seen: int) -> Sequence[str]:
        """The steers that came since the step began, behind `steers_seen`."""
        ...

    async def left(self, run: str) -> int: ...

    async def ledger(self, run: str, installation: int) -> Ledger:
        """What the run's repository and installation spent so far, and what its completed runs cost."""
        ...


@dataclass(frozen=True)
class Attempted:
    """What is known of an effect: `new` (go on), `open` (tried `since_ms` ago: look first), `done` (see receipt)."""

    state: Literal["new", "open", "done"]
    since_ms: int = 0
    receipt: Mapping[str, object] = field(default_factory=dict)


class Effects(Protocol):
    """The write-ahead book of everything that we do to GitHub."""

    async def attempt(self, lease: Lease, key: str) -> Attempted:
        """Note that the effect is about to be tried. Raises `Fenced` for a stale token."""
        ...

    async def again(self, lease: Lease, key: str) -> None:
        """The looked-for effect is not there and the settle window has passed: it will be tried again now."""
        ...

    async def receipt(self, run: str, key: str, receipt: Mapping[str, object]) -> Mapping[str, object]:
        """Note what came of it; the first receipt wins and is returned, whoever held the token."""
        ...

    async def known(self, run: str) -> Mapping[str, Attempted]:
        """All effects of the run."""
        ...


class Blobs(Protocol):
    """Content-addressed, compressed bytes of at most 8 MiB each."""

    async def put(self, data: bytes) -> str:
        """Store and return the SHA-256 in hex. Raises `ValueError` over 8 MiB."""
        ...

    async def get(self, digest: str) -> bytes:
        """Raises `KeyError` when there is no such blob."""
        ...


class Events(Protocol):
    """Follow one run's log live."""

    def follow(self, run: str, after: int) -> AsyncIterator[LogRecord]: ...
