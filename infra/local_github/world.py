"""The local GitHub's state and how Python sets it up: users, Apps, repositories, installations, rules."""

from __future__ import annotations

import asyncio
import math
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from infra.local_github.faults import Faults
from infra.local_github.git_objects import NewCommit, Person, write_blob, write_commit, write_tree
from infra.local_github.git_store import ZERO, GitStore
from infra.local_github.objects_pull import PullFacts
from infra.local_github.records import (
    ROLES,
    App,
    Delivery,
    Installation,
    Label,
    Protection,
    Repo,
    Role,
    State,
    Team,
    Token,
    User,
)
from infra.local_github.webhooks import announce_installation

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}")
# First parts of addresses that an account's pages would otherwise hide behind.
_RESERVED = (
    "api",
    "app",
    "avatars",
    "graphql",
    "installation",
    "local",
    "rate_limit",
    "repos",
    "repositories",
    "user",
    "users",
)
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present, to the second, as GitHub shows it."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class AppSpec:
    """What registering an App takes; without a key pair one is made (RSA, 2048 bits)."""

    slug: str
    permissions: Mapping[str, str]
    events: Sequence[str]
    webhook_url: str | None = None
    webhook_secret: str = ""
    name: str = ""
    private_key_pem: str = ""


@dataclass
class World:
    """State in memory, written to `directory` after each change; git objects beside it.

    `base_url` is what links in answers start with; the server sets it when it knows its port.
    """

    directory: Path
    clock: Clock = utc_now
    base_url: str = "http://127.0.0.1"
    state: State = field(default_factory=State)
    deliveries: dict[int, Delivery] = field(default_factory=dict)
    outbox: list[Delivery] = field(default_factory=list)
    queued: asyncio.Event = field(default_factory=asyncio.Event)
    sending: bool = False
    version: int = 0
    rate_limit: int = 5000
    rate_used: dict[tuple[str, int], int] = field(default_factory=dict)
    facts: dict[tuple[int, str, str, str], PullFacts] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    born: dict[int, float] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.git = GitStore(self.directory / "git")

    # -- keeping ---------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, directory: Path, clock: Clock = utc_now) -> World:
        """Open a data directory (made when missing, mode 700)."""
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)
        world = cls(directory, clock)
        kept = directory / "state.json"
        if kept.exists():
            world.state = State.model_validate_json(kept.read_bytes())
        for file in sorted((directory / "deliveries").glob("*.json")):
            delivery = Delivery.model_validate_json(file.read_bytes())
            world.deliveries[delivery.id] = delivery
        world.outbox = [d for _, d in sorted(world.deliveries.items()) if d.status == "pending"]
        return world

    def save(self) -> None:
        """Write the state file so that a crash leaves the old one or the new one."""
        _write(self.directory / "state.json", self.state.model_dump_json().encode())

    def save_delivery(self, delivery: Delivery) -> None:
        """Write one delivery's file."""
        (self.directory / "deliveries").mkdir(exist_ok=True)
        _write(self.directory / "deliveries" / f"{delivery.id:012}.json", delivery.model_dump_json().encode())

    def commit(self) -> None:
        """Keep a finished change: state and new deliveries go to disk, and the deliverer is woken."""
        self.version += 1
        self.save()
        for delivery in self.outbox:
            if delivery.id not in self.deliveries:
                self.deliveries[delivery.id] = delivery
                self.save_delivery(delivery)
        self.queued.set()

    def rate(self, key: str, spend: int = 0) -> tuple[int, int, int]:
        """Count `spend` requests of a caller; returns limit, used in this clock hour, and when it resets (epoch)."""
        hour = int(self.now().timestamp()) // 3600
        used = self.rate_used[(key, hour)] = self.rate_used.get((key, hour), 0) + spend
        return self.rate_limit, used, (hour + 1) * 3600

    def now(self) -> datetime:
        """The clock's present, UTC."""
        return self.clock()

    def new_id(self) -> int:
        """The next id; ids of all things share one counter."""
        self.born[self.state.next_id] = time.monotonic()
        self.state.next_id += 1
        return self.state.next_id - 1

    def age_s(self, made: int) -> float:
        """Seconds since this id was given out; of what an earlier process made, for ever."""
        return time.monotonic() - self.born[made] if made in self.born else math.inf

    # -- finding ---------------------------------------------------------------------------------------------

    def user(self, login: str) -> User | None:
        """A user by login, in any case."""
        return next((u for u in self.state.users.values() if u.login.lower() == login.lower()), None)

    def repo(self, full_name: str) -> Repo | None:
        """A repository by `owner/name`, in any case."""
        wanted = full_name.lower()
        return next((r for r in self.state.repos.values() if self.full_name(r).lower() == wanted), None)

    def full_name(self, repo: Repo) -> str:
        """`owner/name`."""
        return f"{self.state.users[repo.owner_id].login}/{repo.name}"

    def app(self, slug: str) -> App | None:
        """An App by slug."""
        return next((a for a in self.state.apps.values() if a.slug == slug), None)

    def installations_of(self, repo: Repo) -> list[Installation]:
        """The installations that reach a repository."""
        return [i for i in self.state.installations.values() if repo.id in i.repository_ids]

    def role(self, repo: Repo, user: User | None) -> Role | None:
        """A user's role in a repository, or None."""
        if user is not None and user.id == repo.owner_id:
            return "admin"
        if user is not None and user.id in repo.collaborators:
            return repo.collaborators[user.id]
        return None if repo.private else "read"

    def can_write(self, repo: Repo, user: User | None) -> bool:
        """Whether the role is write or above."""
        role = self.role(repo, user)
        return role is not None and ROLES.index(role) >= ROLES.index("write")

    # -- setting up ------------------------------------------------------------------------------------------

    def add_user(self, login: str, name: str | None = None, kind: str = "User") -> User:
        """Make a user (`kind`: User or Organization); raises ValueError when the login is taken or not a login."""
        if not _LOGIN.fullmatch(login) or login.lower() in _RESERVED:
            raise ValueError(
                f"{login!r} is no login: use letters, digits and single dashes, and no word of the addresses"
            )
        if self.user(login):
            raise ValueError(f"the login {login!r} is taken; choose another")
        made = User.model_validate(
            {"id": self.new_id(), "login": login, "name": name, "type": kind, "created_at": self.now()}
        )
        self.state.users[made.id] = made
        self.save()
        return made

    def add_token(self, login: str, token: str = "") -> str:
        """Make (or take) a personal access token for a user and return it."""
        token = token or "ghp_" + secrets.token_hex(18)
        self.state.tokens[token] = Token(user_id=self._known(login).id)
        self.save()
        return token

    def add_app(self, owner: str, spec: AppSpec) -> App:
        """Register an App with its bot account `<slug>[bot]`."""
        if not spec.webhook_secret and spec.webhook_url:
            raise ValueError(f"the App {spec.slug!r} has a webhook URL but no secret; give it one")
        private, public = _key_pair(spec.private_key_pem)
        app_id = self.new_id()
        bot = User(
            id=self.new_id(), login=f"{spec.slug}[bot]", type="Bot", app_id=app_id, created_at=self.now(), name=None
        )
        app = App(
            id=app_id,
            slug=spec.slug,
            name=spec.name or spec.slug,
            client_id=f"Iv23li{app_id:014}",
            owner_id=self._known(owner).id,
            bot_id=bot.id,
            private_key_pem=private,
            public_key_pem=public,
            webhook_url=spec.webhook_url,
            webhook_secret=spec.webhook_secret,
            permissions={"metadata": "read", **spec.permissions},
            events=list(spec.events),
            created_at=self.now(),
        )
        self.state.users[bot.id] = bot
        self.state.apps[app.id] = app
        self.save()
        return app

    def install(self, slug: str, repos: Sequence[str], permissions: Mapping[str, str] | None = None) -> Installation:
        """Install an App on repositories of one owner; permissions default to all that the App asks for."""
        app = self.app(slug)
        chosen = [self._repo(name) for name in repos]
        if app is None or not chosen or len({r.owner_id for r in chosen}) != 1:
            raise ValueError(f"cannot install {slug!r} on {list(repos)}: name a known App and one owner's repositories")
        made = Installation(
            id=self.new_id(),
            app_id=app.id,
            account_id=chosen[0].owner_id,
            repository_ids=[r.id for r in chosen],
            permissions=dict(app.permissions if permissions is None else {"metadata": "read", **permissions}),
            events=app.events,
            created_at=self.now(),
        )
        self.state.installations[made.id] = made
        announce_installation(self, made)
        self.commit()
        return made

    def set_webhook(self, slug: str, url: str, secret: str) -> None:
        """Point an App's webhook somewhere."""
        app = self.app(slug)
        if app is None:
            raise ValueError(f"no App {slug!r}")
        app.webhook_url, app.webhook_secret = url, secret
        self.save()

    def collaborate(self, full_name: str, login: str, role: Role | None) -> None:
        """Give a user a role in a repository, or take it away (None)."""
        repo, user = self._repo(full_name), self._known(login)
        repo.collaborators.pop(user.id, None)
        if role is not None:
            repo.collaborators[user.id] = role
        self.save()

    def add_team(self, organisation: str, slug: str, members: Sequence[str]) -> Team:
        """Make a team of an organisation; it can do nothing in repositories until its `roles` say so."""
        made = Team(
            organisation_id=self._known(organisation).id, slug=slug, members=[self._known(m).id for m in members]
        )
        self.state.teams.append(made)
        self.save()
        return made

    def team(self, organisation: str, slug: str) -> Team | None:
        """A team by names, in any case."""
        owner = self.user(organisation)
        found = (t for t in self.state.teams if owner and t.organisation_id == owner.id)
        return next((team for team in found if team.slug.lower() == slug.lower()), None)

    def protect(self, full_name: str, branch: str, rules: Protection | None) -> None:
        """Set or lift a branch's protection."""
        repo = self._repo(full_name)
        repo.protection.pop(branch, None)
        if rules is not None:
            repo.protection[branch] = rules
        self.save()

    async def add_repo(self, full_name: str, private: bool = True, description: str | None = None) -> Repo:
        """Make an empty repository (default branch `main`)."""
        repo = self._new_repo(full_name, private, description)
        await self.git.init(repo.id, repo.default_branch)
        return self._keep(repo)

    async def add_repo_from_files(self, full_name: str, files: Path, private: bool = True) -> Repo:
        """Make a repository whose first commit holds a directory's files (not `.git`, not links out of it)."""
        repo = self._new_repo(full_name, private, None)
        await self.git.init(repo.id, repo.default_branch)
        changes: list[tuple[str, str, str | None]] = []
        for file in sorted(files.rglob("*")):
            inside = file.relative_to(files)
            if ".git" in inside.parts or "__pycache__" in inside.parts or file.is_symlink() or not file.is_file():
                continue
            mode = "100755" if os.access(file, os.X_OK) else "100644"
            changes.append((inside.as_posix(), mode, await write_blob(self.git, repo.id, file.read_bytes())))
        if not changes:
            raise ValueError(f"{files} holds no files; name a directory with the repository's files")
        owner = self.state.users[repo.owner_id]
        person = Person(owner.name or owner.login, self.email(owner), self.now() - timedelta(days=1))
        tree = await write_tree(self.git, repo.id, None, changes)
        commit = await write_commit(self.git, repo.id, NewCommit(tree, [], person, person, "Initial commit\n"))
        await self.git.set_ref(repo.id, f"refs/heads/{repo.default_branch}", commit, ZERO)
        return self._keep(repo)

    async def add_repo_from_git(self, full_name: str, source: Path, private: bool = True) -> Repo:
        """Make a repository as a copy of a git repository of this machine; its default branch is kept."""
        repo = self._new_repo(full_name, private, None)
        repo.default_branch = await self.git.clone(repo.id, source)
        return self._keep(repo)

    def email(self, user: User) -> str:
        """The no-reply address that commits by a user get."""
        return f"{user.id}+{user.login}@users.noreply.github.com"

    def _new_repo(self, full_name: str, private: bool, description: str | None) -> Repo:
        owner, _, name = full_name.partition("/")
        if not name or not all(c.isalnum() or c in "._-" for c in name) or name in (".", "..") or self.repo(full_name):
            raise ValueError(f"cannot make the repository {full_name!r}: use a free name of the form owner/name")
        now = self.now()
        repo = Repo(
            id=self.new_id(),
            owner_id=self._known(owner).id,
            name=name,
            description=description,
            private=private,
            created_at=now,
            pushed_at=now,
        )
        for label, color in (("bug", "d73a4a"), ("documentation", "0075ca"), ("enhancement", "a2eeef")):
            repo.labels[label] = Label(id=self.new_id(), name=label, color=color)
        return repo

    def _keep(self, repo: Repo) -> Repo:
        self.state.repos[repo.id] = repo
        self.save()
        return repo

    def _known(self, login: str) -> User:
        user = self.user(login)
        if user is None:
            raise ValueError(f"no user {login!r}; add them first")
        return user

    def _repo(self, full_name: str) -> Repo:
        repo = self.repo(full_name)
        if repo is None:
            raise ValueError(f"no repository {full_name!r}; add it first")
        return repo


def _key_pair(private_pem: str) -> tuple[str, str]:
    if private_pem:
        key = serialization.load_pem_private_key(private_pem.encode(), None)
    else:
        key = rsa.generate_private_key(65537, 2048)
        raw = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        private_pem = raw.decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private_pem, public.decode()


def _write(path: Path, content: bytes) -> None:
    fresh = path.with_suffix(".tmp")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)
