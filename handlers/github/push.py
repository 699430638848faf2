"""GitHub's `push`: read only for changes of our configuration on the default branch."""

from __future__ import annotations

from handlers.events import ConfigChanged
from handlers.github.fields import Envelope, Fields, read
from handlers.github.translation import AppIdentity, Found, Payload

CONFIG_PATHS = frozenset(f"{folder}seconder.{ending}" for folder in ("", ".github/") for ending in ("yml", "yaml"))
NO_COMMIT = "0" * 40
LISTED_COMMITS = 20


class Commit(Fields):
    """One pushed commit: the paths that it touches."""

    added: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None
    modified: tuple[str, ...] | None = None

    def paths(self) -> frozenset[str]:
        """All paths that the commit names."""
        return frozenset((*(self.added or ()), *(self.removed or ()), *(self.modified or ())))


class Push(Envelope):
    ref: str | None = None
    after: str | None = None
    forced: bool | None = None
    commits: tuple[Commit, ...] | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`config_changed` when the default branch moved and our configuration may have changed with it.

    A forced push, and a push of more commits than older servers list, may hide the change: then it is assumed.
    """
    given = read(Push, "push", payload)
    repo, branch = given.repo(), given.repository.default_branch if given.repository else None
    if repo is None or not branch or given.ref != f"refs/heads/{branch}":
        return ()
    if not given.after or given.after == NO_COMMIT:
        return ()
    commits = given.commits or ()
    unsure = bool(given.forced) or not commits or len(commits) >= LISTED_COMMITS
    if not unsure and not any(commit.paths() & CONFIG_PATHS for commit in commits):
        return ()
    return (Found(ConfigChanged(repo=repo, sender=given.who(), head=given.after)),)
