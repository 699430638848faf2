"""The App's webhook deliveries: which were never answered with success, and having them sent again.

Source: GitHub REST, "Webhook deliveries for a GitHub App"; GitHub Docs, "Automatically redelivering failed deliveries
for a GitHub App webhook" (attempts of one delivery share its `guid`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from handlers.ports import FailedDelivery
from infra.github.client import PER_PAGE, GitHubClient
from infra.github.models import HookDelivery, millis, unreadable
from infra.github.wire import Call, Reply, log, path

MAX_PAGES = 200


class GitHubDeliveries:
    """`handlers.ports.Deliveries` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def failed(self, since: int) -> Sequence[FailedDelivery]:
        """Every delivery with an attempt since then and none that succeeded, oldest first. Raises `GitHubError`.

        GitHub lists attempts newest first. Where there are more than 20,000 the older ones are left for later.
        """
        page = Call("GET", path("app", "hook", "deliveries"), {"per_page": PER_PAGE})
        attempts: list[HookDelivery] = []
        for _ in range(MAX_PAGES):
            reply = await self._client.as_app(page)
            listed = _attempts(page, reply)
            attempts += [attempt for attempt in listed if millis(attempt.delivered_at) >= since]
            if reply.next is None or any(millis(attempt.delivered_at) < since for attempt in listed):
                break
            page = Call("GET", reply.next)
        else:
            log.warning("deliveries_cut", attempts=len(attempts))
        return _failed(attempts)

    async def redeliver(self, attempt: int) -> None:
        """Have GitHub deliver it again. Raises `Missing` when GitHub does not keep it any more."""
        await self._client.as_app(Call("POST", path("app", "hook", "deliveries", attempt, "attempts")))


def _attempts(call: Call, reply: Reply) -> list[HookDelivery]:
    try:
        return [HookDelivery.model_validate(item) for item in json.loads(reply.content)]
    except (TypeError, ValueError, ValidationError) as error:
        raise unreadable(call, ValueError(f"no list of deliveries: {type(error).__name__}")) from error


def _succeeded(attempt: HookDelivery) -> bool:
    return attempt.status.casefold() == "ok" or 200 <= attempt.status_code < 300


def _failed(attempts: Iterable[HookDelivery]) -> list[FailedDelivery]:
    """The deliveries without a successful attempt, oldest first; an attempt that is listed twice counts once."""
    by_guid: dict[str, dict[int, HookDelivery]] = {}
    for attempt in attempts:
        by_guid.setdefault(attempt.guid, {})[attempt.id] = attempt
    found = []
    for guid, tries in by_guid.items():
        if any(_succeeded(attempt) for attempt in tries.values()):
            continue
        times = [millis(attempt.delivered_at) for attempt in tries.values()]
        newest = max(tries.values(), key=lambda attempt: (attempt.delivered_at, attempt.id))
        found.append(FailedDelivery(newest.id, guid, len(tries), min(times), max(times)))
    return sorted(found, key=lambda delivery: (delivery.first_at, delivery.guid))
