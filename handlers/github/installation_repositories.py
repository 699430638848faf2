"""GitHub's `installation_repositories`: an installation was given repositories, or lost some."""

from __future__ import annotations

from handlers.events import InstallationChanged
from handlers.github.fields import Envelope, Repo, actor, read, repo_ref
from handlers.github.translation import AppIdentity, Found, Payload


class Repositories(Envelope):
    repositories_added: tuple[Repo, ...] | None = None
    repositories_removed: tuple[Repo, ...] | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`installation_changed` with the action `added` or `removed` and the repositories concerned."""
    given = read(Repositories, "installation_repositories", payload)
    installation, action = given.installation, given.action or ""
    if installation is None or installation.id is None or action not in {"added", "removed"}:
        return ()
    named = given.repositories_added if action == "added" else given.repositories_removed
    refs = (repo_ref(repo, installation) for repo in named or ())
    record = InstallationChanged(
        installation=installation.id,
        action=action,
        account=actor(installation.account).login,
        sender=given.who(),
        repositories=tuple(ref for ref in refs if ref is not None),
    )
    return (Found(record),)
