"""The resolver and the file tools: nothing leads out of the work tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.ports import FileText, ToolError
from infra.git.names import path_problem
from infra.workspace.files import MAX_TEXT_BYTES, Files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    (made / "src").mkdir(parents=True)
    (made / "src" / "a.py").write_text("x = 1\ny = 2\n")
    (made / "run.sh").write_text("#!/bin/sh\n")
    (made / "run.sh").chmod(0o755)
    (made / "binary").write_bytes(b"\x7fELF\0\0")
    (made / "latin").write_bytes(b"caf\xe9")
    (made / "was-a-link").write_text("/etc/passwd")
    (made / "sub").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (made / "link-to-file").symlink_to(tmp_path / "outside" / "secret")
    (made / "link-to-directory").symlink_to(tmp_path / "outside")
    (made / "link-inside").symlink_to("src")
    os.mkfifo(made / "fifo")
    return made


@pytest.fixture
def files(root: Path) -> Files:
    return Files(root, path_problem, frozenset({"was-a-link", "sub"}))


HOSTILE = [
    pytest.param("../outside/secret", id="up"),
    pytest.param("src/../../outside/secret", id="up-inside"),
    pytest.param("/etc/passwd", id="absolute"),
    pytest.param("//etc/passwd", id="two-slashes"),
    pytest.param("/proc/self/environ", id="proc"),
    pytest.param("", id="empty"),
    pytest.param("src//a.py", id="double-slash"),
    pytest.param(".git/config", id="git"),
    pytest.param("src/.GIT/hooks/pre-commit", id="git-case"),
    pytest.param(".g\u200cit/config", id="git-hfs"),
    pytest.param("git~1/config", id="git-ntfs"),
    pytest.param(".git./config", id="git-dot"),
    pytest.param("a\0b", id="nul"),
    pytest.param("a\nb", id="newline"),
    pytest.param("src\\a.py", id="backslash"),
    pytest.param("x" * 2000, id="long"),
    pytest.param("link-to-file", id="link"),
    pytest.param("link-to-directory/secret", id="link-above"),
    pytest.param("link-inside/a.py", id="link-that-stays-inside"),
    pytest.param("was-a-link", id="link-of-the-repository"),
    pytest.param("sub/x", id="in-a-submodule"),
    pytest.param("fifo", id="fifo"),
    pytest.param("src", id="directory"),
    pytest.param("run.sh/x", id="below-a-file"),
]


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_paths(files: Files, root: Path, path: str) -> None:
    attempts: list[Callable[[], object]] = [lambda: files.read(path), lambda: files.write(path, "owned")]
    if path not in ("link-to-file", "fifo"):
        attempts.append(lambda: files.delete(path))
    for attempt in attempts:
        with pytest.raises(ToolError):
            attempt()
    assert (root.parent / "outside" / "secret").read_text() == "secret"
    assert (root / "src" / "a.py").read_text() == "x = 1\ny = 2\n"


def test_deleting_a_link_removes_the_link_only(files: Files, root: Path) -> None:
    files.delete("link-to-file")
    assert (root.parent / "outside" / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "path", ["..", "/", "link-to-directory", "link-inside", "no-such", "run.sh", "src/../..", ".git"]
)
def test_listing_that_is_refused(files: Files, path: str) -> None:
    with pytest.raises(ToolError):
        files.listing(path)


@pytest.mark.parametrize("path", ["", ".", "./"])
def test_listing_of_the_root(files: Files, path: str) -> None:
    listed = files.listing(path)
    assert listed == tuple(sorted(listed))
    assert {"src/", "run.sh", "link-to-directory"} <= set(listed)


def test_listing_of_a_directory(files: Files) -> None:
    assert files.listing("src") == files.listing("src/") == files.listing("./src") == ("a.py",)


def test_read(files: Files) -> None:
    assert files.read("src/a.py") == FileText("src/a.py", "x = 1\ny = 2\n", 2)
    files.write("no-end", "a\nb")
    assert files.read("no-end").lines == 2
    files.write("empty", "")
    assert files.read("empty").lines == 0


@pytest.mark.parametrize(
    ("path", "says"),
    [
        pytest.param("no-such", "there is no no-such", id="missing"),
        pytest.param("no/such/file", "there is no", id="missing-directory"),
        pytest.param("binary", "binary", id="binary"),
        pytest.param("latin", "UTF-8", id="latin-1"),
        pytest.param("src", "directory", id="directory"),
        pytest.param("big", "use search", id="big"),
        pytest.param("link-to-file", "links are not followed", id="link"),
        pytest.param("was-a-link", "symbolic link", id="link-of-the-repository"),
        pytest.param("../x", "relative to the repository's root", id="up"),
    ],
)
def test_errors_say_what_would_work(files: Files, root: Path, path: str, says: str) -> None:
    (root / "big").write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
    with pytest.raises(ToolError, match=says):
        files.read(path)


def test_write_keeps_the_executable_bit_and_makes_directories(files: Files, root: Path) -> None:
    files.write("run.sh", "#!/bin/sh\necho\n")
    files.write("new/deep/file.txt", "text\r\nwith CRLF\r\n")
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (root / "new" / "deep" / "file.txt").read_bytes() == b"text\r\nwith CRLF\r\n"
    assert (root / "new" / "deep" / "file.txt").stat().st_mode & 0o777 == 0o644
    files.write("src/a.py", "")
    assert (root / "src" / "a.py").read_bytes() == b""


def test_write_that_is_refused(files: Files) -> None:
    with pytest.raises(ToolError, match="at most 1,000,000"):
        files.write("a", "ä" * MAX_TEXT_BYTES)
    with pytest.raises(ToolError, match="UTF-8 cannot express"):
        files.write("a", "\udc80")
    with pytest.raises(ToolError, match="not a directory"):
        files.write("run.sh/below", "x")


def test_descriptors_are_closed(files: Files) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("src/a.py", "../x", "no/such", "link-to-file", "fifo", "src", "binary"):
        for verb in (files.read, files.listing, files.delete if path == "no/such" else files.check):
            try:
                verb(path)
            except ToolError:
                continue
    assert len(os.listdir("/proc/self/fd")) == before
