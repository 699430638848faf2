"""What a model gets to see of files that it is never to read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from agents.ports import ToolError
from gates.codeowners import Rule
from handlers.configs import Veil
from handlers.events import RepoRef
from handlers.veiled import Veiled, shown_diff
from tests.fakes.workspaces import FakeWorkspaces

REPO = RepoRef(id=1, full_name="octo/app", installation=2)
FILES = {"a.py": "token = 1\n", "keys/id": "token = 2\n", "x/deep.pem": "token = 3\n", "x/b.py": "b\n"}
VEIL = Veil((Rule(1, "/keys/", ()), Rule(1, "*.pem", ())))


@pytest.mark.parametrize(
    "path",
    ["keys/id", "./keys/id", "keys//id", "x/../keys/id", "/keys/id", "x/deep.pem", "keys", "keys/", "./keys/."],
)
@pytest.mark.parametrize("verb", ["read", "write", "delete", "listing", "search"])
async def test_it_is_refused_however_it_is_named(path: str, verb: str) -> None:
    async with FakeWorkspaces({"0" * 40: FILES}).open(REPO, "0" * 40, None, ()) as workspace:
        tools = Veiled(workspace, VEIL)
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "read": lambda: tools.read(path),
            "write": lambda: tools.write(path, "x"),
            "delete": lambda: tools.delete(path),
            "listing": lambda: tools.listing(path),
            "search": lambda: tools.search("token", path, 10),
        }
        with pytest.raises(ToolError, match="never_read"):
            await calls[verb]()


async def test_the_rest_is_there() -> None:
    async with FakeWorkspaces({"0" * 40: FILES}).open(REPO, "0" * 40, None, ()) as workspace:
        tools = Veiled(workspace, VEIL)
        assert (await tools.read("a.py")).text == "token = 1\n"
        assert await tools.listing("") == ("a.py", "x/")
        assert await tools.listing("x") == ("b.py",)
        assert [hit.path for hit in await tools.search("token", "", 10)] == ["a.py"]
        await tools.write("a.py", "c\n")
        assert "+c" in await tools.diff()


def test_a_diff_leaves_them_out() -> None:
    one = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+--- a/keys/id\n"
    two = "diff --git a/keys/id b/keys/id\n--- a/keys/id\n+++ /dev/null\n@@ -1 +0,0 @@\n-k\n"
    moved = "diff --git a/x/k.pem b/x/k.txt\nrename from x/k.pem\nrename to x/k.txt\n"
    assert shown_diff(one + two + moved, VEIL) == one
    assert shown_diff("", VEIL) == ""


async def test_no_command_shows_what_is_hidden() -> None:
    async with FakeWorkspaces({"0" * 40: FILES}).open(REPO, "0" * 40, None, ()) as workspace:
        tools = Veiled(workspace, VEIL)
        with pytest.raises(ToolError, match="no shell"):
            await tools.shell("cat keys/id", 1.0)
        with pytest.raises(ToolError, match="never_read"):
            await tools.lint(("keys/id",))
        assert (await tools.lint(("a.py",))).exit_code == 0
