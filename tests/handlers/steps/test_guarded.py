"""What an agent cannot even write, and what it can."""

from __future__ import annotations

import pytest

from agents.ports import ToolError
from handlers.steps.guarded import Guarded
from tests.fakes.workspaces import FakeWorkspace, all_pass

KEY = "KEY = 'AKIA" + "QYLPMN5HHHFPZAM2'\n"
FILES = {".github/workflows/ci.yml": "on: push\n", "old.py": KEY, "app.py": "x = 1\n"}


def tools() -> tuple[FakeWorkspace, Guarded]:
    inner = FakeWorkspace(dict(FILES), dict(FILES), all_pass, all_pass)
    return inner, Guarded(inner)


REFUSED = [
    pytest.param(".github/workflows/ci.yml", "on: []\n", id="a workflow"),
    pytest.param(".github/workflows/new.yml", "on: push\n", id="a new workflow"),
    pytest.param("CODEOWNERS", "* @me\n", id="who reviews"),
    pytest.param("app.py", KEY, id="a key"),
    pytest.param("app.py", "x = 1  # \u202e\n", id="a line that reads backwards"),
    pytest.param("x\u202e.py", "", id="a path that reads backwards"),
]


@pytest.mark.parametrize(("path", "text"), REFUSED)
async def test_what_would_never_be_pushed_is_not_written(path: str, text: str) -> None:
    inner, guarded = tools()
    with pytest.raises(ToolError, match="never pushes such a change"):
        await guarded.write(path, text)
    assert inner.files == FILES


WRITTEN = [
    pytest.param("app.py", "x = 2\n", id="a file"),
    pytest.param("src/auth.py", "x = 2\n", id="a file that people will look at"),
    pytest.param("old.py", KEY + "x = 1\n", id="a key that was there before"),
]


@pytest.mark.parametrize(("path", "text"), WRITTEN)
async def test_everything_else_is(path: str, text: str) -> None:
    inner, guarded = tools()
    await guarded.write(path, text)
    assert inner.files[path] == text


async def test_removing_is_a_change_as_well() -> None:
    inner, guarded = tools()
    with pytest.raises(ToolError, match="never pushes"):
        await guarded.delete(".github/workflows/ci.yml")
    await guarded.delete("app.py")
    assert ".github/workflows/ci.yml" in inner.files
    assert "app.py" not in inner.files
