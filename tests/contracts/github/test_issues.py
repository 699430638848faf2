"""Issues: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

import pytest

from handlers.ports import Missing, Refused
from tests.contracts.github.scenes import pull_of
from tests.contracts.github.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_issue_is_read_as_it_is(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "Adding subtracts", None)
    issue = await stage.ports.issues.get(stage.repo, number)
    assert (issue.number, issue.title, issue.body, issue.state) == (number, "Adding subtracts", "", "open")
    assert (issue.author.id, issue.author.login, issue.author.type) == (stage.ada.id, "ada", "User")
    assert not issue.is_pull_request
    assert issue.url.startswith("http")


async def test_a_pull_request_is_also_an_issue(stage: Stage) -> None:
    pull = await pull_of(stage)
    assert (await stage.ports.issues.get(stage.repo, pull.number)).is_pull_request


async def test_comments_come_oldest_first_and_know_whose_they_are(stage: Stage) -> None:
    issues = stage.ports.issues
    number = await stage.issue(stage.ada, "T", "B")
    first = await stage.comment(stage.ada, number, "Please")
    second = await issues.comment(stage.repo, number, "Seen 👀 <!-- marker -->")
    found = await issues.comments(stage.repo, number)
    assert [(c.id, c.body, c.by_us) for c in found] == [
        (first, "Please", False),
        (second, "Seen 👀 <!-- marker -->", True),
    ]
    assert found[1].author == await stage.ports.people.bot()
    assert all(c.created_at > 1_600_000_000_000 for c in found)


async def test_every_page_of_comments_is_read(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    made = [await stage.comment(stage.ada, number, f"c{index}") for index in range(103)]
    assert [c.id for c in await stage.ports.issues.comments(stage.repo, number)] == made


async def test_comment_is_edited_reacted_to_and_deleted(stage: Stage) -> None:
    issues = stage.ports.issues
    number = await stage.issue(stage.ada, "T", "B")
    made = await issues.comment(stage.repo, number, "One")
    await issues.edit_comment(stage.repo, made, "Two")
    for _ in range(2):
        await issues.react(stage.repo, "comment", made, "eyes")
        await issues.react(stage.repo, "issue", number, "+1")
    assert [c.body for c in await issues.comments(stage.repo, number)] == ["Two"]
    await issues.delete_comment(stage.repo, made)
    assert not await issues.comments(stage.repo, number)
    with pytest.raises(Missing):
        await issues.delete_comment(stage.repo, made)
    with pytest.raises(Missing):
        await issues.edit_comment(stage.repo, made, "Three")


async def test_what_is_not_there_is_missing(stage: Stage) -> None:
    with pytest.raises(Missing):
        await stage.ports.issues.get(stage.repo, 999)
    with pytest.raises(Missing):
        await stage.ports.issues.comment(stage.repo, 999, "Hello")
    with pytest.raises(Missing):
        await stage.ports.pulls.get(stage.repo, 999)


async def test_a_text_over_the_limit_is_refused(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    with pytest.raises(Refused, match="65536"):
        await stage.ports.issues.comment(stage.repo, number, "x" * 65_537)
    await stage.ports.issues.comment(stage.repo, number, "x" * 65_536)
