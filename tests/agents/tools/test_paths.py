"""Which paths an agent may write."""

from __future__ import annotations

import pytest

from agents.role import MayWrite
from agents.tools.paths import clean_path, is_git_internal, is_test_path, write_filter


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        pytest.param("a/b.py", "a/b.py", id="plain"),
        pytest.param("./a//b/./c.py", "a/b/c.py", id="dots and double slashes"),
        pytest.param("a/b/", "a/b", id="slash at the end"),
        pytest.param(".", "", id="the root"),
        pytest.param("", "", id="empty is the root"),
        pytest.param("..a/b..", "..a/b..", id="dots in a name"),
        pytest.param("a b/ü.py", "a b/ü.py", id="space and umlaut"),
    ],
)
def test_clean(given: str, clean: str) -> None:
    assert clean_path(given) == clean


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("../x", id="out of the root"),
        pytest.param("tests/../src/app.py", id="out of a directory"),
        pytest.param("~/x", id="home"),
        pytest.param("C:/x", id="drive"),
        pytest.param("a\\b", id="backslash"),
        pytest.param("a\nb", id="newline"),
        pytest.param("a\0b", id="nul"),
    ],
)
def test_paths_that_name_no_file_of_the_repository(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|backslash"):
        clean_path(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(".git/config", True, id="plain"),
        pytest.param("sub/.git/hooks/pre-commit", True, id="nested"),
        pytest.param(".GIT/config", True, id="upper case"),
        pytest.param("git~1/config", True, id="short name of Windows"),
        pytest.param(".git. /config", True, id="trailing dot and space"),
        pytest.param(".git::$INDEX_ALLOCATION/config", True, id="stream of NTFS"),
        pytest.param(".g\u200cit/config", True, id="ignorable character of HFS+"),
        pytest.param(".gitignore", False, id="gitignore is a file of the repository"),
        pytest.param(".github/CODEOWNERS", False, id="github"),
        pytest.param("git/config", False, id="a directory called git"),
    ],
)
def test_git_internals(path: str, expected: bool) -> None:
    assert is_git_internal(path) is expected


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_app.py",
        "tests/helpers.py",
        "Tests/AppTests.cs",
        "src/test/java/a/FooTest.java",
        "pkg/app_test.go",
        "pkg/testdata/in.txt",
        "src/app.test.tsx",
        "src/app.spec.mjs",
        "src/__tests__/app.js",
        "src/__snapshots__/app.snap",
        "spec/models/user_spec.rb",
        "polls/tests.py",
        "test_app.py",
        "app_test.py",
        "lib/foo_test.exs",
        "My.Project.Tests/Thing.cs",
        "a/FooIT.java",
        "e2e/login.ts",
    ],
)
def test_test_paths(path: str) -> None:
    assert is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "tests",
        "test",
        "latest/app.py",
        "contest.py",
        "testing/helpers.py",
        "attestation/sign.go",
        "src/testimonials.tsx",
        "conftest.py",
        "pytest.ini",
        "setup.py",
        "src/test_strategy.md",
        "src/Latest.java",
        "src/latest.swift",
        "greatest_hits.py",
        "",
        "package.json",
    ],
)
def test_other_paths(path: str) -> None:
    assert not is_test_path(path)


@pytest.mark.parametrize(
    ("may_write", "path", "allowed"),
    [
        pytest.param("anything", "src/app.py", True, id="developer: code"),
        pytest.param("anything", ".git/config", False, id="developer: git"),
        pytest.param("anything", "", False, id="developer: the root"),
        pytest.param("tests", "tests/test_a.py", True, id="tester: test"),
        pytest.param("tests", "src/app.py", False, id="tester: code"),
        pytest.param("tests", "tests/.git/config", False, id="tester: git among tests"),
        pytest.param("nothing", "tests/test_a.py", False, id="reader: test"),
    ],
)
def test_filters(may_write: MayWrite, path: str, allowed: bool) -> None:
    assert (write_filter(may_write)(path) is None) is allowed
