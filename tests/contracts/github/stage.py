"""The two GitHubs of the contract suite behind one way to set the scene: the in-memory fake and the local server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from handlers.events import Actor, RepoRef
from handlers.ports import BranchRules, Checks, Issues, People, Pulls, Repository, Reviews, Rules
from infra.github.connect import GitHubAdapters, connect
from infra.github.options import Options
from infra.github.tokens import AppKey
from infra.local_github import AppSpec, Fault, LocalGitHub
from infra.local_github.records import Protection
from tests.fakes.github import FakeGitHub
from tests.fakes.github_world import Level

BASE_FILES = {"app.py": "def add(a, b):\n    return a - b\n", "docs/guide.md": "# Guide\n", "run.sh": "echo hi\n"}
FAULTS = {
    "issues.comment": ("POST", "/repos/*/issues/*/comments"),
    "pulls.open": ("POST", "/repos/*/pulls"),
    "pulls.merge": ("PUT", "/repos/*/pulls/*/merge"),
    "checks.create": ("POST", "/repos/*/check-runs"),
    "repository.create_branch": ("POST", "/repos/*/git/refs"),
}


class Ports(Protocol):
    """The seven ports."""

    @property
    def issues(self) -> Issues: ...
    @property
    def pulls(self) -> Pulls: ...
    @property
    def reviews(self) -> Reviews: ...
    @property
    def checks(self) -> Checks: ...
    @property
    def repository(self) -> Repository: ...
    @property
    def people(self) -> People: ...
    @property
    def rules(self) -> Rules: ...


class Stage(Protocol):
    """A GitHub with a repository of `BASE_FILES`, an empty one, and `ada`, who may write."""

    repo: RepoRef
    empty: RepoRef
    ada: Actor

    @property
    def ports(self) -> Ports: ...

    async def person(self, login: str, level: Level) -> Actor: ...

    async def rename(self, who: Actor, login: str) -> None: ...

    async def team(self, slug: str, level: Level, members: Sequence[Actor]) -> None:
        """A team of the organisation `octo`, with this role in the repository."""
        ...

    async def protect(self, rules: BranchRules) -> None:
        """Hold the default branch to these rules."""
        ...

    async def issue(self, who: Actor, title: str, body: str | None) -> int: ...

    async def comment(self, who: Actor, number: int, body: str) -> int: ...

    async def review(self, who: Actor, number: int, state: str, body: str) -> None: ...

    async def push(self, branch: str, files: Mapping[str, str]) -> str:
        """`ada` commits on top of a branch, made from the default branch when new; returns the SHA."""
        ...

    def drop_reply(self, verb: str) -> None: ...

    def lag(self, verb: str) -> None: ...


class FakeStage:
    """The fake as a stage."""

    def __init__(self) -> None:
        self.ports = FakeGitHub()
        self.repo = self.ports.add_repo("octo/app", BASE_FILES)
        self.empty = self.ports.add_repo("octo/empty", {})
        self.ada = self.ports.add_person(self.repo, "ada", "write")

    async def person(self, login: str, level: Level) -> Actor:
        return self.ports.add_person(self.repo, login, level)

    async def rename(self, who: Actor, login: str) -> None:
        self.ports.rename_person(who, login)

    async def team(self, slug: str, level: Level, members: Sequence[Actor]) -> None:
        self.ports.add_team(self.repo, f"octo/{slug}", level, *members)

    async def protect(self, rules: BranchRules) -> None:
        self.ports.at(self.repo).rules["main"] = rules

    async def issue(self, who: Actor, title: str, body: str | None) -> int:
        return self.ports.add_issue(self.repo, who, title, body or "")

    async def comment(self, who: Actor, number: int, body: str) -> int:
        return self.ports.add_comment(self.repo, number, who, body)

    async def review(self, who: Actor, number: int, state: str, body: str) -> None:
        self.ports.add_review(self.repo, number, who, state, body)

    async def push(self, branch: str, files: Mapping[str, str]) -> str:
        return self.ports.push(self.repo, branch, files)

    def drop_reply(self, verb: str) -> None:
        self.ports.drop_reply(verb)

    def lag(self, verb: str) -> None:
        self.ports.lag(verb)


class HastyTime:
    """Real clocks; pauses are cut short."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


