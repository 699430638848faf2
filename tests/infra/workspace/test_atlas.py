"""The map of a repository's code: what is in it, in which order, and within which bounds."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from infra.workspace import atlas


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        pytest.param(
            "a.py",
            "class Shop(Base):\n    def open(self, at):\n        def inner(): ...\nasync def run() -> None:\n",
            ["class Shop(Base)", "    def open(self, at)", "async def run() -> None"],
            id="python",
        ),
        pytest.param(
            "a.ts",
            "export default class Shop {\nexport const open = () => 1\nfunction inner(x) {\nconst no = 1\n",
            ["export default class Shop", "export const open = () => 1", "function inner(x)"],
            id="typescript",
        ),
        pytest.param(
            "a.go",
            "func (s *Shop) Open() {\ntype Shop struct {\nvar x = 1\n",
            ["func (s *Shop) Open()", "type Shop struct"],
            id="go",
        ),
        pytest.param(
            "a.rs",
            "pub fn open() {\n    pub struct Shop {\nlet x\n",
            ["pub fn open()", "    pub struct Shop"],
            id="rust",
        ),
        pytest.param("A.java", "public final class Shop {\n  int x;\n", ["public final class Shop"], id="java"),
        pytest.param("a.rb", "class Shop\n  def self.open\n", ["class Shop", "  def self.open"], id="ruby"),
        pytest.param(
            "a.c", "static int open_shop(int x)\n{\nreturn open_shop(1);\n", ["static int open_shop(int x)"], id="c"
        ),
        pytest.param("a.txt", "def x():\n", [], id="no code"),
        pytest.param("tests/test_a.py", "def test_x():\n", [], id="tests are no part of it"),
        pytest.param("a.py", "def \x00\ufffd():\n" + "(" * 100_000, [], id="rubbish"),
    ],
)
def test_what_a_file_defines(path: str, text: str, lines: list[str]) -> None:
    shown = joined({path: text}, 1_000)
    assert shown == ("\n".join([f"{path}:", *(f"  {line}" for line in lines)]) if lines else "")


def joined(texts: dict[str, str], limit: int) -> str:
    """The map as one text."""
    return "\n".join(text for _, text in atlas.outline(texts, limit))


def test_the_most_used_comes_first_and_the_rest_is_counted() -> None:
    texts = {f"m{n:02}.py": f"def name_{n}(x): ...\n" for n in range(40)}
    texts |= {f"use{n}.py": "name_7(1)\n" for n in range(5)} | {"tests/test_u.py": "name_9(1)\n"}
    shown = joined(texts, 300)
    assert shown.startswith("m07.py:\n  def name_7(x): ...\nm09.py:")
    assert shown.endswith("more files; search_codebase finds what they define]")
    assert len(shown) < 400
    assert joined(dict(reversed(texts.items())), 300) == shown, "the order of the files does not matter"


def test_a_name_that_everybody_mentions_says_nothing() -> None:
    texts = {f"m{n}.py": "def setup(): ...\n" for n in range(9)} | {"z.py": "def rare(): ...\n", "y.py": "rare()\n"}
    assert joined(texts, 1_000).startswith("z.py:")


def test_hostile_lines_take_no_time() -> None:
    lines = ["a " * 50_000, "func (" * 20_000, "x<" * 50_000 + "(", "public " * 20_000]
    texts = {
        f"f{n}{end}": "\n".join(lines * 5) for n in range(3) for end in (".py", ".go", ".c", ".java", ".ts", ".rs")
    }
    began = time.perf_counter()
    atlas.outline(texts, 10_000)
    assert time.perf_counter() - began < 5


@dataclass(frozen=True)
class File:
    """An entry of a tree."""

    path: str
    size: int = 10
    mode: str = "100644"
    oid: str = "0" * 40
    is_file: bool = True


def test_what_is_read_is_bounded() -> None:
    entries = [File("deep/er/a.py"), File("a.py"), File("big.py", atlas.MAX_FILE_BYTES + 1), File("a.txt")]
    assert [one.path for one in atlas.chosen(entries)] == ["a.py", "deep/er/a.py"]
    many = [File(f"f{number}.py") for number in range(atlas.MAX_FILES + 5)]
    assert len(atlas.chosen(many)) == atlas.MAX_FILES
    heavy = [File(f"f{number:03}.py", 190_000) for number in range(200)]
    assert sum(one.size for one in atlas.chosen(heavy)) <= atlas.MAX_BYTES
