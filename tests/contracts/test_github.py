"""What every GitHub port promises: the same cases on the fake and on the real adapters with the local GitHub."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from handlers.events import Actor
from handlers.ports import (
    Button,
    CheckState,
    Conflicted,
    LineComment,
    Missing,
    NewCommit,
    NewPull,
    PullFacts,
    Refused,
    TreeEdit,
    Unknown,
)
from tests.contracts.github_stage import BASE_FILES, FakeStage, LocalServer, LocalStage, Stage
from tests.fakes.git_objects import tree_sha
from tests.fakes.github_world import Level

pytestmark = pytest.mark.asyncio(loop_scope="module")

BRANCH = "seconder/issue-1-fix"
FIXED = "def add(a, b):\n    return a + b\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalServer]:
    async with LocalServer.start(tmp_path_factory.mktemp("github")) as running:
        yield running


@pytest_asyncio.fixture(params=["fake", "local"], loop_scope="module")
async def stage(request: pytest.FixtureRequest, server: LocalServer) -> AsyncIterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
    else:
        async with server.stage() as local:
            yield local


def files_with(**changed: bytes | None) -> dict[str, tuple[str, bytes]]:
    """The base files with changes; `__` in a name stands for a slash, `_dot_` for a dot."""
    files = {path: ("100644", text.encode()) for path, text in BASE_FILES.items()}
    for name, content in changed.items():
        path = name.replace("__", "/").replace("_dot_", ".")
        files.pop(path, None)
        if content is not None:
            files[path] = ("100644", content)
    return files


async def base_of(stage: Stage) -> str:
    head = await stage.ports.repository.branch(stage.repo, "main")
    assert head is not None
    return head


async def new_commit(stage: Stage, content: bytes = FIXED.encode(), parent: str | None = None) -> NewCommit:
    return NewCommit(
        parent=parent or await base_of(stage),
        tree=tree_sha(files_with(app_dot_py=content)),
        edits=(TreeEdit("app.py", content),),
        message="Add, not subtract\n\nCloses #1",
        author_name="seconder[bot]",
        author_email="1+seconder[bot]@users.noreply.github.com",
        date=1_700_000_000,
    )


async def pull_of(stage: Stage, branch: str = BRANCH, draft: bool = True) -> PullFacts:
    repository = stage.ports.repository
    sha = await repository.commit(stage.repo, await new_commit(stage))
    await repository.create_branch(stage.repo, branch, sha)
    return await stage.ports.pulls.open(stage.repo, NewPull("Fix add", "Text", branch, "main", draft))


# --- Issues


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


# --- Repository


async def test_facts_of_a_repository(stage: Stage) -> None:
    facts = await stage.ports.repository.facts(stage.repo)
    assert (facts.ref, facts.default_branch, facts.head) == (stage.repo, "main", await base_of(stage))
    assert not facts.archived


async def test_an_empty_repository_has_no_head(stage: Stage) -> None:
    assert (await stage.ports.repository.facts(stage.empty)).head is None
    assert await stage.ports.repository.branch(stage.empty, "main") is None


async def test_the_same_commit_twice_has_the_same_sha(stage: Stage) -> None:
    repository, new = stage.ports.repository, await new_commit(stage)
    first = await repository.commit(stage.repo, new)
    assert await repository.commit(stage.repo, new) == first
    assert await repository.branch(stage.repo, BRANCH) is None


@pytest.mark.parametrize(
    ("edits", "files"),
    [
        pytest.param((TreeEdit("new/deep/a.txt", b"x"),), files_with(new__deep__a_dot_txt=b"x"), id="a new folder"),
        pytest.param((TreeEdit("docs/guide.md", None),), files_with(docs__guide_dot_md=None), id="delete"),
        pytest.param((TreeEdit("b.bin", b"\xff\x00\xfe"),), files_with(b_dot_bin=b"\xff\x00\xfe"), id="bytes"),
        pytest.param((TreeEdit("e.txt", b""),), files_with(e_dot_txt=b""), id="an empty file"),
        pytest.param((TreeEdit("c.txt", b"a\r\nb\r"),), files_with(c_dot_txt=b"a\r\nb\r"), id="carriage returns"),
        pytest.param(
            (TreeEdit("u.txt", "é 日本 \u200b".encode()),), files_with(u_dot_txt="é 日本 \u200b".encode()), id="UTF-8"
        ),
        pytest.param((TreeEdit("app.py", b"y" * 300_000),), files_with(app_dot_py=b"y" * 300_000), id="a big text"),
        pytest.param(
            (TreeEdit("run.sh", b"echo hi\n", "100755"),),
            files_with() | {"run.sh": ("100755", b"echo hi\n")},
            id="executable",
        ),
    ],
)
async def test_edits_make_the_tree_that_git_would_make(
    stage: Stage, edits: tuple[TreeEdit, ...], files: dict[str, tuple[str, bytes]]
) -> None:
    new = replace(await new_commit(stage), edits=edits, tree=tree_sha(files))
    assert len(await stage.ports.repository.commit(stage.repo, new)) == 40


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"tree": "0" * 40}, "0" * 40, id="another tree than agreed"),
        pytest.param({"edits": ()}, "without any change", id="an empty commit"),
        pytest.param({"edits": (TreeEdit("app.py", b"x", "120000"),)}, "mode", id="a symbolic link"),
        pytest.param({"edits": (TreeEdit("app.py", b"x", "160000"),)}, "mode", id="a submodule"),
        pytest.param({"edits": (TreeEdit("nowhere.py", None),)}, "nowhere", id="delete what is not there"),
    ],
)
async def test_commits_that_are_refused(stage: Stage, change: dict[str, object], said: str) -> None:
    new = NewCommit(**{**vars(await new_commit(stage)), **change})
    with pytest.raises(Refused, match=said):
        await stage.ports.repository.commit(stage.repo, new)


async def test_a_branch_is_made_moved_and_deleted(stage: Stage) -> None:
    repository = stage.ports.repository
    one = await repository.commit(stage.repo, await new_commit(stage))
    two = await repository.commit(stage.repo, await new_commit(stage, b"x = 2\n", parent=one))
    await repository.create_branch(stage.repo, BRANCH, one)
    assert await repository.branch(stage.repo, BRANCH) == one
    with pytest.raises(Conflicted):
        await repository.create_branch(stage.repo, BRANCH, one)
    await repository.move_branch(stage.repo, BRANCH, two)
    assert await repository.branch(stage.repo, BRANCH) == two
    with pytest.raises(Conflicted):
        await repository.move_branch(stage.repo, BRANCH, one)
    await repository.delete_branch(stage.repo, BRANCH)
    assert await repository.branch(stage.repo, BRANCH) is None
    await repository.delete_branch(stage.repo, BRANCH)
    with pytest.raises(Missing):
        await repository.move_branch(stage.repo, BRANCH, two)


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        pytest.param("seconder/issue-1", "seconder/issue-1/fix", id="a branch where a folder should be"),
        pytest.param("seconder/issue-1/fix", "seconder/issue-1", id="a folder where a branch should be"),
    ],
)
async def test_a_branch_in_the_way_is_named(stage: Stage, there: str, wanted: str) -> None:
    repository, base = stage.ports.repository, await base_of(stage)
    await repository.create_branch(stage.repo, there, base)
    with pytest.raises(Conflicted, match=there):
        await repository.create_branch(stage.repo, wanted, base)


async def test_a_branch_of_an_unknown_commit_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused):
        await stage.ports.repository.create_branch(stage.repo, BRANCH, "1" * 40)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("main", id="the default branch"),
        pytest.param("feature/x", id="somebody's branch"),
        pytest.param("seconder/../main", id="dots"),
        pytest.param("seconder//x", id="two slashes"),
        pytest.param("seconder/x.lock", id="a lock"),
        pytest.param("seconder/x y", id="a space"),
        pytest.param("seconder/x\n", id="a line break"),
        pytest.param("seconder/é", id="not ASCII"),
        pytest.param("seconder/x@{1}", id="a reflog entry"),
        pytest.param("seconder/", id="nothing"),
        pytest.param("seconder/x/", id="an open end"),
        pytest.param("refs/heads/seconder/x", id="a full ref"),
    ],
)
async def test_names_that_are_never_written(stage: Stage, name: str) -> None:
    repository, base = stage.ports.repository, await base_of(stage)
    for verb in (
        repository.create_branch(stage.repo, name, base),
        repository.move_branch(stage.repo, name, base),
        repository.delete_branch(stage.repo, name),
    ):
        with pytest.raises(Refused):
            await verb
    assert await base_of(stage) == base


# --- Pulls


async def test_a_pull_request_is_opened_found_and_edited(stage: Stage) -> None:
    pulls = stage.ports.pulls
    assert not await pulls.find(stage.repo, BRANCH)
    made = await pull_of(stage)
    assert (made.title, made.body, made.state, made.draft, made.merged) == ("Fix add", "Text", "open", True, False)
    assert (made.head_ref, made.base_ref, made.head_repo_id) == (BRANCH, "main", stage.repo.id)
    assert made.head_sha == await stage.ports.repository.branch(stage.repo, BRANCH)
    assert made.merge_sha is None
    assert made.author == await stage.ports.people.bot()
    assert await pulls.find(stage.repo, BRANCH) == [made]
    await pulls.edit(stage.repo, made.number, "Add", "More")
    assert await pulls.get(stage.repo, made.number) == replace(made, title="Add", body="More")


async def test_a_second_pull_request_of_a_branch_conflicts(stage: Stage) -> None:
    await pull_of(stage)
    with pytest.raises(Conflicted):
        await stage.ports.pulls.open(stage.repo, NewPull("Again", "", BRANCH, "main"))


@pytest.mark.parametrize("head", ["seconder/nothing-new", "seconder/nowhere"])
async def test_a_pull_request_of_nothing_is_refused(stage: Stage, head: str) -> None:
    await stage.ports.repository.create_branch(stage.repo, "seconder/nothing-new", await base_of(stage))
    with pytest.raises(Refused) as refused:
        await stage.ports.pulls.open(stage.repo, NewPull("T", "", head, "main"))
    assert not isinstance(refused.value, Conflicted)


async def test_closed_ones_are_found_too_newest_first(stage: Stage) -> None:
    pulls = stage.ports.pulls
    first = await pull_of(stage)
    await pulls.close(stage.repo, first.number)
    second = await pulls.open(stage.repo, NewPull("Again", "", BRANCH, "main"))
    found = await pulls.find(stage.repo, BRANCH)
    assert [(p.number, p.state) for p in found] == [(second.number, "open"), (first.number, "closed")]


async def test_the_head_follows_the_branch(stage: Stage) -> None:
    pull = await pull_of(stage)
    sha = await stage.push(BRANCH, {"app.py": "x = 3\n"})
    assert (await stage.ports.pulls.get(stage.repo, pull.number)).head_sha == sha


async def test_ready_then_merged(stage: Stage) -> None:
    pulls, pull = stage.ports.pulls, await pull_of(stage)
    for _ in range(2):
        await pulls.mark_ready(stage.repo, pull.number)
        assert not (await pulls.get(stage.repo, pull.number)).draft
    sha = await pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add (#2)")
    assert await base_of(stage) == sha
    now = await pulls.get(stage.repo, pull.number)
    assert (now.merged, now.state, now.head_sha) == (True, "closed", pull.head_sha)
    with pytest.raises(Refused):
        await pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add (#2)")


async def test_the_merge_commit_is_known_afterwards(stage: Stage, request: pytest.FixtureRequest) -> None:
    if isinstance(stage, LocalStage):
        why = "API version 2026-03-10 tells it by GraphQL's mergeCommit only, which the local GitHub may not know"
        request.applymarker(pytest.mark.xfail(reason=why))
    pull = await pull_of(stage, draft=False)
    sha = await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")
    assert (await stage.ports.pulls.get(stage.repo, pull.number)).merge_sha == sha


async def test_another_head_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    await stage.push(BRANCH, {"app.py": "x = 3\n"})
    with pytest.raises(Conflicted):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")
    assert not (await stage.ports.pulls.get(stage.repo, pull.number)).merged


async def test_a_draft_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage)
    with pytest.raises(Refused):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")


async def test_what_conflicts_is_not_merged(stage: Stage) -> None:
    pull = await pull_of(stage, draft=False)
    await stage.push("main", {"app.py": "def add(a, b):\n    return 5\n"})
    with pytest.raises(Refused):
        await stage.ports.pulls.merge(stage.repo, pull.number, pull.head_sha, "Fix add")


# --- Reviews


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


# --- Checks


def check_of(head: str) -> CheckState:
    buttons = (Button("Approve", "Let it pass", "approve"), Button("Reject", "Stop it", "reject"))
    return CheckState("seconder/quality", head, "q:1", "action_required", "Waits", "For two", "", buttons)


async def test_a_check_is_made_found_and_updated(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    assert not await checks.find(stage.repo, state.head_sha, state.name)
    made = await checks.create(stage.repo, state)
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.id, found.name, found.head_sha, found.external_id) == (made, state.name, state.head_sha, "q:1")
    assert (found.status, found.conclusion, found.title) == ("completed", "action_required", "Waits")
    await checks.update(stage.repo, made, replace(state, external_id="q:2", conclusion="success", title="Passed"))
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.external_id, found.conclusion, found.title) == ("q:2", "success", "Passed")
    await checks.update(stage.repo, made, replace(state, conclusion=None, buttons=()))
    (found,) = await checks.find(stage.repo, state.head_sha, state.name)
    assert (found.status, found.conclusion) == ("in_progress", None)


async def test_checks_of_one_name_come_newest_first(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    made = [await checks.create(stage.repo, state) for _ in range(2)]
    await checks.create(stage.repo, replace(state, name="seconder/cost"))
    assert [c.id for c in await checks.find(stage.repo, state.head_sha, state.name)] == made[::-1]


async def test_a_check_on_an_unknown_commit_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused):
        await stage.ports.checks.create(stage.repo, check_of("1" * 40))


async def test_an_unknown_check_is_missing(stage: Stage) -> None:
    with pytest.raises(Missing):
        await stage.ports.checks.update(stage.repo, 999_999, check_of(await base_of(stage)))


# --- People

LEVELS: tuple[Level, ...] = ("none", "read", "triage", "write", "maintain", "admin")


@pytest.mark.parametrize("level", LEVELS)
async def test_standing_is_the_live_permission(stage: Stage, level: Level) -> None:
    bob = await stage.person("bob", level)
    standing = await stage.ports.people.standing(stage.repo, bob)
    assert (standing.permission, standing.user) == (level, bob)


async def test_standing_goes_by_id_not_by_login(stage: Stage) -> None:
    bob = await stage.person("bob", "admin")
    await stage.rename(bob, "robert")
    impostor = await stage.person("bob", "none")
    assert (await stage.ports.people.standing(stage.repo, impostor)).permission == "none"
    standing = await stage.ports.people.standing(stage.repo, bob)
    assert (standing.permission, standing.user.login) == ("admin", "robert")


@pytest.mark.parametrize("number", [0, 88_888_888])
async def test_nobody_knows_them(stage: Stage, number: int) -> None:
    standing = await stage.ports.people.standing(stage.repo, Actor(id=number, login="ada"))
    assert standing.permission == "none"


async def test_the_bot_is_no_person(stage: Stage) -> None:
    bot = await stage.ports.people.bot()
    assert (bot.login, bot.type) == ("seconder[bot]", "Bot")
    assert not (await stage.ports.people.standing(stage.repo, bot)).at_least("read")


async def test_everyone_with_write(stage: Stage) -> None:
    levels: tuple[tuple[str, Level], ...] = (("cleo", "admin"), ("bob", "maintain"), ("dan", "triage"), ("eve", "read"))
    for login, level in levels:
        await stage.person(login, level)
    found = await stage.ports.people.with_write(stage.repo)
    assert [(s.user.login, s.permission) for s in found if s.user.login != "octo"] == [
        ("ada", "write"),
        ("bob", "maintain"),
        ("cleo", "admin"),
    ]


# --- Replies that never come


async def test_a_lost_reply_is_unknown_and_the_work_can_be_found(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    stage.drop_reply("issues.comment")
    with pytest.raises(Unknown):
        await stage.ports.issues.comment(stage.repo, number, "Once")
    assert [c.body for c in await stage.ports.issues.comments(stage.repo, number)] == ["Once"]


async def test_a_lost_reply_to_a_branch_and_a_pull_request(stage: Stage) -> None:
    repository, pulls = stage.ports.repository, stage.ports.pulls
    sha = await repository.commit(stage.repo, await new_commit(stage))
    stage.drop_reply("repository.create_branch")
    with pytest.raises(Unknown):
        await repository.create_branch(stage.repo, BRANCH, sha)
    assert await repository.branch(stage.repo, BRANCH) == sha
    stage.drop_reply("pulls.open")
    with pytest.raises(Unknown):
        await pulls.open(stage.repo, NewPull("T", "B", BRANCH, "main", draft=False))
    (pull,) = await pulls.find(stage.repo, BRANCH)
    stage.drop_reply("pulls.merge")
    with pytest.raises(Unknown):
        await pulls.merge(stage.repo, pull.number, sha, "T")
    assert (await pulls.get(stage.repo, pull.number)).merged


async def test_a_lost_reply_to_a_check(stage: Stage) -> None:
    checks, state = stage.ports.checks, check_of(await base_of(stage))
    stage.drop_reply("checks.create")
    with pytest.raises(Unknown):
        await checks.create(stage.repo, state)
    assert [c.external_id for c in await checks.find(stage.repo, state.head_sha, state.name)] == ["q:1"]


async def test_a_list_may_lag(stage: Stage) -> None:
    number = await stage.issue(stage.ada, "T", "B")
    made = [await stage.ports.issues.comment(stage.repo, number, text) for text in ("One", "Two")]
    stage.lag("issues.comments")
    assert [c.id for c in await stage.ports.issues.comments(stage.repo, number)] == made[:1]
    assert [c.id for c in await stage.ports.issues.comments(stage.repo, number)] == made
