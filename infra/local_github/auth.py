"""Who is calling, and what that caller may do."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field

import jwt
from jwt.types import Options

from infra.local_github.errors import ApiError, not_found
from infra.local_github.records import LEVELS, ROLES, App, Installation, Repo, Role, User
from infra.local_github.world import World

_LONGEST_JWT = 600


@dataclass(frozen=True)
class Actor:
    """The caller: a user, an App (by JWT), an installation of an App (by token), or nobody.

    `user` is whose name stands on what is written: the person, or the App's bot account.
    """

    user: User | None = None
    app: App | None = None
    installation: Installation | None = None
    repository_ids: frozenset[int] = frozenset()
    permissions: dict[str, str] = field(default_factory=dict)
    token: str = ""

    @property
    def key(self) -> str:
        """What rate limits are counted by."""
        if self.installation:
            return f"installation {self.installation.id}"
        return f"app {self.app.id}" if self.app else f"user {self.user.id if self.user else 0}"


@dataclass(frozen=True)
class Needs:
    """What an endpoint asks for: any of `permissions` at `level` (for Apps), and `role` (for users).

    `who`: `any`; `account` (not anonymous); `app` (the App's own JWT); `token` (an installation's token).
    """

    permissions: tuple[str, ...] = ("metadata",)
    level: str = "read"
    role: Role = "read"
    who: str = "any"

    @property
    def header(self) -> str:
        """The value of X-Accepted-GitHub-Permissions."""
        return "; ".join(f"{name}={self.level}" for name in self.permissions)


def identify(world: World, header: str) -> Actor:
    """The caller behind an Authorization header; an empty header is anonymous.

    Raises ApiError 401 for a bad token and for a bad App JWT, as GitHub words it.
    """
    if not header:
        return Actor()
    scheme, _, secret = header.partition(" ")
    secret = secret.strip()
    if scheme.lower() == "basic":
        secret = _basic_secret(secret)
    elif scheme.lower() not in ("bearer", "token"):
        raise ApiError(401, "Bad credentials")
    if scheme.lower() == "bearer" and secret.count(".") == 2:
        return Actor(app=_app_of_jwt(world, secret))
    return _of_token(world, secret)


def _basic_secret(encoded: str) -> str:
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise ApiError(401, "Bad credentials") from None
    return password or name


def _of_token(world: World, secret: str) -> Actor:
    token = world.state.tokens.get(secret)
    if token is None or (token.expires_at is not None and token.expires_at <= world.now()):
        raise ApiError(401, "Bad credentials")
    if token.installation_id is None:
        return Actor(user=world.state.users[token.user_id or 0])
    made = world.state.installations.get(token.installation_id)
    if made is None:
        raise ApiError(401, "Bad credentials")
    if made.suspended_at is not None:
        raise ApiError(403, "This installation has been suspended")
    app = world.state.apps[made.app_id]
    reach = set(made.repository_ids if token.repository_ids is None else token.repository_ids)
    granted = {n: at for n, at in token.permissions.items() if n in made.permissions}
    return Actor(world.state.users[app.bot_id], app, made, frozenset(reach & set(made.repository_ids)), granted, secret)


def _app_of_jwt(world: World, secret: str) -> App:
    undecodable = ApiError(401, "A JSON web token could not be decoded")
    # Times are checked below, by the world's clock and in GitHub's words.
    lenient: Options = {
        "verify_exp": False,
        "verify_iat": False,
        "verify_nbf": False,
        "verify_aud": False,
        "verify_iss": False,
        "verify_sub": False,
    }
    try:
        claimed = jwt.decode(secret, options={**lenient, "verify_signature": False})
        issuer = str(claimed.get("iss", ""))
        app = next((a for a in world.state.apps.values() if issuer in (str(a.id), a.client_id)), None)
        if app is None:
            raise ApiError(404, "Integration not found")
        claims = jwt.decode(secret, app.public_key_pem, algorithms=["RS256"], options=lenient)
    except jwt.PyJWTError:
        raise undecodable from None
    _check_times(claims.get("iat"), claims.get("exp"), int(world.now().timestamp()))
    return app


def _check_times(issued: object, expires: object, now: int) -> None:
    if not isinstance(issued, int) or issued > now + 1:
        claim = "must be an Integer representing the time that the assertion was issued"
        raise ApiError(401, f"'Issued at' claim ('iat') {claim}")
    if not isinstance(expires, int | float) or expires <= now:
        claim = "must be a numeric value representing the future time at which the assertion expires"
        raise ApiError(401, f"'Expiration time' claim ('exp') {claim}")
    if expires > now + _LONGEST_JWT:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")


def check_who(actor: Actor, needs: Needs) -> None:
    """Refuse a caller of the wrong kind."""
    if needs.who == "app":
        if actor.app is None or actor.installation is not None:
            raise ApiError(401, "A JSON web token could not be decoded")
        return
    if actor.app is not None and actor.installation is None:
        raise ApiError(403, "Resource not accessible by integration" if needs.who == "token" else "Forbidden")
    if needs.who == "token" and actor.installation is None:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    if needs.who == "account" and actor.user is None:
        raise ApiError(401, "Requires authentication")


def check_repo(world: World, actor: Actor, repo: Repo, needs: Needs) -> None:
    """Refuse a caller who may not do this in this repository: 404 when unseen, 403 when seen but not allowed."""
    if actor.installation is not None:
        if repo.id not in actor.repository_ids:
            raise not_found()
        if not allowed(actor.permissions, needs):
            accepted = {"X-Accepted-GitHub-Permissions": needs.header}
            raise ApiError(403, "Resource not accessible by integration", headers=accepted)
        return
    role = world.role(repo, actor.user)
    if role is None:
        raise not_found()
    if actor.user is None and needs.level != "read":
        raise ApiError(401, "Requires authentication")
    if ROLES.index(role) < ROLES.index(needs.role):
        if needs.role == "admin":
            raise ApiError(403, "Must have admin rights to Repository.")
        raise ApiError(403, f"Must have {needs.role} access to {world.full_name(repo)}.")


def allowed(permissions: dict[str, str], needs: Needs) -> bool:
    """Whether an installation's permissions hold any of what is needed."""
    wanted = LEVELS.index(needs.level)
    have = (permissions.get(name) for name in needs.permissions)
    return any(level is not None and LEVELS.index(level) >= wanted for level in have)
