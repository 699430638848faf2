"""The App's JWT, and installation tokens scoped to one repository and one job.

Source: GitHub REST, "Create an installation access token for an app"; GitHub Apps, "Generating a JSON Web Token (JWT)".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from handlers.ports import GitHubError, Missing, Refused
from infra.github.errors import error_of
from infra.github.models import TokenAnswer, parse
from infra.github.timing import Time
from infra.github.wire import Call, Kit, Reply, Wire, path

JWT_BACKDATED_S = 60
JWT_LIFE_S = 9 * 60
RENEW_BEFORE_S = 5 * 60
SKEW_NAMED_S = 30
CLOCK_TEXTS = ("'exp'", "'iat'", "expiration time", "issued at", "too far in the future")


class AppKey:
    """The App's identity: signs the JWT that mints tokens.

    `private_key` is the PEM text; `\\n` written out, as environment files have it, is understood. Raises `ValueError`
    for anything that is no RSA key.
    """

    def __init__(self, app_id: int, private_key: str) -> None:
        self.app_id = app_id
        pem = private_key.strip().replace("\\n", "\n").encode()
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise ValueError(
                "GITHUB_APP_PRIVATE_KEY is no PEM key: give the whole downloaded .pem file, from BEGIN to END"
            ) from error
        if not isinstance(key, RSAPrivateKey):
            raise ValueError("GITHUB_APP_PRIVATE_KEY is no RSA key: GitHub signs Apps in with RSA only")
        self._key = key

    def jwt(self, now: float) -> str:
        """A JWT good for 9 minutes from `now` (seconds UTC), dated back a minute against a clock that runs ahead."""
        claims = {"iss": str(self.app_id), "iat": int(now) - JWT_BACKDATED_S, "exp": int(now) + JWT_LIFE_S}
        return jwt.encode(claims, self._key, algorithm="RS256")


@dataclass(frozen=True)
class Grant:
    """What a token may do: in one installation, one repository (None: all of them), with these permissions."""

    installation: int
    repository: int | None
    permissions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Token:
    """A minted token with the client that uses it; times are seconds on the monotonic clock."""

    text: str
    kit: Kit
    minted: float
    good_until: float


class Tokens:
    """Mints, keeps and forgets tokens. Many callers that want the same one share one request."""

    def __init__(self, wire: Wire, key: AppKey, time: Time) -> None:
        self._wire = wire
        self._key = key
        self._time = time
        self._kept: dict[Grant, Token] = {}
        self._minting: dict[Grant, asyncio.Task[Token]] = {}

    async def get(self, grant: Grant) -> Token:
        """A token with at least 5 minutes left. Raises `Refused` (suspended, not granted), `Missing`, `Later`."""
        kept = self._kept.get(grant)
        if kept and kept.good_until > self._time.monotonic():
            return kept
        task = self._minting.get(grant)
        if task is None:
            task = asyncio.create_task(self._mint(grant))
            self._minting[grant] = task
            task.add_done_callback(lambda done: self._minted(grant, done))
        # One caller that is cancelled must not take the token from the others.
        return await asyncio.shield(task)

    def evict(self, grant: Grant, token: Token) -> None:
        """Forget this token; a newer one, minted meanwhile, stays."""
        if self._kept.get(grant) is token:
            del self._kept[grant]

    def forget(self, installation: int) -> None:
        """Forget an installation's tokens: its permissions or repositories have changed."""
        self._kept = {grant: token for grant, token in self._kept.items() if grant.installation != installation}
        self._minting = {grant: task for grant, task in self._minting.items() if grant.installation != installation}

    async def as_app(self, call: Call) -> Reply:
        """Send a call as the App itself. Raises `GitHubError` for any answer but success."""
        reply = await self._wire.steady(self._wire.with_jwt(self._key.jwt(self._time.now())), call)
        if error := error_of(self._wire, call, reply):
            raise self._explained(error, reply)
        return reply

    def _minted(self, grant: Grant, done: asyncio.Task[Token]) -> None:
        good = not done.cancelled() and done.exception() is None
        if self._minting.get(grant) is done:
            del self._minting[grant]
            if good:
                self._kept[grant] = done.result()

    async def _mint(self, grant: Grant) -> Token:
        now = self._time.monotonic()
        self._kept = {kept: token for kept, token in self._kept.items() if token.good_until > now}
        body: dict[str, object] = {"permissions": dict(grant.permissions)}
        if grant.repository is not None:
            body["repository_ids"] = [grant.repository]
        call = Call("POST", path("app", "installations", grant.installation, "access_tokens"), json=body, harmless=True)
        try:
            reply = await self.as_app(call)
        except Missing as error:
            raise Missing(f"{error} (the App is not installed there any more)") from error
        except Refused as error:
            raise self._not_granted(error, grant) from error
        answer = parse(call, reply, TokenAnswer)
        minted = self._time.monotonic()
        life = answer.expires_at.timestamp() - (date_of(reply.headers) or self._time.now())
        return Token(answer.token, self._wire.with_token(answer.token), minted, minted + life - RENEW_BEFORE_S)

    def _explained(self, error: GitHubError, reply: Reply) -> GitHubError:
        """Say what is wrong when GitHub does not accept the JWT: the clock, or else the key."""
        if reply.status != 401:
            return error
        theirs = date_of(reply.headers)
        skew = self._time.now() - theirs if theirs is not None else 0.0
        if abs(skew) > SKEW_NAMED_S:
            way = "ahead of" if skew > 0 else "behind"
            date = reply.headers["date"]
            return Refused(f"{error}. This machine's clock is {abs(skew):.0f} s {way} GitHub's ({date}): set it right")
        if any(known in reply.text.casefold() for known in CLOCK_TEXTS):
            return Refused(f"{error}. GitHub finds the JWT's times wrong: check this machine's clock")
        return Refused(f"{error}. Check that GITHUB_APP_ID ({self._key.app_id}) and the private key belong together")

    def _not_granted(self, error: Refused, grant: Grant) -> Refused:
        if "permission" not in str(error):
            return error
        asked = ", ".join(f"{name}: {level}" for name, level in grant.permissions)
        return Refused(f"{error} (asked for {asked}; accept the App's new permissions in the installation's settings)")


def date_of(headers: Mapping[str, str]) -> float | None:
    """The answer's Date in seconds UTC; None when there is none that can be read."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return None
