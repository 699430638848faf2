"""An in-memory GitHub with one fake per port, all looking at the same world.

world = FakeGitHub()
repo = world.add_repo("octo/app", {"a.py": "x = 1\\n"})
ada = world.add_person(repo, "ada", "write")
await world.issues.comment(repo, world.add_issue(repo, ada, "Fix it"), "Seen.")
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from handlers.events import Actor, RepoRef
from handlers.ports import (
    CheckFacts,
    CheckState,
    CommentFacts,
    Conflicted,
    IssueFacts,
    LineComment,
    Missing,
    NewCommit,
    NewPull,
    PullFacts,
    Refused,
    RepoFacts,
    ReviewFacts,
    Standing,
)
from tests.fakes.git_objects import FakeCommit, tree_sha
from tests.fakes.github_world import FakePull, FakeWorld, Level
from tests.fakes.installations import FakeInstallations
from tests.fakes.rules import FakeRules

BODY_LIMIT = 65_536
OURS = re.compile(r"seconder/[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*")
RANKS: tuple[Level, ...] = ("none", "read", "triage", "write", "maintain", "admin")


class FakeGitHub(FakeWorld):
    """The world with its ports: `issues, pulls, reviews, checks, repository, people, installations, rules`."""

    def __init__(self, app_id: int = 77, slug: str = "seconder") -> None:
        super().__init__(app_id, slug)
        self.issues = FakeIssues(self)
        self.pulls = FakePulls(self)
        self.reviews = FakeReviews(self)
        self.checks = FakeChecks(self)
        self.repository = FakeRepository(self)
        self.people = FakePeople(self)
        self.installations = FakeInstallations(self)
        self.rules = FakeRules(self)


def _fitting(body: str) -> str:
    if len(body) > BODY_LIMIT:
        raise Refused(f"{len(body)} characters; GitHub takes {BODY_LIMIT}: shorten it")
    return body


class FakeIssues:
    """`handlers.ports.Issues`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def get(self, repo: RepoRef, number: int) -> IssueFacts:
        return await self._world.do("issues.get", lambda: self._get(repo, number))

    async def comments(self, repo: RepoRef, number: int) -> Sequence[CommentFacts]:
        return await self._world.listing("issues.comments", lambda: [*self._world.issue(repo, number).comments])

    async def comment(self, repo: RepoRef, number: int, body: str) -> int:
        world = self._world
        return await world.do("issues.comment", lambda: world.add_comment(repo, number, world.bot, _fitting(body)))

    async def edit_comment(self, repo: RepoRef, comment_id: int, body: str) -> None:
        await self._world.do("issues.edit_comment", lambda: self._replace(repo, comment_id, _fitting(body)))

    async def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
        await self._world.do("issues.delete_comment", lambda: self._replace(repo, comment_id, None))

    async def react(self, repo: RepoRef, subject: Literal["issue", "comment"], number: int, content: str) -> None:
        await self._world.do("issues.react", lambda: self._react(repo, subject, number, content))

    def _get(self, repo: RepoRef, number: int) -> IssueFacts:
        issue = self._world.issue(repo, number)
        is_pull = number in self._world.at(repo).pulls
        url = f"https://github.test/{repo.full_name}/{'pull' if is_pull else 'issues'}/{number}"
        labels = tuple(issue.labels)
        return IssueFacts(number, issue.title, issue.body, issue.state, issue.author, labels, url, is_pull)

    def _find(self, repo: RepoRef, comment_id: int) -> tuple[list[CommentFacts], int]:
        for issue in self._world.at(repo).issues.values():
            for index, comment in enumerate(issue.comments):
                if comment.id == comment_id:
                    return issue.comments, index
        raise Missing(f"GitHub: no comment {comment_id}")

    def _replace(self, repo: RepoRef, comment_id: int, body: str | None) -> None:
        comments, index = self._find(repo, comment_id)
        if body is None:
            del comments[index]
        else:
            comments[index] = replace(comments[index], body=body, updated_at=self._world.tick())

    def _react(self, repo: RepoRef, subject: str, number: int, content: str) -> None:
        if subject == "comment":
            self._find(repo, number)
        else:
            self._world.issue(repo, number)
        self._world.at(repo).reactions.add((subject, number, content))