@dataclass
class LocalStage:
    """The real adapters against the local GitHub."""

    github: LocalGitHub
    ports: GitHubAdapters
    repo: RepoRef
    empty: RepoRef
    ada: Actor

    @property
    def _path(self) -> str:
        return f"/repos/{self.repo.full_name}"

    async def person(self, login: str, level: Level) -> Actor:
        made = self.github.world.add_user(login)
        self.github.world.collaborate(self.repo.full_name, login, None if level == "none" else level)
        return Actor(id=made.id, login=login)

    async def rename(self, who: Actor, login: str) -> None:
        self.github.world.state.users[who.id].login = login

    async def team(self, slug: str, level: Level, members: Sequence[Actor]) -> None:
        world = self.github.world
        made = world.add_team("octo", slug, [one.login for one in members])
        if level != "none":
            made.roles[self.repo.id] = level

    async def protect(self, rules: BranchRules) -> None:
        protection = Protection(
            checks=[(name, None) for name in sorted(rules.checks)],
            approvals=rules.approvals,
            reviews_required=rules.code_owners,
            code_owners=rules.code_owners,
        )
        self.github.world.protect(self.repo.full_name, "main", protection)

    async def issue(self, who: Actor, title: str, body: str | None) -> int:
        made = await self.github.act(who.login, "POST", f"{self._path}/issues", {"title": title, "body": body})
        return int(made["number"])

    async def comment(self, who: Actor, number: int, body: str) -> int:
        made = await self.github.act(who.login, "POST", f"{self._path}/issues/{number}/comments", {"body": body})
        return int(made["id"])

    async def review(self, who: Actor, number: int, state: str, body: str) -> None:
        event = {"approved": "APPROVE", "changes_requested": "REQUEST_CHANGES", "commented": "COMMENT"}[state]
        path = f"{self._path}/pulls/{number}/reviews"
        await self.github.act(who.login, "POST", path, {"event": event, "body": body})

    async def push(self, branch: str, files: Mapping[str, str]) -> str:
        git = f"{self._path}/git"
        repo = self.github.world.repo(self.repo.full_name)
        assert repo is not None
        old = await self.github.world.git.ref(repo.id, f"refs/heads/{branch}")
        parent = old or await self.github.world.git.ref(repo.id, "refs/heads/main")
        entries = [{"path": path, "mode": "100644", "type": "blob", "content": text} for path, text in files.items()]
        tree = await self.github.act("ada", "POST", f"{git}/trees", {"base_tree": parent, "tree": entries})
        body = {"message": "Change", "tree": tree["sha"], "parents": [parent]}
        sha = str((await self.github.act("ada", "POST", f"{git}/commits", body))["sha"])
        if old:
            await self.github.act("ada", "PATCH", f"{git}/refs/heads/{branch}", {"sha": sha})
        else:
            await self.github.act("ada", "POST", f"{git}/refs", {"ref": f"refs/heads/{branch}", "sha": sha})
        return sha

    def drop_reply(self, verb: str) -> None:
        method, path = FAULTS[verb]
        self.github.world.faults.plan(Fault("drop_after", method=method, path=path))

    def lag(self, verb: str) -> None:
        assert verb == "issues.comments"
        self.github.world.faults.plan(Fault("lag", method="GET", path="/repos/*/issues/*/comments"))


@dataclass
class LocalServer:
    """One running local GitHub with our App, for many stages one after the other."""

    github: LocalGitHub
    ports: GitHubAdapters
    files: Path

    @staticmethod
    @asynccontextmanager
    async def start(directory: Path) -> AsyncIterator[LocalServer]:
        files = directory / "files"
        for path, text in BASE_FILES.items():
            (files / path).parent.mkdir(parents=True, exist_ok=True)
            (files / path).write_text(text)
        async with LocalGitHub.start(directory / "data") as github:
            github.world.add_user("maker")
            permissions = dict.fromkeys(("issues", "pull_requests", "contents", "checks"), "write") | {
                "members": "read"
            }
            app = github.world.add_app("maker", AppSpec("seconder", permissions, ()))
            ports = connect(AppKey(app.id, app.private_key_pem), Options(api_url=github.api_url), time=HastyTime())
            try:
                yield LocalServer(github, ports, files)
            finally:
                await ports.client.close()

    @asynccontextmanager
    async def stage(self) -> AsyncIterator[LocalStage]:
        """Fresh repositories and people; their names are given up afterwards."""
        world = self.github.world
        others = set(world.state.users)
        world.add_user("octo", kind="Organization")
        ada = world.add_user("ada")
        app_repo = await world.add_repo_from_files("octo/app", self.files)
        empty = await world.add_repo("octo/empty")
        world.collaborate("octo/app", "ada", "write")
        installed = world.install("seconder", ["octo/app", "octo/empty"])
        refs = [RepoRef(id=r.id, full_name=f"octo/{r.name}", installation=installed.id) for r in (app_repo, empty)]
        yield LocalStage(self.github, self.ports, refs[0], refs[1], Actor(id=ada.id, login="ada"))
        for number in set(world.state.users) - others:
            world.state.users[number].login = f"gone-{number}"
