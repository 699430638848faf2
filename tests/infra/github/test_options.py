from __future__ import annotations

import pytest

from infra.github.options import Options


@pytest.mark.parametrize(
    ("url", "version", "gap", "graphql"),
    [
        pytest.param("https://api.github.com", "2026-03-10", 1.0, "https://api.github.com/graphql", id="github.com"),
        pytest.param("https://api.github.com/", "2026-03-10", 1.0, "https://api.github.com/graphql", id="a slash"),
        pytest.param("https://api.acme.ghe.com", "2026-03-10", 1.0, "https://api.acme.ghe.com/graphql", id="ghe.com"),
        pytest.param("https://git.acme.org/api/v3", "2022-11-28", 1.0, "https://git.acme.org/api/graphql", id="GHES"),
        pytest.param(
            "http://127.0.0.1:3300/api/v3", "2026-03-10", 0.0, "http://127.0.0.1:3300/api/graphql", id="local GitHub"
        ),
        pytest.param("http://[::1]:3300", "2026-03-10", 0.0, "http://[::1]:3300/graphql", id="IPv6 loopback"),
        pytest.param(
            "https://api.github.com.evil.org",
            "2022-11-28",
            1.0,
            "https://api.github.com.evil.org/graphql",
            id="look-alike",
        ),
    ],
)
def test_what_follows_from_the_address(url: str, version: str, gap: float, graphql: str) -> None:
    options = Options(api_url=url)
    assert (options.version, options.gap, options.graphql_url) == (version, gap, graphql)


def test_settings_win_over_the_address() -> None:
    options = Options(api_version="2022-11-28", write_gap_s=0.5)
    assert (options.version, options.gap) == ("2022-11-28", 0.5)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("api.github.com", id="no scheme"),
        pytest.param("http://git.acme.org/api/v3", id="clear text"),
        pytest.param("http://127.0.0.1.evil.org", id="not loopback"),
        pytest.param("https://user:pw@git.acme.org", id="credentials"),
        pytest.param("https://git.acme.org/?a=b", id="query"),
        pytest.param("ftp://git.acme.org", id="another scheme"),
        pytest.param("", id="nothing"),
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="GITHUB_API_URL"):
        Options(api_url=url)
