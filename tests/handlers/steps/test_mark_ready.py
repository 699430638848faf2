"""Taking the pull request out of draft."""

from __future__ import annotations

import pytest

from agents.board import PullRequest, Review, ReviewComment
from handlers.ports import Commit, Later, Refused
from handlers.steps import mark_ready
from handlers.steps.mark_ready import lines_of
from handlers.work import Work
from tests.fakes.team import Team
from tests.handlers.steps.scene import CHANGED, published


@pytest.fixture
async def draft(team: Team) -> Team:
    await team.begin()
    await published(team)
    return team


def finding(line: int | None, file: str = "calc.py", suggestion: str = "") -> ReviewComment:
    return ReviewComment(file=file, line=line, severity="minor", message=f"look at {line}", suggestion=suggestion)


async def reviewed(team: Team, *comments: ReviewComment, approved: bool = True, tree: str | None = None) -> Work:
    """The step after a review of the pushed tree."""
    pull = (await team.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    review = Review(approved=approved, summary="Good.", comments=comments, tree=pull.tree if tree is None else tree)
    await team.put(team.entry("review", review, "reviewer"))
    return await team.work("mark_ready")


async def step(team: Team, *comments: ReviewComment) -> Commit:
    return await mark_ready.run(await reviewed(team, *comments))


async def test_it_leaves_draft_and_says_so(draft: Team) -> None:
    commit = await step(draft)
    [entry] = commit.entries
    pull = PullRequest.model_validate(entry.value)
    assert (pull.action, pull.draft) == ("ready", False)
    assert [event.name for event in commit.events] == ["pr_ready"]
    assert not (await draft.world.pulls.get(draft.repo, pull.number)).draft


async def test_people_with_write_are_asked_but_not_the_requester(draft: Team) -> None:
    draft.world.add_person(draft.repo, "robot", "admin", "Bot")
    await step(draft)
    assert draft.world.pull(draft.repo, 2).requested == ["ann", "max"]


async def test_at_most_three_are_asked(draft: Team) -> None:
    for number in range(5):
        draft.world.add_person(draft.repo, f"p{number}", "write")
    await step(draft)
    assert len(draft.world.pull(draft.repo, 2).requested) == mark_ready.MOST_ASKED


async def test_with_nobody_to_ask_it_goes_on(draft: Team) -> None:
    for person in (draft.ann, draft.max):
        draft.world.permit(draft.repo, person, "read")
    commit = await step(draft)
    assert [event.name for event in commit.events] == ["pr_ready"]
    assert draft.world.count("reviews.request") == 0


@pytest.mark.parametrize(
    "error", [Refused("422 not a collaborator"), Later("rate limit", 1.0)], ids=["refused", "later"]
)
async def test_who_cannot_be_asked_is_no_reason_to_fail(draft: Team, error: Refused | Later) -> None:
    draft.world.fail("reviews.request", error)
    assert [event.name for event in (await step(draft)).events] == ["pr_ready"]
    asked = (await draft.state()).receipts["reviewers:2"]
    assert asked["asked"] == []


async def test_a_review_of_another_tree_readies_nothing(draft: Team) -> None:
    commit = await mark_ready.run(await reviewed(draft, tree="9" * 40))
    assert (commit.outcome, commit.entries, commit.events) == ("done", (), ())
    assert draft.world.pull(draft.repo, 2).draft


async def test_a_review_without_approval_readies_nothing(draft: Team) -> None:
    blocker = ReviewComment(file="calc.py", line=1, severity="blocker", message="no")
    commit = await mark_ready.run(await reviewed(draft, blocker, approved=False))
    assert commit.entries == ()
    assert draft.world.pull(draft.repo, 2).draft


async def test_an_approved_tree_that_is_not_pushed_readies_nothing(draft: Team) -> None:
    """The branch holds an older tree than the one that was tested and reviewed."""
    pull = (await draft.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    older = pull.model_copy(update={"tree": "9" * 40})
    await draft.put(draft.entry("pull_request", older, "publish"))
    commit = await mark_ready.run(await reviewed(draft, tree=pull.tree))
    assert commit.entries == ()


# --- Findings


async def posted(team: Team) -> tuple[str, list[tuple[str, int | None]]]:
    """Our review's text, and where its line comments stand."""
    pull = team.world.pull(team.repo, 2)
    [review] = [one for one in pull.reviews if one.author is not None and one.author.id == team.world.bot.id]
    assert review.state == "commented"
    return review.body, [(one.path, one.line) for one in pull.lines]


async def test_findings_on_lines_of_the_diff_stand_there(draft: Team) -> None:
    await step(draft, finding(6), finding(1))
    body, lines = await posted(draft)
    assert lines == [("calc.py", 6), ("calc.py", 1)]
    assert "Good." in body


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param(finding(400), id="a line that is not in the diff"),
        pytest.param(finding(None), id="the whole file"),
        pytest.param(finding(1, "other.py"), id="a file that is not in the diff"),
        pytest.param(finding(0), id="line zero"),
        pytest.param(finding(-3), id="a negative line"),
    ],
)
async def test_findings_elsewhere_stand_in_the_text(draft: Team, comment: ReviewComment) -> None:
    await step(draft, comment, finding(6))
    body, lines = await posted(draft)
    assert lines == [("calc.py", 6)]
    assert comment.message in body


