"""From an unhappy answer to the error that tells the caller "never", "later" or "the world has moved"."""

from __future__ import annotations

from handlers.ports import Conflicted, GitHubError, Missing, Refused
from infra.github.limits import RateLimited
from infra.github.wire import Call, Reply, Wire, log

MOVED_TEXTS = (
    "reference already exists",
    "a pull request already exists",
    "not a fast forward",
    "head branch was modified",
    "expected branch to point to",
)
EMPTY_REPOSITORY = "git repository is empty"


def error_of(wire: Wire, call: Call, reply: Reply) -> GitHubError | None:
    """The error of an answer below 500, or None for success. Logs the permissions that a 403 names."""
    if reply.status < 300:
        return None
    said = f"GitHub: {call}: {reply.status} {reply.text}".rstrip()
    if reply.status == 403:
        log.warning(
            "github_forbidden",
            call=str(call),
            said=reply.text,
            accepted_permissions=reply.headers.get("x-accepted-github-permissions"),
        )
    if (seconds := wire.limited_for(reply)) is not None:
        return RateLimited(f"{said} (wait {seconds:.0f} s)", seconds)
    if reply.status in (404, 410):
        return Missing(said)
    if _has_moved(reply):
        return Conflicted(said)
    return Refused(said)


def _has_moved(reply: Reply) -> bool:
    text = reply.text.casefold()
    if reply.status == 409:
        return EMPTY_REPOSITORY not in text
    return reply.status == 422 and any(known in text for known in MOVED_TEXTS)
