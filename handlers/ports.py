"""What the core needs from the outside, as small Protocols of at most seven verbs each.

Times are milliseconds UTC, money is integer micro-dollars. A verb of GitHub's raises one of the errors below, so that
the caller can tell "never" from "later" and from "unknown: look before you repeat".
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents.board import Entry, FileChange
from agents.ports import Tools
from handlers.events import Actor, Event, RepoRef

# --- GitHub: errors -------------------------------------------------------------------------------------------------


class GitHubError(Exception):
    """Base: GitHub did not do what was asked. The text names the request and what GitHub said."""


class Missing(GitHubError):
    """404 or 410: it is not there, or the App may not see it."""


class Refused(GitHubError):
    """401, 403 (no rate limit), 409, 422, 451: repeating the same request cannot help."""


class Conflicted(Refused):
    """409 or 422 because the world has moved: the head is another one, the ref exists, the pull request exists."""


class Later(GitHubError):
    """A rate limit or an overload that certainly did nothing; try again after `seconds`."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unknown(GitHubError):
    """A write whose outcome is not known (5xx, time-out, broken connection): look before repeating it."""


# --- GitHub: facts --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IssueFacts:
    """An issue as it is now. `state` is open or closed."""

    number: int
    title: str
    body: str
    state: str
    author: Actor
    labels: tuple[str, ...]
    url: str
    is_pull_request: bool


@dataclass(frozen=True)
class CommentFacts:
    """A comment of an issue or pull request thread. `by_us` is true when our own App wrote it."""

    id: int
    body: str
    author: Actor
    url: str
    by_us: bool
    created_at: int
    updated_at: int


class Issues(Protocol):
    """Issues and their comments."""

    async def get(self, repo: RepoRef, number: int) -> IssueFacts: ...

    async def comments(self, repo: RepoRef, number: int) -> Sequence[CommentFacts]:
        """All comments, every page, oldest first."""
        ...

    async def comment(self, repo: RepoRef, number: int, body: str) -> int:
        """Post a comment; returns its id."""
        ...

    async def edit_comment(self, repo: RepoRef, comment_id: int, body: str) -> None: ...

    async def delete_comment(self, repo: RepoRef, comment_id: int) -> None: ...

    async def react(self, repo: RepoRef, subject: Literal["issue", "comment"], number: int, content: str) -> None:
        """Add a reaction (`eyes`, `+1`, …) to an issue or an issue comment; adding it again changes nothing."""
        ...


@dataclass(frozen=True)
class PullFacts:
    """A pull request as it is now. `head_repo_id` is None when the fork is gone."""

    number: int
    url: str
    title: str
    body: str
    state: str
    draft: bool
    merged: bool
    merge_sha: str | None
    head_sha: str
    head_ref: str
    head_repo_id: int | None
    base_ref: str
    author: Actor
    node_id: str


@dataclass(frozen=True)
class NewPull:
    """A pull request to open. `head` and `base` are branch names of the same repository."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = True


class Pulls(Protocol):
    """Pull requests."""

    async def get(self, repo: RepoRef, number: int) -> PullFacts: ...

    async def find(self, repo: RepoRef, head: str) -> Sequence[PullFacts]:
        """All pull requests, open and closed, whose head is this branch of this repository, newest first."""
        ...

    async def open(self, repo: RepoRef, new: NewPull) -> PullFacts: ...

    async def edit(self, repo: RepoRef, number: int, title: str, body: str) -> None: ...

    async def mark_ready(self, repo: RepoRef, number: int) -> None:
        """Take a pull request out of draft; on one that is no draft this changes nothing."""
        ...

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        """Merge if the head is still `head_sha`; returns the merge commit's SHA. Raises `Conflicted` otherwise."""
        ...

    async def close(self, repo: RepoRef, number: int) -> None: ...


@dataclass(frozen=True)
class ReviewFacts:
    """One review. `commit` may be missing; `author` is None for a deleted account. State in lower case."""

    id: int
    state: str
    body: str
    commit: str | None
    author: Actor | None
    url: str
    submitted_at: int


@dataclass(frozen=True)
class LineComment:
    """A comment on one line of a diff. `line` is None when the line is no longer part of it."""

    id: int
    review_id: int | None
    path: str
    line: int | None
    body: str
    author: Actor | None


class Reviews(Protocol):
    """Reviews of pull requests."""

    async def list(self, repo: RepoRef, number: int) -> Sequence[ReviewFacts]:
        """All reviews, every page, oldest first."""
        ...

    async def line_comments(self, repo: RepoRef, number: int) -> Sequence[LineComment]:
        """All line comments, every page, oldest first."""
        ...

    async def post(self, repo: RepoRef, number: int, head_sha: str, body: str, comments: Sequence[LineComment]) -> int:
        """One COMMENT review; returns its id. Lines outside the diff must not be among `comments`."""
        ...

    async def request(self, repo: RepoRef, number: int, logins: Sequence[str]) -> None:
        """Ask people for a review; those who cannot be asked are left out by GitHub."""
        ...