class FakePulls:
    """`handlers.ports.Pulls`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def get(self, repo: RepoRef, number: int) -> PullFacts:
        return await self._world.do("pulls.get", lambda: self._facts(repo, number))

    async def find(self, repo: RepoRef, head: str) -> Sequence[PullFacts]:
        def of_branch() -> list[PullFacts]:
            pulls = self._world.at(repo).pulls
            return [self._facts(repo, n) for n in sorted(pulls, reverse=True) if pulls[n].head == head]

        return await self._world.listing("pulls.find", of_branch, newest_first=True)

    async def open(self, repo: RepoRef, new: NewPull) -> PullFacts:
        return await self._world.do("pulls.open", lambda: self._open(repo, new))

    async def edit(self, repo: RepoRef, number: int, title: str, body: str) -> None:
        def change() -> None:
            self._world.pull(repo, number)
            issue = self._world.issue(repo, number)
            issue.title, issue.body = title, _fitting(body)

        await self._world.do("pulls.edit", change)

    async def mark_ready(self, repo: RepoRef, number: int) -> None:
        await self._world.do("pulls.mark_ready", lambda: setattr(self._world.pull(repo, number), "draft", False))

    async def merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        return await self._world.do("pulls.merge", lambda: self._merge(repo, number, head_sha, title))

    async def close(self, repo: RepoRef, number: int) -> None:
        await self._world.do("pulls.close", lambda: self._close(repo, number))

    def _facts(self, repo: RepoRef, number: int) -> PullFacts:
        pull, issue = self._world.pull(repo, number), self._world.issue(repo, number)
        return PullFacts(
            number=number,
            url=f"https://github.test/{repo.full_name}/pull/{number}",
            title=issue.title,
            body=issue.body,
            state=issue.state,
            draft=pull.draft,
            merged=pull.merge_sha is not None,
            merge_sha=pull.merge_sha,
            head_sha=self._world.head_of(repo, number),
            head_ref=pull.head,
            head_repo_id=repo.id,
            base_ref=pull.base,
            author=issue.author,
            node_id=f"PR_{number}",
        )

    def _open(self, repo: RepoRef, new: NewPull) -> PullFacts:
        world, state = self._world, self._world.at(repo)
        for name in (new.head, new.base):
            if name not in state.branches:
                raise Refused(f"GitHub: 422 no branch {name}")
        head = state.branches[new.head]
        if head in world.behind(repo, state.branches[new.base]):
            raise Refused(f"GitHub: 422 No commits between {new.base} and {new.head}")
        if any(pull.head == new.head and world.issue(repo, n).state == "open" for n, pull in state.pulls.items()):
            raise Conflicted(f"GitHub: 422 A pull request already exists for {new.head}")
        number = world.add_issue(repo, world.bot, new.title, _fitting(new.body))
        state.pulls[number] = FakePull(new.head, new.base, new.draft, head)
        return self._facts(repo, number)

    def _merge(self, repo: RepoRef, number: int, head_sha: str, title: str) -> str:
        world, pull = self._world, self._world.pull(repo, number)
        if world.issue(repo, number).state != "open" or pull.draft:
            raise Refused("GitHub: 405 Pull Request is not mergeable")
        head = world.head_of(repo, number)
        if head != head_sha:
            raise Conflicted("GitHub: 409 Head branch was modified. Review and try the merge again.")
        branches = world.at(repo).branches
        base = branches[pull.base]
        files = world.merged_files(repo, base, head)
        made = FakeCommit(files, (base, head), title, "GitHub <noreply@github.test>", world.tick() // 1000)
        world.at(repo).commits[made.sha] = made
        self._close(repo, number)
        branches[pull.base] = pull.merge_sha = made.sha
        return made.sha

    def _close(self, repo: RepoRef, number: int) -> None:
        self._world.head_of(repo, number)
        self._world.issue(repo, number).state = "closed"


class FakeReviews:
    """`handlers.ports.Reviews`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def list(self, repo: RepoRef, number: int) -> Sequence[ReviewFacts]:
        return await self._world.listing("reviews.list", lambda: [*self._world.pull(repo, number).reviews])

    async def line_comments(self, repo: RepoRef, number: int) -> Sequence[LineComment]:
        return await self._world.listing("reviews.line_comments", lambda: [*self._world.pull(repo, number).lines])

    async def post(self, repo: RepoRef, number: int, head_sha: str, body: str, comments: Sequence[LineComment]) -> int:
        return await self._world.do("reviews.post", lambda: self._post(repo, number, head_sha, body, comments))

    async def request(self, repo: RepoRef, number: int, logins: Sequence[str]) -> None:
        await self._world.do("reviews.request", lambda: self._request(repo, number, logins))

    async def requested(self, repo: RepoRef, number: int) -> Sequence[str]:
        return await self._world.listing("reviews.requested", lambda: [*self._world.pull(repo, number).requested])

    def _post(self, repo: RepoRef, number: int, head: str, body: str, comments: Sequence[LineComment]) -> int:
        world = self._world
        for comment in comments:
            if comment.line not in world.lines_of_diff(repo, number, comment.path):
                raise Refused(f"GitHub: 422 line {comment.line} of {comment.path} is not part of the diff")
        made = world.add_review(repo, number, world.bot, "commented", _fitting(body))
        pull = world.pull(repo, number)
        pull.reviews[-1] = replace(pull.reviews[-1], commit=head)
        lines = pull.lines
        lines.extend(replace(c, id=world.next_id(), review_id=made, author=world.bot) for c in comments)
        return made

    def _request(self, repo: RepoRef, number: int, logins: Sequence[str]) -> None:
        world, pull = self._world, self._world.pull(repo, number)
        known = {world.accounts[i].login for i, level in world.at(repo).permissions.items() if level != "none"}
        able = known - {world.issue(repo, number).author.login}
        pull.requested.extend(login for login in logins if login in able and login not in pull.requested)


