"""GitHub's `installation_target`: the account that the App is installed on has a new name."""

from __future__ import annotations

from handlers.events import InstallationChanged
from handlers.github.fields import Account, Envelope, actor, read
from handlers.github.translation import AppIdentity, Found, Payload


class Target(Envelope):
    account: Account | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`installation_changed` with the action `renamed` and the account's new name."""
    given = read(Target, "installation_target", payload)
    installation = given.installation
    if given.action != "renamed" or installation is None or installation.id is None:
        return ()
    account = actor(given.account or installation.account).login
    record = InstallationChanged(installation=installation.id, action="renamed", account=account, sender=given.who())
    return (Found(record),)