@dataclass(frozen=True)
class Button:
    """A button on a check run: label ≤ 20, description ≤ 40, identifier ≤ 20 characters."""

    label: str
    description: str
    identifier: str


@dataclass(frozen=True)
class CheckState:
    """What a check run should say. `conclusion` None means in progress. `external_id` is the idempotency key."""

    name: str
    head_sha: str
    external_id: str
    conclusion: Literal["success", "failure", "action_required", "cancelled", "timed_out"] | None
    title: str
    summary: str
    text: str = ""
    buttons: tuple[Button, ...] = ()
    details_url: str | None = None


@dataclass(frozen=True)
class CheckFacts:
    """A check run of our own App as it is now."""

    id: int
    name: str
    head_sha: str
    external_id: str | None
    status: str
    conclusion: str | None
    title: str | None


class Checks(Protocol):
    """Check runs of our own App; other Apps' runs of the same name are never returned."""

    async def find(self, repo: RepoRef, head_sha: str, name: str) -> Sequence[CheckFacts]:
        """Our check runs of this name on this commit, newest first."""
        ...

    async def create(self, repo: RepoRef, state: CheckState) -> int: ...

    async def update(self, repo: RepoRef, check_id: int, state: CheckState) -> None: ...


@dataclass(frozen=True)
class RepoFacts:
    """A repository as it is now. `head` is the default branch's commit, None when the repository is empty."""

    ref: RepoRef
    default_branch: str
    head: str | None
    archived: bool
    private: bool


@dataclass(frozen=True)
class TreeEdit:
    """One path of a commit: its new content, or None to delete it. `mode` is git's octal string."""

    path: str
    content: bytes | None
    mode: str = "100644"


@dataclass(frozen=True)
class NewCommit:
    """A commit to write through the Git Data API. `date` (seconds UTC) is fixed so that a repeat gives the same SHA.

    `tree` is what the result must be: the adapter refuses to make a commit of any other tree.
    """

    parent: str
    tree: str
    edits: tuple[TreeEdit, ...]
    message: str
    author_name: str
    author_email: str
    date: int


class Repository(Protocol):
    """A repository's git side, through the API."""

    async def facts(self, repo: RepoRef) -> RepoFacts: ...

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """The branch's commit SHA, or None when there is no such branch."""
        ...

    async def commit(self, repo: RepoRef, new: NewCommit) -> str:
        """Write blobs, tree and commit (no ref moves); returns the commit's SHA. Raises `Refused` on another tree."""
        ...

    async def create_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Raises `Conflicted` when the ref exists, or when another branch's name is in the way."""
        ...

    async def move_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        """Fast-forward only. Raises `Conflicted` when it is none."""
        ...

    async def delete_branch(self, repo: RepoRef, name: str) -> None: ...


PERMISSIONS = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(frozen=True)
class Standing:
    """What a person may do in a repository: the live answer of the permission endpoint, by user id."""

    user: Actor
    permission: Literal["none", "read", "triage", "write", "maintain", "admin"]

    def at_least(self, permission: str) -> bool:
        """Whether the standing reaches `permission`; only people (type User) ever do."""
        return self.user.type == "User" and PERMISSIONS.index(self.permission) >= PERMISSIONS.index(permission)


class People(Protocol):
    """Who somebody is and what they may do. Every doubt is `none`."""

    async def standing(self, repo: RepoRef, who: Actor) -> Standing:
        """The live permission, checked against the numeric id (a login can be re-registered). Raises `GitHubError`."""
        ...

    async def with_write(self, repo: RepoRef) -> Sequence[Standing]:
        """Everyone who has write or better."""
        ...

    async def bot(self) -> Actor:
        """The App's own bot user: login `<slug>[bot]`."""
        ...


# --- The store ------------------------------------------------------------------------------------------------------


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

    async def read(self, group: str, consumer: str, count: int, block_ms: int) -> Sequence[tuple[str, Event]]:
        """The next events of a group with their stream ids: first what this consumer has not acknowledged, then new."""
        ...

    async def ack(self, group: str, ids: Sequence[str]) -> None: ...

    async def park(self, group: str, stream_id: str, event: Event, reason: str) -> None:
        """Put a poison event aside, visibly, and acknowledge it."""
        ...


RecordType = Literal["run", "event", "entry", "activated", "turn", "ended", "attempt", "receipt", "note"]


