"""All adapters around one client."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from infra.github.app import GitHubApp
from infra.github.checks import GitHubChecks
from infra.github.client import GitHubClient
from infra.github.deliveries import GitHubDeliveries
from infra.github.installations import GitHubInstallations
from infra.github.issues import GitHubIssues
from infra.github.options import Options
from infra.github.people import GitHubPeople
from infra.github.pulls import GitHubPulls
from infra.github.repository import GitHubRepository
from infra.github.reviews import GitHubReviews
from infra.github.rules import GitHubRules
from infra.github.timing import Time
from infra.github.tokens import AppKey


@dataclass(frozen=True)
class GitHubAdapters:
    """One adapter per port of `handlers.ports`; close `client` when the process ends."""

    client: GitHubClient
    issues: GitHubIssues
    pulls: GitHubPulls
    reviews: GitHubReviews
    checks: GitHubChecks
    repository: GitHubRepository
    people: GitHubPeople
    rules: GitHubRules
    deliveries: GitHubDeliveries
    installations: GitHubInstallations
    app: GitHubApp


def connect(
    key: AppKey,
    options: Options | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    time: Time | None = None,
) -> GitHubAdapters:
    """Build the adapters; nothing is sent yet. `transport` and `time` are for tests."""
    client = GitHubClient(key, options, transport, time)
    return GitHubAdapters(
        client=client,
        issues=GitHubIssues(client),
        pulls=GitHubPulls(client),
        reviews=GitHubReviews(client),
        checks=GitHubChecks(client),
        repository=GitHubRepository(client),
        people=GitHubPeople(client),
        rules=GitHubRules(client),
        deliveries=GitHubDeliveries(client),
        installations=GitHubInstallations(client),
        app=GitHubApp(client),
    )
