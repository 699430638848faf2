"""The state behind the fake GitHub: repositories, people, issues, branches; and the faults that a test switches on."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from handlers.events import Actor, RepoRef
from handlers.ports import (
    BranchRules,
    CheckState,
    CommentFacts,
    InstallationFacts,
    LineComment,
    Missing,
    Refused,
    ReviewFacts,
    Unknown,
)
from tests.fakes.git_objects import FakeCommit, Files, tree_sha

T = TypeVar("T")
Level = Literal["none", "read", "triage", "write", "maintain", "admin"]


@dataclass
class FakeIssue:
    number: int
    title: str
    body: str
    author: Actor
    labels: list[str] = field(default_factory=list)
    state: str = "open"
    comments: list[CommentFacts] = field(default_factory=list)


@dataclass
class FakePull:
    """What a pull request has beyond its issue. `head_sha` is fixed when it closes."""

    head: str
    base: str
    draft: bool
    head_sha: str
    merge_sha: str | None = None
    reviews: list[ReviewFacts] = field(default_factory=list)
    lines: list[LineComment] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)


@dataclass
class FakeRepo:
    ref: RepoRef
    default_branch: str
    private: bool = False
    archived: bool = False
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, FakeCommit] = field(default_factory=dict)
    issues: dict[int, FakeIssue] = field(default_factory=dict)
    pulls: dict[int, FakePull] = field(default_factory=dict)
    checks: dict[int, CheckState] = field(default_factory=dict)
    permissions: dict[int, Level] = field(default_factory=dict)
    reactions: set[tuple[str, int, str]] = field(default_factory=set)
    rules: dict[str, BranchRules] = field(default_factory=dict)
    teams: dict[str, tuple[Level, tuple[int, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Fault:
    error: Exception
    after: bool


class FakeWorld:
    """State, seeding by name, and faults. `calls` lists every verb that was called, as `issues.comment`."""

    def __init__(self, app_id: int = 77, slug: str = "seconder") -> None:
        self.app_id = app_id
        self.bot = Actor(id=900_000 + app_id, login=f"{slug}[bot]", type="Bot")
        self.accounts: dict[int, Actor] = {self.bot.id: self.bot}
        self.repos: dict[int, FakeRepo] = {}
        self.installed = {500: InstallationFacts(500, "octo", suspended=False)}
        self.calls: list[str] = []
        self.now_ms = 1_700_000_000_000
        self._ids = 1000
        self._faults: dict[str, list[_Fault]] = {}
        self._lag: dict[str, int] = {}

    # --- Faults

    def drop_reply(self, verb: str, times: int = 1) -> None:
        """Do the work of the next calls of `verb` (as `pulls.open`), then raise `Unknown`, as a broken line does."""
        self.fail(verb, Unknown(f"GitHub: {verb}: no answer; it may have happened"), times, after=True)

    def fail(self, verb: str, error: Exception, times: int = 1, after: bool = False) -> None:
        """Raise `error` in the next calls of `verb`, before or after the work."""
        self._faults.setdefault(verb, []).extend([_Fault(error, after)] * times)

    def lag(self, verb: str, times: int = 1) -> None:
        """Leave the newest item out of the next answers of a listing verb (as `issues.comments`)."""
        self._lag[verb] = times

    async def do(self, verb: str, work: Callable[[], T]) -> T:
        """Run one verb; other tasks get their turn first, as they would during a request."""
        await asyncio.sleep(0)
        self.calls.append(verb)
        waiting = self._faults.get(verb)
        fault = waiting.pop(0) if waiting else None
        if fault and not fault.after:
            raise fault.error
        result = work()
        if fault:
            raise fault.error
        return result

    async def listing(self, verb: str, work: Callable[[], list[T]], newest_first: bool = False) -> list[T]:
        """Run a listing verb, with its lag."""
        found = await self.do(verb, work)
        if self._lag.get(verb, 0) > 0:
            self._lag[verb] -= 1
            found = found[1:] if newest_first else found[:-1]
        return found

    def count(self, verb: str) -> int:
        """How often a verb was called."""
        return self.calls.count(verb)

    # --- Seeding, and what people do

    def add_repo(self, full_name: str, files: Mapping[str, str | bytes], private: bool = False) -> RepoRef:
        """A repository whose default branch `main` holds these files; empty without files."""
        ref = RepoRef(id=self.next_id(), full_name=full_name, installation=500)
        repo = FakeRepo(ref, "main", private=private)
        self.repos[ref.id] = repo
        if files:
            self._commit(repo, "main", files, "Begin")
        return ref

    def add_person(self, repo: RepoRef, login: str, permission: Level = "none", kind: str = "User") -> Actor:
        """Somebody with this permission in the repository."""
        actor = Actor(id=self.next_id(), login=login, type=kind)
        self.accounts[actor.id] = actor
        self.at(repo).permissions[actor.id] = permission
        return actor

    def permit(self, repo: RepoRef, who: Actor, permission: Level) -> None:
        """Change somebody's permission."""
        self.at(repo).permissions[who.id] = permission

    def add_team(self, repo: RepoRef, name: str, permission: Level, *members: Actor) -> None:
        """A team `org/slug` with this permission in the repository."""
        self.at(repo).teams[name.casefold()] = (permission, tuple(one.id for one in members))

    def rename_person(self, who: Actor, login: str) -> Actor:
        """Give the account another login; the id stays."""
        self.accounts[who.id] = who.model_copy(update={"login": login})
        return self.accounts[who.id]

    def add_issue(self, repo: RepoRef, author: Actor, title: str, body: str = "", labels: Sequence[str] = ()) -> int:
        """An open issue; returns its number."""
        state = self.at(repo)
        number = len(state.issues) + 1
        state.issues[number] = FakeIssue(number, title, body, author, list(labels))
        return number

    def add_comment(self, repo: RepoRef, number: int, author: Actor, body: str) -> int:
        """A comment on an issue's or pull request's thread; returns its id."""
        made, now = self.next_id(), self.tick()
        url = f"https://github.test/{repo.full_name}/issues/{number}#issuecomment-{made}"
        facts = CommentFacts(made, body, author, url, author.id == self.bot.id, now, now)
        self.issue(repo, number).comments.append(facts)
        return made

    def add_review(self, repo: RepoRef, number: int, author: Actor, state: str, body: str = "") -> int:
        """A review (`approved`, `changes_requested`, `commented`, `dismissed`) of today's head."""
        made = self.next_id()
        url = f"https://github.test/{repo.full_name}/pull/{number}#pullrequestreview-{made}"
        head = self.head_of(repo, number)
        self.pull(repo, number).reviews.append(ReviewFacts(made, state, body, head, author, url, self.tick()))
        return made

    def push(self, repo: RepoRef, branch: str, files: Mapping[str, str | bytes]) -> str:
        """Somebody commits these files on top of a branch (made from the default branch if new); returns the SHA."""
        return self._commit(self.at(repo), branch, files, f"Change {branch}")

    def _commit(self, repo: FakeRepo, branch: str, files: Mapping[str, str | bytes], message: str) -> str:
        parent = repo.branches.get(branch) or repo.branches.get(repo.default_branch)
        held = dict(repo.commits[parent].files) if parent else {}
        for path, content in files.items():
            held[path] = ("100644", content.encode() if isinstance(content, str) else content)
        made = FakeCommit(held, (parent,) if parent else (), message, "Somebody <s@example.org>", self.tick() // 1000)
        repo.commits[made.sha] = made
        repo.branches[branch] = made.sha
        return made.sha

    # --- Looking

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def tick(self) -> int:
        """The time in milliseconds UTC; each look is a second later."""
        self.now_ms += 1000
        return self.now_ms

    def at(self, repo: RepoRef) -> FakeRepo:
        """The repository behind a reference, whatever its name is now. Raises `Missing`, or `Refused` where the
        reference's installation does not reach it."""
        made = self.installed.get(repo.installation)
        if made is None:
            raise Missing(f"GitHub: no installation {repo.installation} (the App is not installed there any more)")
        if made.suspended:
            raise Refused("GitHub: 403 This installation has been suspended")
        found = self.repos.get(repo.id)
        if found is None:
            raise Missing(f"GitHub: no repository {repo.full_name}")
        if found.ref.installation != repo.installation:
            raise Refused("GitHub: 422 a repository is not accessible to the parent installation")
        return found

    def issue(self, repo: RepoRef, number: int) -> FakeIssue:
        """Raises `Missing`."""
        if (found := self.at(repo).issues.get(number)) is None:
            raise Missing(f"GitHub: no issue {number}")
        return found

    def pull(self, repo: RepoRef, number: int) -> FakePull:
        """Raises `Missing`."""
        if (found := self.at(repo).pulls.get(number)) is None:
            raise Missing(f"GitHub: no pull request {number}")
        return found

    def head_of(self, repo: RepoRef, number: int) -> str:
        """The pull request's head commit: its branch's while it is open."""
        pull = self.pull(repo, number)
        if self.issue(repo, number).state == "open":
            pull.head_sha = self.at(repo).branches.get(pull.head, pull.head_sha)
        return pull.head_sha

    def commit(self, repo: RepoRef, sha: str) -> FakeCommit:
        """Raises `Missing`."""
        if (found := self.at(repo).commits.get(sha)) is None:
            raise Missing(f"GitHub: no commit {sha}")
        return found

    def tree(self, repo: RepoRef, sha: str) -> str:
        """The tree id of a commit."""
        return tree_sha(self.commit(repo, sha).files)

    def behind(self, repo: RepoRef, sha: str) -> set[str]:
        """The commit and everything that it builds on."""
        seen: set[str] = set()
        waiting = [sha]
        while waiting:
            if (current := waiting.pop()) not in seen:
                seen.add(current)
                waiting.extend(self.commit(repo, current).parents)
        return seen

    def merged_files(self, repo: RepoRef, base: str, head: str) -> Files:
        """The base's files with what the head changed since they parted. Raises `Refused` where both changed."""
        theirs = self.behind(repo, base)
        fork = next((sha for sha in self.newest_first(repo, head) if sha in theirs), None)
        old = self.commit(repo, fork).files if fork else {}
        mine, now = self.commit(repo, head).files, self.commit(repo, base).files
        merged = dict(now)
        for path in {path for path in old.keys() | mine.keys() if old.get(path) != mine.get(path)}:
            if now.get(path) not in (old.get(path), mine.get(path)):
                raise Refused("GitHub: 405 Pull Request is not mergeable")
            merged.pop(path, None)
            if path in mine:
                merged[path] = mine[path]
        return merged

    def newest_first(self, repo: RepoRef, sha: str) -> list[str]:
        """The commit and everything that it builds on, newest first."""
        return sorted(self.behind(repo, sha), key=lambda one: self.commit(repo, one).date, reverse=True)

    def lines_of_diff(self, repo: RepoRef, number: int, path: str) -> set[int]:
        """The lines of the head's file that a review may comment on: changed ones and three around them."""
        pull = self.pull(repo, number)
        old = self.commit(repo, self.at(repo).branches[pull.base]).files.get(path, ("", b""))[1].decode().splitlines()
        new = self.commit(repo, self.head_of(repo, number)).files.get(path, ("", b""))[1].decode().splitlines()
        groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3)
        return {line for group in groups for _, _, _, start, end in group for line in range(start + 1, end + 1)}