@dataclass(frozen=True)
class LogRecord:
    """One record of a run's log. `position` counts from 1, `at` is milliseconds UTC."""

    position: int
    type: RecordType
    data: Mapping[str, object]
    at: int


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
    deadline_s: int
    cause: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class RunFacts:
    """A run's small, often read facts. `spent` and `reserved` in micro-dollars; `length` is the log's.

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
    length: int
    started_at: int
    pull: int | None = None
    branch: str | None = None


@dataclass(frozen=True)
class Word:
    """What somebody said, or that something which waiting steps look at has changed. Counts once per `cause`.

    `steers` reach running agents before their next turn; `budget` raises the run's limit (micro-dollars).
    """

    cause: str
    entries: tuple[Entry, ...] = ()
    events: tuple[Event, ...] = ()
    steers: tuple[str, ...] = ()
    budget: int = 0


class RunLog(Protocol):
    """Runs and their append-only logs."""

    async def start(self, new: NewRun) -> str | None:
        """Start a run; None when the issue has an open one, or when `cause` has started one before."""
        ...

    async def facts(self, run: str) -> RunFacts | None: ...

    async def read(self, run: str, after: int) -> Sequence[LogRecord]:
        """The records behind position `after`, oldest first."""
        ...

    async def vote(self, run: str, word: Word) -> bool:
        """Append what was said and wake the run's waiting steps; False when it was known or the run is not open."""
        ...

    async def find(self, repo: RepoRef, issue: int | None = None, pull: int | None = None) -> str | None:
        """The newest run of an issue, or the run to which a pull request belongs."""
        ...

    async def cancel(self, run: str, cause: str, reason: str) -> bool:
        """Fence every open step and make the closing step due; False when the run has ended or is being cancelled."""
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


@dataclass(frozen=True)
class StoredTurn:
    """A turn as JSON, with what the step loop needs to go on."""

    data: Mapping[str, object]


@dataclass(frozen=True)
class Commit:
    """The end of a step: done, failed (again after `retry_in_ms`, or for good), or parked until it is poked."""

    outcome: Literal["done", "retry", "failed", "parked"]
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

    async def lost(self, lease: Lease) -> None:
        """Returns when the lease is lost; until then it is renewed from a thread."""
        ...


class Turns(Protocol):
    """A step's stored turns and the money set aside for its next call."""

    async def load(self, lease: Lease) -> Sequence[StoredTurn]: ...

    async def reserve(self, lease: Lease, amount: int) -> bool:
        """Set money aside; False when the run has not that much left."""
        ...

    async def store(self, lease: Lease, number: int, turn: StoredTurn, cost: int, steers_seen: int) -> Sequence[str]:
        """Store turn `number` once, settle the reservation by `cost`; returns steers that came after `steers_seen`."""
        ...

    async def waiting(self, lease: Lease, steers_seen: int) -> Sequence[str]:
        """The steers that came since the step began, behind `steers_seen`."""
        ...

    async def left(self, run: str) -> int: ...


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


class Wake(Protocol):
    """Hints that something is due. Losing or doubling one changes nothing: the sweeper finds what is due anyway."""

    async def wake(self, due: Sequence[tuple[str, str]]) -> None:
        """Ask for each to be run soon, by whichever worker; the pairs are those of `Tasks.due`."""
        ...


class Clock(Protocol):
    """Time, so that tests own it."""

    def now_ms(self) -> int: ...

    def monotonic(self) -> float: ...


# --- Workspaces -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Snapshot:
    """A work tree, fixed: its tree id, the files that differ from the base, and a pack of the objects that are new."""

    tree: str
    pack: bytes
    files: tuple[FileChange, ...]
    diff: str
    outside: tuple[str, ...] = ()


class Workspace(Tools, Protocol):
    """A private copy of a repository at one tree, outside any git directory that the sandbox can touch."""

    async def snapshot(self) -> Snapshot:
        """Fix the tree as it stands. Raises `ToolError` when it holds what may not be committed (links, odd modes)."""
        ...


class Workspaces(Protocol):
    """Makes work trees; the git directory stays with the host."""

    def open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AbstractAsyncContextManager[Workspace]:
        """A work tree of `base_sha`, or of `tree` whose new objects are in `packs`. Gone when the context ends."""
        ...

    async def survey(self, repo: RepoRef, base_sha: str) -> Survey:
        """What the repository looks like at a commit. Raises `TooBig` or `GitHubError`."""
        ...

    async def contents(self, repo: RepoRef, base_sha: str, tree: str, packs: Sequence[bytes]) -> Sequence[TreeEdit]:
        """The edits that lead from `base_sha` to `tree`, with file contents, for a commit through the API."""
        ...


class TooBig(Exception):
    """The repository is over a limit; the text names the limit and the way out."""


@dataclass(frozen=True)
class Survey:
    """Listing (paths, at most 2,000), number of files, guidance files, and the test command with where it came from."""

    paths: tuple[str, ...]
    files: int
    guidance: tuple[tuple[str, str], ...]
    test_command: tuple[str, ...] | None
    test_command_source: str


class Events(Protocol):
    """Follow one run's log live."""

    def follow(self, run: str, after: int) -> AsyncIterator[LogRecord]: ...
