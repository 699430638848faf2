"""GitHub's `installation`: the App was installed, removed, suspended, or given other permissions."""

from __future__ import annotations

from handlers.events import InstallationChanged
from handlers.github.fields import Envelope, Repo, actor, read, repo_ref
from handlers.github.translation import AppIdentity, Found, Payload

ACTIONS = frozenset({"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"})


class Changed(Envelope):
    repositories: tuple[Repo, ...] | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`installation_changed` with GitHub's own word for the action."""
    given = read(Changed, "installation", payload)
    installation, action = given.installation, given.action or ""
    if installation is None or installation.id is None or action not in ACTIONS:
        return ()
    refs = (repo_ref(repo, installation) for repo in given.repositories or ())
    record = InstallationChanged(
        installation=installation.id,
        action=action,
        account=actor(installation.account).login,
        sender=given.who(),
        repositories=tuple(ref for ref in refs if ref is not None),
    )
    return (Found(record),)
