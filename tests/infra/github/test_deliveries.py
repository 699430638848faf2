"""The App's deliveries and installations over respx: pages, grouping, pace, and answers that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import pytest

from handlers.ports import FailedDelivery, GitHubError, InstallationFacts, Later, Missing, Refused, Unknown
from tests.infra.github.conftest import API, Hub

AT = 1_800_000_000_000


def attempt(number: int, guid: str, status: str = "OK", code: int = 200, second: int = 0) -> dict[str, object]:
    at = f"2027-01-15T08:00:{second:02}Z"
    return {"id": number, "guid": guid, "delivered_at": at, "status": status, "status_code": code, "event": "issues"}


def listed(hub: Hub, *pages: Sequence[object]) -> list[str]:
    """GitHub's record in pages; returns the cursors that were asked for."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        number = int(request.url.params.get("cursor", "0"))
        asked.append(request.url.params.get("cursor", ""))
        link = f'<{API}/app/hook/deliveries?per_page=100&cursor={number + 1}>; rel="next"'
        return httpx.Response(200, json=pages[number], headers={"link": link} if number + 1 < len(pages) else {})

    hub.router.get("/app/hook/deliveries").mock(side_effect=answer)
    return asked


async def test_only_deliveries_without_any_success_oldest_first(hub: Hub) -> None:
    listed(
        hub,
        [attempt(9, "b", "Invalid HTTP Response: 503", 503, 50), attempt(8, "a", "OK", 202, 40)],
        [attempt(7, "c", "timed out", 0, 30), attempt(6, "b", "failed to connect to host", 502, 20)],
        [attempt(5, "a", "failed to connect to host", 502, 10)],
    )
    found = await hub.ports.deliveries.failed(AT)
    assert list(found) == [
        FailedDelivery(9, "b", 2, AT + 20_000, AT + 50_000),
        FailedDelivery(7, "c", 1, AT + 30_000, AT + 30_000),
    ]


async def test_pages_end_where_the_past_begins(hub: Hub) -> None:
    bad = ("bad", 500)
    asked = listed(hub, [attempt(9, "new", *bad, 50)], [attempt(8, "old", *bad, 10)], [attempt(7, "older", *bad, 5)])
    found = await hub.ports.deliveries.failed(AT + 20_000)
    assert [delivery.guid for delivery in found] == ["new"]
    assert asked == ["", "1"]


async def test_an_attempt_that_two_pages_show_counts_once(hub: Hub) -> None:
    again = attempt(9, "a", "bad", 500, 50)
    listed(hub, [again], [again, attempt(8, "a", "bad", 500, 40)])
    assert [delivery.attempts for delivery in await hub.ports.deliveries.failed(AT)] == [2]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param({"message": "?"}, Later, id="no list"),
        pytest.param([{"id": 1}], Later, id="no guid"),
        pytest.param([None], Later, id="null"),
        pytest.param([{**attempt(1, "a"), "delivered_at": "yesterday"}], Later, id="no time"),
    ],
)
async def test_a_record_that_cannot_be_read_is_for_another_try(
    hub: Hub, body: object, error: type[GitHubError]
) -> None:
    hub.router.get("/app/hook/deliveries").respond(200, json=body)
    with pytest.raises(error, match="cannot be read"):
        await hub.ports.deliveries.failed(0)


async def test_another_hosts_page_is_not_followed(hub: Hub) -> None:
    link = {"link": '<https://elsewhere.example/app/hook/deliveries?cursor=2>; rel="next"'}
    hub.router.get("/app/hook/deliveries").respond(200, json=[attempt(1, "a", second=1)], headers=link)
    with pytest.raises(Refused, match="another host"):
        await hub.ports.deliveries.failed(0)


async def test_redeliveries_keep_the_pace_of_writes(hub: Hub) -> None:
    again = hub.router.post(url__regex=r"/app/hook/deliveries/\d+/attempts").respond(202, json={})
    for number in (1, 2, 3):
        await hub.ports.deliveries.redeliver(number)
    assert again.call_count == 3
    assert hub.time.pauses == [1.0, 1.0]
    assert again.calls.last.request.headers["authorization"].startswith("Bearer ey")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(404, Missing, id="not kept any more"),
        pytest.param(422, Refused, id="refused"),
        pytest.param(502, Unknown, id="it may have happened"),
    ],
)
async def test_a_redelivery_that_goes_wrong(hub: Hub, status: int, error: type[GitHubError]) -> None:
    hub.router.post("/app/hook/deliveries/5/attempts").respond(status, json={"message": "no"})
    with pytest.raises(error):
        await hub.ports.deliveries.redeliver(5)


async def test_a_limit_holds_back_what_follows(hub: Hub) -> None:
    again = hub.router.post("/app/hook/deliveries/5/attempts").respond(
        403, json={"message": "secondary rate limit"}, headers={"retry-after": "30"}
    )
    for _ in range(2):
        with pytest.raises(Later):
            await hub.ports.deliveries.redeliver(5)
    assert again.call_count == 1


async def test_all_installations_of_all_pages(hub: Hub) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("page") == "2":
            return httpx.Response(200, json=[{"id": 8, "account": None, "suspended_at": "2027-01-01T00:00:00Z"}])
        link = f'<{API}/app/installations?per_page=100&page=2>; rel="next"'
        made = {"id": 9, "account": {"id": 1, "login": "octo"}, "permissions": {"issues": "write"}}
        return httpx.Response(200, json=[made], headers={"link": link})

    hub.router.get("/app/installations").mock(side_effect=answer)
    assert list(await hub.ports.installations.all()) == [
        InstallationFacts(9, "octo", False, {"issues": "write"}),
        InstallationFacts(8, "", True),
    ]


async def test_what_an_installation_reaches_is_asked_with_a_token_for_all_of_it(hub: Hub) -> None:
    repo = {"id": 42, "full_name": "octo/renamed", "default_branch": "main"}
    hub.router.get("/installation/repositories").respond(200, json={"total_count": 1, "repositories": [repo]})
    (found,) = await hub.ports.installations.repositories(9)
    assert (found.id, found.full_name, found.installation) == (42, "octo/renamed", 9)
    assert b"repository_ids" not in hub.mint.calls.last.request.content


async def test_what_is_forgotten_is_minted_anew(hub: Hub) -> None:
    hub.router.get("/installation/repositories").respond(200, json={"repositories": []})
    await hub.ports.installations.repositories(9)
    await hub.ports.installations.repositories(9)
    assert hub.mint.call_count == 1
    hub.ports.installations.forget(9)
    await hub.ports.installations.repositories(9)
    assert hub.mint.call_count == 2