class FakeChecks:
    """`handlers.ports.Checks`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def find(self, repo: RepoRef, head_sha: str, name: str) -> Sequence[CheckFacts]:
        def ours() -> list[CheckFacts]:
            checks = self._world.at(repo).checks
            found = [(i, checks[i]) for i in sorted(checks, reverse=True)]
            return [_check(i, state) for i, state in found if (state.head_sha, state.name) == (head_sha, name)]

        return await self._world.listing("checks.find", ours, newest_first=True)

    async def create(self, repo: RepoRef, state: CheckState) -> int:
        def make() -> int:
            if state.head_sha not in self._world.at(repo).commits:
                raise Refused(f"GitHub: 422 No commit found for SHA: {state.head_sha}")
            made = self._world.next_id()
            self._world.at(repo).checks[made] = state
            return made

        return await self._world.do("checks.create", make)

    async def update(self, repo: RepoRef, check_id: int, state: CheckState) -> None:
        def change() -> None:
            checks = self._world.at(repo).checks
            if check_id not in checks:
                raise Missing(f"GitHub: no check run {check_id}")
            checks[check_id] = replace(state, head_sha=checks[check_id].head_sha)

        await self._world.do("checks.update", change)


def _check(number: int, state: CheckState) -> CheckFacts:
    status = "completed" if state.conclusion else "in_progress"
    external = state.external_id or None
    return CheckFacts(number, state.name, state.head_sha, external, status, state.conclusion, state.title)


class FakeRepository:
    """`handlers.ports.Repository`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def facts(self, repo: RepoRef) -> RepoFacts:
        def look() -> RepoFacts:
            state = self._world.at(repo)
            head = state.branches.get(state.default_branch)
            return RepoFacts(state.ref, state.default_branch, head, state.archived, state.private)

        return await self._world.do("repository.facts", look)

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        return await self._world.do("repository.branch", lambda: self._world.at(repo).branches.get(name))

    async def commit(self, repo: RepoRef, new: NewCommit) -> str:
        return await self._world.do("repository.commit", lambda: self._commit(repo, new))

    async def create_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        await self._world.do("repository.create_branch", lambda: self._create(repo, name, sha))

    async def move_branch(self, repo: RepoRef, name: str, sha: str) -> None:
        await self._world.do("repository.move_branch", lambda: self._move(repo, name, sha))

    async def delete_branch(self, repo: RepoRef, name: str) -> None:
        def drop() -> None:
            _check_name(name)
            self._world.at(repo).branches.pop(name, None)

        await self._world.do("repository.delete_branch", drop)

    def _commit(self, repo: RepoRef, new: NewCommit) -> str:
        if not new.edits:
            raise Refused("a commit without any change is not made")
        files = dict(self._world.commit(repo, new.parent).files)
        for edit in new.edits:
            if edit.mode not in ("100644", "100755"):
                raise Refused(f"{edit.path} has mode {edit.mode}")
            if edit.content is not None:
                files[edit.path] = (edit.mode, edit.content)
            elif files.pop(edit.path, None) is None:
                raise Refused(f"GitHub: 422 {edit.path} is not there to delete")
        if (tree := tree_sha(files)) != new.tree:
            raise Refused(f"the edits make tree {tree}, but tree {new.tree} was agreed")
        made = FakeCommit(files, (new.parent,), new.message, f"{new.author_name} <{new.author_email}>", new.date)
        self._world.at(repo).commits[made.sha] = made
        return made.sha

    def _create(self, repo: RepoRef, name: str, sha: str) -> None:
        _check_name(name)
        branches = self._world.at(repo).branches
        if name in branches:
            raise Conflicted(f"GitHub: 422 Reference already exists ({name})")
        for other in branches:
            if other.startswith(f"{name}/") or name.startswith(f"{other}/"):
                raise Conflicted(f"branch {other} is in the way of {name}")
        if sha not in self._world.at(repo).commits:
            raise Refused("GitHub: 422 Object does not exist")
        branches[name] = sha

    def _move(self, repo: RepoRef, name: str, sha: str) -> None:
        _check_name(name)
        branches = self._world.at(repo).branches
        if name not in branches:
            raise Missing(f"GitHub: 422 Reference does not exist ({name})")
        if sha not in self._world.at(repo).commits:
            raise Refused("GitHub: 422 Object does not exist")
        if branches[name] not in self._world.behind(repo, sha):
            raise Conflicted(f"GitHub: 422 Update is not a fast forward ({name})")
        branches[name] = sha


def _check_name(name: str) -> None:
    if not OURS.fullmatch(name) or name.lower().endswith(".lock"):
        raise Refused(f"{name!r} is no branch of ours")


class FakePeople:
    """`handlers.ports.People`."""

    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    async def standing(self, repo: RepoRef, who: Actor) -> Standing:
        def look() -> Standing:
            now = self._world.accounts.get(who.id)
            return Standing(now, self._world.at(repo).permissions.get(who.id, "none")) if now else Standing(who, "none")

        return await self._world.do("people.standing", look)

    async def with_write(self, repo: RepoRef) -> Sequence[Standing]:
        def able() -> list[Standing]:
            held = self._world.at(repo).permissions
            found = (Standing(self._world.accounts[number], level) for number, level in held.items())
            return sorted((s for s in found if s.at_least("write")), key=lambda s: s.user.login.casefold())

        return await self._world.listing("people.with_write", able)

    async def bot(self) -> Actor:
        return await self._world.do("people.bot", lambda: self._world.bot)
