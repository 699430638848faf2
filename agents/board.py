"""The board: typed, append-only entries that the team writes and reads.

An entry is never changed; a revision is a new entry that names what it `supersedes`. `derived_from` names the
parents, so that every line of a change can be walked back to the issue's sentence. Each kind is a pydantic model;
`KINDS` is the list, written out once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Value(BaseModel):
    """Base of every kind's value: frozen, unknown fields ignored so that older readers survive newer writers."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Author(Value):
    """Who wrote an entry: an agent by role name, a person by numeric GitHub id, or Seconder itself."""

    kind: Literal["agent", "person", "system"]
    name: str
    id: int | None = None


class Entry(Value):
    """One entry. `value` is the JSON form of the kind's model; `at` is milliseconds UTC."""

    id: str
    kind: str
    value: dict[str, object]
    author: Author
    derived_from: tuple[str, ...] = ()
    supersedes: str | None = None
    at: int = 0


class Issue(Value):
    """The issue as it stood when the run was authorised. `cut` says that the body was shortened to fit."""

    number: int
    title: str
    body: str
    author: str
    author_id: int
    labels: tuple[str, ...] = ()
    url: str = ""
    cut: bool = False


class Guidance(Value):
    """A guidance file of the repository (AGENTS.md, CONTRIBUTING.md …) at the base commit: untrusted text."""

    path: str
    text: str


class RepoMap(Value):
    """What the team knows of the repository before it reads a file: computed once per base commit."""

    base_sha: str
    default_branch: str
    listing: str = Field(description="paths, one a line, cut to fit")
    files: int
    test_command: tuple[str, ...] | None = None
    test_command_source: str = ""
    outline: str = Field(default="", description="what the code defines, the most used first, cut to fit")
    customs: tuple[str, ...] = Field(default=(), description="what the repository asks of changes")
    unseen: tuple[str, ...] = Field(default=(), description="parts whose content the team does not see")
    sign_off: bool = False
    guidance: tuple[Guidance, ...] = ()


class Requirement(Value):
    """One requirement with criteria that a test could decide."""

    id: str = Field(description="R1, R2, …")
    text: str
    priority: Literal["must", "should", "could"] = "must"
    criteria: tuple[str, ...] = ()


class Requirements(Value):
    """What has to be true at the end."""

    summary: str
    items: tuple[Requirement, ...]
    affected_files: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    complexity: Literal["trivial", "small", "medium", "large"] = "small"


class Questions(Value):
    """At most three questions to the people; the run waits for their answers."""

    questions: tuple[str, ...]


class Report(Value):
    """A finding that is no code: for instance why there is nothing to do."""

    outcome: Literal["declined", "note"] = "note"
    text: str


class Decision(Value):
    """One design decision and its reason."""

    decision: str
    why: str


class Design(Value):
    """How it will be built. `contracts` are the interfaces that code and tests are both written against.

    `look_at` names passages that others should read, as `path:start-end`.
    """

    approach: str
    decisions: tuple[Decision, ...] = ()
    contracts: tuple[str, ...] = ()
    files_to_touch: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    monthly_usd: float = 0.0
    look_at: tuple[str, ...] = ()


class FileChange(Value):
    """One changed path against the base commit. `status`: A added, M modified, D deleted, T type changed."""

    path: str
    status: Literal["A", "M", "D", "T"]
    old_mode: str = "000000"
    new_mode: str = "100644"
    additions: int | None = None
    deletions: int | None = None


class Code(Value):
    """A tree that the developer made. `pack` is the digest of a blob: a git pack of `tree` against `base_sha`."""

    summary: str
    base_sha: str
    tree: str
    pack: str
    files: tuple[FileChange, ...]
    diff: str = ""
    notes: str = ""
    limitations: tuple[str, ...] = ()
    requirement_ids: tuple[str, ...] = ()
    outside_design: tuple[str, ...] = ()
    includes: tuple[str, ...] = Field(default=(), description="ids of tests entries already merged into this tree")


class Tests(Value):
    """A tree that the tester made; only paths that are tests are taken over from it."""

    __test__ = False  # not a test class, whatever its name suggests to a collector

    summary: str
    base_sha: str
    tree: str
    pack: str
    files: tuple[FileChange, ...]
    covers: tuple[str, ...] = ()
    notes: str = ""


class Conflict(Value):
    """One path that developer and tester wrote differently."""

    path: str
    developer: str
    tester: str


class TestResults(Value):
    """What a test run printed. It comes from the code under test, so it is shown as such and never trusted alone."""

    __test__ = False  # not a test class, whatever its name suggests to a collector

    outcome: Literal["passed", "failed", "not_run", "conflict"]
    base_sha: str
    tree: str
    pack: str
    files: tuple[FileChange, ...] = ()
    diff: str = ""
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    reason: str = Field(default="", description="exit, timeout, output_cap, memory …; or why nothing was run")
    output: str = ""
    seconds: float = 0.0
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    isolation: str = ""
    refused: tuple[str, ...] = Field(default=(), description="lines of manifests that were not acted on, and why")
    blocked: tuple[str, ...] = Field(default=(), description="hosts that were refused while packages were fetched")
    conflicts: tuple[Conflict, ...] = ()
    includes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    flaky: tuple[str, ...] = Field(default=(), description="of the failures, those that passed when run again")
    known: tuple[str, ...] = Field(default=(), description="of the failures, those of the base commit as well")
    on_base: Literal["", "fail", "pass", "unknown"] = Field(
        default="", description="what the new and changed tests do on the base commit; empty if there are none"
    )
    proven: tuple[str, ...] = Field(default=(), description="tests that fail on the base commit and pass here")


