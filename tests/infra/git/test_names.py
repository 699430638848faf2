"""Which names reach git."""

from __future__ import annotations

import pytest

from infra.git.names import BadName, checked_full_name, checked_ref, checked_sha, is_git_name, path_problem, remote_for


@pytest.mark.parametrize(
    "ref",
    [
        pytest.param("main", id="plain"),
        pytest.param("seconder/issue-7-1", id="ours"),
        pytest.param("release/1.2_x", id="dots"),
    ],
)
def test_ref_that_is_fine(ref: str) -> None:
    assert checked_ref(ref) == ref


@pytest.mark.parametrize(
    "ref",
    [
        pytest.param("--upload-pack=touch x", id="option"),
        pytest.param("-x", id="dash"),
        pytest.param("a;$(id)", id="shell"),
        pytest.param("a\nb", id="newline"),
        pytest.param("main\n", id="trailing-newline"),
        pytest.param("", id="empty"),
        pytest.param("a..b", id="range"),
        pytest.param("a//b", id="double-slash"),
        pytest.param("a@{1}", id="reflog"),
        pytest.param("a.lock", id="lock"),
        pytest.param("a.lock/b", id="lock-inside"),
        pytest.param("a/", id="slash-at-the-end"),
        pytest.param("a.", id="dot-at-the-end"),
        pytest.param("a/.b", id="hidden-part"),
        pytest.param("ä", id="not-ascii"),
        pytest.param("x" * 300, id="long"),
    ],
)
def test_ref_that_is_refused(ref: str) -> None:
    with pytest.raises(BadName):
        checked_ref(ref)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("owner", id="no-slash"),
        pytest.param("-o/r", id="dash"),
        pytest.param("o/..", id="dots"),
        pytest.param("o/r/../x", id="three-parts"),
        pytest.param("o/r?x", id="query"),
        pytest.param("o/r\n", id="newline"),
        pytest.param("o@evil/r", id="at"),
        pytest.param("ext::sh/r", id="transport"),
        pytest.param("", id="empty"),
    ],
)
def test_repository_name_that_is_refused(name: str) -> None:
    with pytest.raises(BadName):
        checked_full_name(name)


@pytest.mark.parametrize("name", ["acme/shop", "a/.github", "A-1/x_y.z", "name_corp/x"])
def test_repository_name_that_is_fine(name: str) -> None:
    assert checked_full_name(name) == name


@pytest.mark.parametrize("sha", ["", "abc", "HEAD", "A" * 40, "a" * 41, "a" * 40 + "\n", "-" + "a" * 39])
def test_id_that_is_refused(sha: str) -> None:
    with pytest.raises(BadName):
        checked_sha(sha)


def test_ids_that_are_fine() -> None:
    assert checked_sha("0" * 40) == "0" * 40
    assert checked_sha("a" * 64) == "a" * 64


@pytest.mark.parametrize(
    ("api", "url"),
    [
        pytest.param("https://api.github.com", "https://github.com/o/r.git", id="github.com"),
        pytest.param("https://api.github.com/", "https://github.com/o/r.git", id="slash"),
        pytest.param("https://api.acme.ghe.com", "https://acme.ghe.com/o/r.git", id="data-residency"),
        pytest.param("https://git.acme.test/api/v3", "https://git.acme.test/o/r.git", id="enterprise-server"),
        pytest.param("https://git.acme.test:8443/api/v3/", "https://git.acme.test:8443/o/r.git", id="port"),
        pytest.param("http://127.0.0.1:8123/api/v3", "http://127.0.0.1:8123/o/r.git", id="local"),
        pytest.param("http://localhost:8123", "http://localhost:8123/o/r.git", id="local-bare"),
    ],
)
def test_remote(api: str, url: str) -> None:
    assert remote_for(api).url("o/r") == url


@pytest.mark.parametrize(
    "api",
    [
        pytest.param("http://git.acme.test/api/v3", id="plain-http"),
        pytest.param("http://127.0.0.1.evil.test/api/v3", id="looks-like-loopback"),
        pytest.param("ext::sh -c touch% x", id="ext"),
        pytest.param("file:///etc", id="file"),
        pytest.param("ssh://-oProxyCommand=x/y", id="ssh"),
        pytest.param("https://user:pw@git.acme.test", id="password"),
        pytest.param("https://git.acme.test/?x=1", id="query"),
        pytest.param("", id="empty"),
    ],
)
def test_remote_that_is_refused(api: str) -> None:
    with pytest.raises(BadName):
        remote_for(api)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(".git", id="plain"),
        pytest.param(".GIT", id="case"),
        pytest.param(".Git ", id="blank"),
        pytest.param(".git...", id="dots"),
        pytest.param(".git::$INDEX_ALLOCATION", id="stream"),
        pytest.param("git~1", id="short-name"),
        pytest.param("GIT~1", id="short-name-case"),
        pytest.param(".g\u200cit", id="hfs-ignored"),
        pytest.param("\ufeff.git", id="hfs-bom"),
    ],
)
def test_git_names(name: str) -> None:
    assert is_git_name(name)
    assert path_problem(f"a/{name}/config") == "it names a git directory"


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/ci.yml", "git/x", "x.git/HEAD", "déjà vu.txt", "a b", "x" * 1024]
)
def test_path_that_is_fine(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("", id="empty"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("../x", id="up"),
        pytest.param("a/../../x", id="up-inside"),
        pytest.param("a//b", id="double-slash"),
        pytest.param("a/./b", id="dot"),
        pytest.param("a/", id="slash-at-the-end"),
        pytest.param("a\0b", id="nul"),
        pytest.param("a\nb", id="newline"),
        pytest.param("a\x1b[31m", id="escape"),
        pytest.param("a\x85b", id="c1"),
        pytest.param("a\u2028b", id="line-separator"),
        pytest.param("a\udcffb", id="not-utf8"),
        pytest.param("a\\b", id="backslash"),
        pytest.param("x" * 1025, id="long"),
        pytest.param("ä" * 600, id="long-in-bytes"),
        pytest.param("/".join("a" * 65), id="deep"),
    ],
)
def test_path_that_is_refused(path: str) -> None:
    assert path_problem(path)
