"""Searching a work tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.ports import SearchHit, ToolError
from infra.workspace.search import find_ripgrep, search


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    for path, text in {
        "a.py": "import os\nvalue = 1\n",
        "pkg/b.py": "value = 2\n",
        "pkg/c.txt": "VALUE\n" + "value " * 500 + "\n",
        ".github/ci.yml": "value: 3\n",
        ".git/config": "value = hidden\n",
        ".gitignore": "ignored/\n",
        "ignored/x": "value = ignored\n",
        "-e": "value = odd name\n",
    }.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text)
    (made / "binary").write_bytes(b"value\0\0value\n")
    (made / "latin").write_bytes(b"value caf\xe9\n")
    (tmp_path / "outside").write_text("value = outside\n")
    (made / "link").symlink_to(tmp_path / "outside")
    (tmp_path / ".ignore").write_text("*\n")
    return made


async def found(root: Path, pattern: str, path: str = ".", limit: int = 50) -> list[tuple[str, int]]:
    return [(hit.path, hit.line) for hit in await search(find_ripgrep(), root, pattern, path, limit)]


async def test_matches_in_order_without_ignored_files_and_links(root: Path) -> None:
    assert await found(root, r"value\b") == [
        ("-e", 1),
        (".github/ci.yml", 1),
        ("a.py", 2),
        ("latin", 1),
        ("pkg/b.py", 1),
        ("pkg/c.txt", 2),
    ]


async def test_below_a_directory_and_up_to_a_limit(root: Path) -> None:
    assert await found(root, "value", "pkg") == [("pkg/b.py", 1), ("pkg/c.txt", 2)]
    assert await found(root, "value", "a.py") == [("a.py", 2)]
    assert await found(root, "value", "-e") == [("-e", 1)]
    assert len(await found(root, "value", limit=2)) == 2
    assert await found(root, "no such text") == []


async def test_long_lines_are_cut_and_odd_bytes_survive(root: Path) -> None:
    hits = await search(find_ripgrep(), root, "value", "pkg/c.txt", 5)
    assert len(hits[0].text) < 450
    assert hits[0].text.endswith("(line cut)")
    assert await search(find_ripgrep(), root, "caf", ".", 5) == (SearchHit("latin", 1, "value caf\ufffd"),)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        pytest.param("(", "regular expressions", id="unclosed"),
        pytest.param("[z-a]", "regular expressions", id="range"),
        pytest.param("a{9999999}", "regular expressions", id="huge-repeat"),
        pytest.param("(?=x)", "regular expressions", id="look-ahead"),
        pytest.param("", "1 to 1,000 characters", id="empty"),
        pytest.param("a\0b", "1 to 1,000 characters", id="nul"),
        pytest.param("a\nb", "1 to 1,000 characters", id="newline"),
        pytest.param("x" * 1001, "1 to 1,000 characters", id="long"),
    ],
)
async def test_pattern_that_is_refused(root: Path, pattern: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        await found(root, pattern)


@pytest.mark.parametrize("pattern", ["--pre=touch fired", "-f/etc/passwd", "--files", "--", "-"])
async def test_a_pattern_is_never_an_option(root: Path, pattern: str) -> None:
    assert await found(root, pattern) in ([], [("-e", 1)])
    assert not (root / "fired").exists()


async def test_settings_of_the_surroundings_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = root.parent / "ripgreprc"
    settings.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(settings))
    assert await found(root, "import os") == [("a.py", 1)]


async def test_many_matches_do_not_hang(root: Path) -> None:
    (root / "many").write_text("value = many\n" * 60_000)
    assert len(await found(root, "many", "many", limit=3)) == 3
    assert len(await found(root, "many", "many", limit=500)) == 500


async def test_exponential_pattern_takes_linear_time(root: Path) -> None:
    (root / "a.txt").write_text("a" * 100_000 + "b\n")
    assert await found(root, "(a+)+$", "a.txt") == []