class ReviewComment(Value):
    """One finding of the reviewer agent."""

    file: str
    line: int | None = None
    severity: Literal["blocker", "major", "minor", "nit"]
    category: str = "correctness"
    message: str
    suggestion: str = ""


class Review(Value):
    """The reviewer agent's word on one tree. Approved only with zero blockers."""

    approved: bool
    summary: str
    comments: tuple[ReviewComment, ...] = ()
    tree: str = ""

    @model_validator(mode="after")
    def _no_approval_over_blockers(self) -> Review:
        if self.approved and any(c.severity == "blocker" for c in self.comments):
            raise ValueError("approved is true although there are blockers: approve only with zero blockers")
        return self


class InlineNote(Value):
    """A person's remark on one line of the diff."""

    path: str
    line: int | None
    text: str


class HumanNote(Value):
    """What a person told the team: by `/steer`, or by requesting changes in a review."""

    text: str
    via: Literal["steer", "review", "answer"]
    url: str = ""
    inline: tuple[InlineNote, ...] = ()


class PullRequest(Value):
    """The pull request as Seconder last saw it. `tree` is that of `head_sha`, empty when a person `pushed` it."""

    number: int
    url: str
    branch: str
    base: str
    head_sha: str
    tree: str
    action: Literal["opened", "updated", "ready", "pushed"]
    draft: bool = True


class FoundItem(Value):
    """One reason why a change needs a person; see `gates.rules.finding` for what each field means."""

    rule: str
    level: Literal["block", "approve", "note"]
    path: str
    line: int | None = None
    blob: str
    why: str


class PathBlob(Value):
    """The id of a changed path's new content."""

    path: str
    blob: str


class Findings(Value):
    """What was found in a change before it was pushed. `blobs` has each changed path that is still there."""

    base_sha: str
    tree: str
    items: tuple[FoundItem, ...] = ()
    blobs: tuple[PathBlob, ...] = ()


class Vote(Value):
    """One person's word at a gate, bound to the digest of what was judged (the head SHA for pull request gates)."""

    gate: str
    digest: str
    word: Literal["yes", "no", "modify"]
    words: str = ""
    via: str = "review"
    url: str = ""


class Summary(Value):
    """How the run ended, in words for people."""

    outcome: Literal["merged", "incomplete", "declined", "cancelled", "failed"]
    text: str
    merged_sha: str | None = None


KINDS: dict[str, type[Value]] = {
    "issue": Issue,
    "repo_map": RepoMap,
    "requirements": Requirements,
    "questions": Questions,
    "report": Report,
    "design": Design,
    "code": Code,
    "tests": Tests,
    "test_results": TestResults,
    "review": Review,
    "human_note": HumanNote,
    "pull_request": PullRequest,
    "findings": Findings,
    "vote": Vote,
    "summary": Summary,
}


class WrongKind(TypeError):
    """An entry was handed to somebody who reads another kind, or its kind is unknown."""


V = TypeVar("V", bound=Value)


def value_of(entry: Entry, model: type[V]) -> V:
    """The entry's value as `model`. Raises `WrongKind`, naming both kinds, when the entry is of another kind."""
    expected = next((kind for kind, known in KINDS.items() if known is model), model.__name__)
    if KINDS.get(entry.kind) is not model:
        raise WrongKind(f"entry {entry.id} is of kind {entry.kind!r}, but {expected!r} is needed here")
    return model.model_validate(entry.value)


class Board:
    """A fold of entries: what is live, what was replaced, and why something is there."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        self._superseded: set[str] = set()
        self._by_kind: dict[str, list[str]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Append an entry; the same id again changes nothing."""
        if entry.id in self._entries:
            return
        self._entries[entry.id] = entry
        self._by_kind.setdefault(entry.kind, []).append(entry.id)
        if entry.supersedes:
            self._superseded.add(entry.supersedes)

    def get(self, entry_id: str) -> Entry | None:
        """The entry with this id, also when it was replaced."""
        return self._entries.get(entry_id)

    def all(self) -> tuple[Entry, ...]:
        """Every entry in the order in which it was written."""
        return tuple(self._entries.values())

    def live(self, kind: str) -> Entry | None:
        """The newest entry of `kind` that nothing replaced, or None."""
        for entry_id in reversed(self._by_kind.get(kind, [])):
            if entry_id not in self._superseded:
                return self._entries[entry_id]
        return None

    def value(self, kind: str, model: type[V]) -> V | None:
        """The live value of `kind` as `model`, or None when there is none."""
        entry = self.live(kind)
        return None if entry is None else value_of(entry, model)

    def why(self, entry_id: str) -> tuple[Entry, ...]:
        """The entry and all its ancestors, nearest first, each once."""
        seen: dict[str, Entry] = {}
        queue = [entry_id]
        while queue:
            current = self._entries.get(queue.pop(0))
            if current is not None and current.id not in seen:
                seen[current.id] = current
                queue.extend(current.derived_from)
        return tuple(seen.values())
