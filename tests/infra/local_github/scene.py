"""A running local GitHub with two people, an outsider, one repository and one installed App."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from githubkit import AppInstallationAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.cache import MemCacheStrategy

from infra.local_github import AppSpec, LocalGitHub
from infra.local_github.records import App, Installation, Repo

PERMISSIONS = {
    "issues": "write",
    "pull_requests": "write",
    "contents": "write",
    "checks": "write",
    "statuses": "write",
    "administration": "write",
    "members": "read",
}
EVENTS = (
    "check_run",
    "check_suite",
    "create",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "status",
)


@dataclass
class Clock:
    """A clock that stands still until moved."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **span: int) -> None:
        self.at += timedelta(**span)


@dataclass
class Scene:
    """What the tests share: the server, its repository, its App, and one token per person."""

    gh: LocalGitHub
    clock: Clock
    repo: Repo
    app: App
    installation: Installation
    tokens: dict[str, str]

    def installed(self) -> GitHub[AppInstallationAuthStrategy]:
        """githubkit as the installation."""
        auth = AppInstallationAuthStrategy(self.app.id, self.app.private_key_pem, self.installation.id)
        # githubkit's default cache is one per process, and ids are the same in each test's world.
        cache = MemCacheStrategy()
        return GitHub(auth, base_url=self.gh.api_url, http_cache=False, auto_retry=False, cache_strategy=cache)

    def person(self, login: str) -> GitHub[TokenAuthStrategy]:
        """githubkit as a person."""
        token = TokenAuthStrategy(self.tokens[login])
        return GitHub(token, base_url=self.gh.api_url, http_cache=False, auto_retry=False)

    def http(self, login: str = "") -> httpx.AsyncClient:
        """Plain HTTP as a person, or as nobody."""
        headers = {"Authorization": f"token {self.tokens[login]}"} if login else {}
        return httpx.AsyncClient(base_url=self.gh.api_url, headers=headers, trust_env=False)

    async def token(self, **scope: object) -> str:
        """An installation token, narrowed by `scope`."""
        async with self.installed() as g:
            auth = g.with_auth(g.auth.as_app())
            path = f"/app/installations/{self.installation.id}/access_tokens"
            reply = await auth.arequest("POST", path, json=scope)
        return str(reply.json()["token"])

    async def branch(self, name: str, path: str = "new.txt", content: str = "new\n") -> str:
        """A branch one commit ahead of main; returns its head."""
        git = "/repos/acme/shop/git"
        base = await self.gh.world.git.ref(self.repo.id, "refs/heads/main")
        item = {"path": path, "mode": "100644", "type": "blob", "content": content}
        act = self.gh.act
        tree = await act("ada", "POST", f"{git}/trees", {"base_tree": base, "tree": [item]})
        commit = {"message": f"Change {path}", "tree": tree["sha"], "parents": [base]}
        made = await act("ada", "POST", f"{git}/commits", commit)
        await act("ada", "POST", f"{git}/refs", {"ref": f"refs/heads/{name}", "sha": made["sha"]})
        return str(made["sha"])

    async def pull(self, branch: str = "feature", by: str = "ada", **more: object) -> int:
        """An open pull request from a new branch; returns its number."""
        await self.branch(branch, f"{branch.replace('/', '-')}.txt")
        body = {"title": f"Add {branch}", "head": branch, "base": "main", **more}
        return int((await self.gh.act(by, "POST", "/repos/acme/shop/pulls", body))["number"])


@pytest.fixture(scope="session")
def app_key() -> str:
    """One RSA key for all tests of this folder: making keys is slow."""
    raw = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    return raw.decode()


@pytest.fixture
async def scene(tmp_path: Path, app_key: str) -> AsyncIterator[Scene]:
    files = tmp_path / "files"
    (files / "src").mkdir(parents=True)
    (files / "README.md").write_text("# Shop\n\nSells things.\n")
    (files / "src" / "shop.py").write_text("".join(f"line_{n} = {n}\n" for n in range(1, 21)))
    clock = Clock()
    async with LocalGitHub.start(tmp_path / "data", clock=clock) as gh:
        world = gh.world
        world.add_user("acme", kind="Organization")
        for login, name in (("ada", "Ada"), ("bob", None), ("eve", None)):
            world.add_user(login, name)
        repo = await world.add_repo_from_files("acme/shop", files)
        world.collaborate("acme/shop", "ada", "admin")
        world.collaborate("acme/shop", "bob", "write")
        spec = AppSpec("seconder", PERMISSIONS, EVENTS, private_key_pem=app_key)
        app = world.add_app("acme", spec)
        installation = world.install("seconder", ["acme/shop"])
        tokens = {login: world.add_token(login) for login in ("ada", "bob", "eve")}
        yield Scene(gh, clock, repo, app, installation, tokens)
