"""Reviews: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

import pytest

from handlers.ports import LineComment, Refused
from tests.contracts.github.scenes import pull_of
from tests.contracts.github.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_reviews_of_people_are_listed(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    await stage.review(stage.ada, pull.number, "changes_requested", "Not yet")
    await stage.review(stage.ada, pull.number, "approved", "Fine")
    found = await stage.ports.reviews.list(stage.repo, pull.number)
    assert [(r.state, r.body, r.commit) for r in found] == [
        ("changes_requested", "Not yet", pull.head_sha),
        ("approved", "Fine", pull.head_sha),
    ]
    assert found[0].author is not None
    assert found[0].author.id == stage.ada.id


async def test_our_review_comments_on_lines(stage: Stage) -> None:
    reviews, pull = stage.ports.reviews, await pull_of(stage)
    line = LineComment(0, None, "app.py", 2, "```suggestion\n    return b + a\n```", None)
    made = await reviews.post(stage.repo, pull.number, pull.head_sha, "One finding", [line])
    assert [(r.id, r.state, r.body) for r in await reviews.list(stage.repo, pull.number)] == [
        (made, "commented", "One finding")
    ]
    found = await reviews.line_comments(stage.repo, pull.number)
    assert [(c.review_id, c.path, c.line, c.body) for c in found] == [(made, "app.py", 2, line.body)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param("app.py", 40, id="a line behind the end"),
        pytest.param("docs/guide.md", 1, id="a file that did not change"),
        pytest.param("app.py", None, id="no line"),
    ],
)
async def test_lines_outside_the_diff_are_refused(stage: Stage, path: str, line: int | None) -> None:
    pull = await pull_of(stage)
    comment = LineComment(0, None, path, line, "Hm", None)
    with pytest.raises(Refused):
        await stage.ports.reviews.post(stage.repo, pull.number, pull.head_sha, "Text", [comment])
    assert not await stage.ports.reviews.list(stage.repo, pull.number)


async def test_those_who_cannot_be_asked_are_left_out(stage: Stage) -> None:
    await stage.person("bob", "read")
    await stage.person("eve", "none")
    pull = await pull_of(stage, draft=False)
    await stage.ports.reviews.request(stage.repo, pull.number, ["ada", "eve", "nobody", "bob"])
    await stage.ports.reviews.request(stage.repo, pull.number, [])
    assert sorted(await stage.ports.reviews.requested(stage.repo, pull.number)) == ["ada", "bob"]
