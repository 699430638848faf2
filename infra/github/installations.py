"""The App's installations and what they reach.

Source: GitHub REST, "List installations for the authenticated app" and "List repositories accessible to the app
installation".
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import ValidationError

from handlers.events import RepoRef
from handlers.ports import InstallationFacts, Refused
from infra.github.client import MAX_PAGES, PER_PAGE, GitHubClient, everywhere
from infra.github.models import Installation, Repo, unreadable
from infra.github.wire import Call, path

READ = {"metadata": "read"}


class GitHubInstallations:
    """`handlers.ports.Installations` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def all(self) -> Sequence[InstallationFacts]:
        """All of them, every page. Raises `GitHubError`, also when the pages do not end."""
        page = Call("GET", path("app", "installations"), {"per_page": PER_PAGE})
        found: list[InstallationFacts] = []
        for _ in range(MAX_PAGES):
            reply = await self._client.as_app(page)
            try:
                found += [_facts(Installation.model_validate(item)) for item in json.loads(reply.content)]
            except (TypeError, ValueError, ValidationError) as error:
                raise unreadable(page, ValueError(f"no list of installations: {type(error).__name__}")) from error
            if reply.next is None:
                return found
            page = Call("GET", reply.next)
        raise Refused(f"GitHub: {page}: more than {MAX_PAGES} pages of installations")

    async def repositories(self, installation: int) -> Sequence[RepoRef]:
        """The repositories that an installation reaches. Raises `GitHubError`."""
        call = Call("GET", path("installation", "repositories"))
        found = await self._client.pages(everywhere(installation), READ, call, Repo, "repositories")
        return [RepoRef(id=repo.id, full_name=repo.full_name, installation=installation) for repo in found]

    def forget(self, installation: int) -> None:
        """Forget an installation's tokens."""
        self._client.forget(installation)


def _facts(made: Installation) -> InstallationFacts:
    account = made.account.login if made.account is not None else ""
    return InstallationFacts(made.id, account, made.suspended_at is not None, made.permissions or {})