async def test_where_github_knows_the_diff_better_everything_goes_into_the_text(draft: Team) -> None:
    draft.world.fail("reviews.post", Refused("422 line must be part of the diff"))
    await step(draft, finding(6))
    body, lines = await posted(draft)
    assert lines == []
    assert "look at 6" in body


async def test_a_repeat_posts_no_second_review(draft: Team) -> None:
    work = await reviewed(draft, finding(6))
    await mark_ready.run(work)
    await mark_ready.run(work)
    await posted(draft)
    assert draft.world.count("reviews.post") == 1


@pytest.mark.parametrize("reviewed_meanwhile", [False, True], ids=["still asked", "has reviewed meanwhile"])
async def test_who_was_asked_before_a_crash_is_not_asked_again(draft: Team, reviewed_meanwhile: bool) -> None:
    work = await reviewed(draft)
    await draft.store.effects.attempt(work.lease, "reviewers:2")
    await draft.world.reviews.request(draft.repo, 2, ["ann", "max"])
    if reviewed_meanwhile:
        draft.world.add_review(draft.repo, 2, draft.ann, "approved")
        draft.world.pull(draft.repo, 2).requested.clear()
    await mark_ready.run(work)
    assert draft.world.count("reviews.request") == 1
    asked = ["ann"] if reviewed_meanwhile else ["ann", "max"]
    assert (await draft.state()).receipts["reviewers:2"] == {"asked": asked}


async def test_a_lost_answer_posts_no_second_review(draft: Team) -> None:
    draft.world.drop_reply("reviews.post")
    await step(draft, finding(6))
    await posted(draft)


# --- Lines of a diff

DIFFS = [
    pytest.param("", {}, id="nothing"),
    pytest.param(
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n x\n+y\n z\n",
        {"a.py": {1, 2, 3}},
        id="added",
    ),
    pytest.param("--- a/a.py\n+++ b/a.py\n@@ -5,3 +5,2 @@ def f():\n a\n-b\n c\n", {"a.py": {5, 6}}, id="removed"),
    pytest.param("--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n", {"n.py": {1}}, id="a new file of one line"),
    pytest.param("--- a/d.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", {}, id="a deleted file"),
    pytest.param("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9,2 @@\n c\n+d\n", {"a": {1, 9, 10}}, id="two hunks"),
    pytest.param(
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -3 +3 @@\n-x\n+y\n",
        {"a": {1}, "c": {3}},
        id="two files",
    ),
    pytest.param(
        "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n x\n+++ b/evil.py\n y\n",
        {"a": {1, 2, 3}},
        id="a line like a name",
    ),
    pytest.param(
        "--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n x\n--- a/evil.py\n y\n+++ b/b\n@@ -1 +1 @@\n-q\n+r\n",
        {"a": {1, 2}, "b": {1}},
        id="a removed line that looks like a name",
    ),
    pytest.param(
        "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n x\x0c\u2028\n+y\x85z\n w\n",
        {"a": {1, 2, 3}},
        id="odd characters",
    ),
    pytest.param(
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        {"a": {1}},
        id="no newline at the end",
    ),
    pytest.param("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n", {}, id="binary"),
    pytest.param("+x\n y\n@@ nonsense @@\n+z\n", {}, id="no diff at all"),
]


@pytest.mark.parametrize(("diff", "lines"), DIFFS)
def test_lines_of_a_diff(diff: str, lines: dict[str, set[int]]) -> None:
    assert lines_of(diff) == lines


async def test_the_lines_are_those_that_github_takes(draft: Team) -> None:
    results = (await draft.state()).board.live("test_results")
    assert results is not None
    assert lines_of(str(results.value["diff"]))["calc.py"] <= draft.world.lines_of_diff(draft.repo, 2, "calc.py")
    assert max(lines_of(str(results.value["diff"]))["calc.py"]) == len(CHANGED["calc.py"].splitlines())
