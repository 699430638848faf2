"""Repositories as they are, one row a shape: what the survey says of each, and that a change keeps the rest."""

from __future__ import annotations

import pytest

from handlers.events import RepoRef
from handlers.ports import TreeEdit
from infra.workspace.customs import customs, sign_off
from infra.workspace.local import LocalWorkspaces
from tests.fakes.git_http import GitServer, Item

Files = dict[str, Item | bytes | str]
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"a.py": "a\n"}, "", id="nothing special"),
        pytest.param(
            {"a.py": "a\n", "sub": Item("1" * 40, "160000")}, "submodules, which are empty here: sub", id="submodule"
        ),
        pytest.param({"a.py": "a\n", "l": Item("a.py", "120000")}, "symbolic links, not followed: l", id="link"),
        pytest.param(
            {".gitattributes": "*.psd filter=lfs diff=lfs -text\n", "a.psd": POINTER},
            "files under Git LFS are pointers here, without their content: *.psd",
            id="LFS",
        ),
        pytest.param({f"l{n}": Item("a", "120000") for n in range(7)}, "l4 and 2 more", id="many links"),
    ],
)
async def test_what_is_not_followed_is_said(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef, files: Files, said: str
) -> None:
    found = await workspaces.survey(repo, server.repository("acme/shop", files))
    assert said in " ".join(found.unseen)
    assert bool(found.unseen) is bool(said)


SHAPES: Files = {
    "run.sh": Item("#!/bin/sh\n", "100755"),
    "crlf.txt": "a\r\nb\r\n",
    "latin.txt": "caf\u00e9\n".encode("latin-1"),
    "data.bin": b"\x00\x01\xff",
    "link": Item("crlf.txt", "120000"),
    "sub": Item("1" * 40, "160000"),
    "a.psd": POINTER,
    "empty": "",
    "no-newline": "x",
    "tests/fixtures/odd.bin": b"\xff\xfe",
}


@pytest.mark.parametrize(
    ("edit", "mode"),
    [
        pytest.param(TreeEdit("run.sh", b"#!/bin/sh\necho\n", "100755"), "100755", id="an executable stays one"),
        pytest.param(TreeEdit("tests/fixtures/odd.bin", b"\xff\xfe\x00", "100644"), "100644", id="a binary fixture"),
        pytest.param(TreeEdit("latin.txt", b"th\xe9\n", "100644"), "100644", id="not UTF-8"),
        pytest.param(TreeEdit("new/tool", b"#!/bin/sh\n", "100755"), "100755", id="a new executable"),
    ],
)
async def test_a_change_keeps_bytes_modes_and_everything_else(
    server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef, edit: TreeEdit, mode: str
) -> None:
    sha = server.repository("acme/shop", SHAPES)
    async with workspaces.open(repo, sha, None, ()) as workspace:
        await workspace.put([edit])
        snapshot = await workspace.snapshot()
    assert [(change.path, change.new_mode) for change in snapshot.files] == [(edit.path, mode)]
    [made] = await workspaces.contents(repo, sha, snapshot.tree, [snapshot.pack])
    assert (made.path, made.content, made.mode) == (edit.path, edit.content, mode)


async def test_the_map_is_made_once_per_tree(server: GitServer, workspaces: LocalWorkspaces, repo: RepoRef) -> None:
    sha = server.repository("acme/shop", {"shop.py": "class Shop:\n    def open(self): ...\n"})
    first = await workspaces.survey(repo, sha)
    assert first.outline == (("shop.py", "shop.py:\n  class Shop\n      def open(self): ..."),)
    for record in (workspaces.settings.data_dir / "found").iterdir():
        record.write_text('[["a", "from the shelf"]]')
    assert (await workspaces.survey(repo, sha)).outline == (("a", "from the shelf"),)


@pytest.mark.parametrize(
    ("paths", "guidance", "texts", "said"),
    [
        pytest.param([], {}, {}, "", id="none"),
        pytest.param(["commitlint.config.js"], {}, {}, "Conventional Commits", id="commitlint"),
        pytest.param(
            [], {"CONTRIBUTING.md": "We use Conventional Commits."}, {}, "from CONTRIBUTING.md", id="in words"
        ),
        pytest.param([".github/dco.yml"], {}, {}, "signed off", id="the DCO app"),
        pytest.param([], {"CONTRIBUTING.md": "Use `git commit -s`."}, {}, "signed off", id="DCO in words"),
        pytest.param(["CHANGELOG.md"], {}, {}, "announced in CHANGELOG.md", id="changelog"),
        pytest.param(["newsfragments/1.fix", "NEWS"], {}, {}, "a file in newsfragments/", id="fragments"),
        pytest.param([], {}, {"pyproject.toml": "[tool.ruff]\n[tool.mypy]"}, "checked by ruff, mypy", id="checks"),
    ],
)
def test_customs(paths: list[str], guidance: dict[str, str], texts: dict[str, str], said: str) -> None:
    found = " ".join(customs(paths, guidance, texts))
    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("Please sign the Developer Certificate of Origin.", True, id="in full"),
        pytest.param("All commits need Signed-off-by: lines", True, id="the line"),
        pytest.param("We like dcor and git commits.", False, id="other words"),
    ],
)
def test_sign_off(text: str, asked: bool) -> None:
    assert sign_off((), {"CONTRIBUTING.md": text}) is asked
