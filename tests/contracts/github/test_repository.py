"""Repository: the same on the fake and on the real adapter with the local GitHub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.ports import Conflicted, Missing, NewCommit, Refused, TreeEdit
from tests.contracts.github.scenes import BRANCH, base_of, files_with, new_commit
from tests.contracts.github.stage import Stage
from tests.fakes.git_objects import tree_sha

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
