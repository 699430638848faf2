"""Which indexes are used: the operator's word, else pip's own settings; never a repository's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infra.dependencies.indexes import IndexSettings, NoIndex, operators, python_indexes
from infra.dependencies.proxy import Way
from tests.fakes.package_index import PackageIndex

OURS = "localhost:0"  # the port is known when the index runs


def ways(*named: str) -> frozenset[Way]:
    return frozenset(Way(host, int(port or 443), True) for host, _, port in (one.partition(":") for one in named))


@pytest.mark.parametrize(
    ("settings", "env", "named"),
    [
        pytest.param(IndexSettings(), {}, ways(OURS), id="as pip is set"),
        pytest.param(
            IndexSettings(),
            {
                "PIP_EXTRA_INDEX_URL": "https://b.test/simple file:///srv/simple",
                "PIP_FIND_LINKS": "https://c.test:8443/x /srv",
            },
            ways(OURS, "b.test", "c.test:8443"),
            id="all places of pip's",
        ),
        pytest.param(
            IndexSettings(hosts=("files.test", "more.test:444")),
            {},
            ways(OURS, "files.test", "more.test:444"),
            id="further hosts",
        ),
        pytest.param(IndexSettings(), {"PIP_NO_INDEX": "1", "PIP_INDEX_URL": ""}, frozenset(), id="no index"),
    ],
)
async def test_hosts_that_may_be_reached(
    index: PackageIndex, tmp_path: Path, settings: IndexSettings, env: dict[str, str], named: frozenset[Way]
) -> None:
    given = replace(settings, env={**index.env(tmp_path), **env})
    found = await python_indexes(given, tmp_path)
    expected = {Way(one.host, index.port if one.port == 0 else one.port, one.inside) for one in named}
    assert found.ways == expected


async def test_where_an_index_keeps_its_files_is_asked_of_the_index(index: PackageIndex, tmp_path: Path) -> None:
    index.pages["pip"] = '<a href="https://files.test/a/pip-1-py3-none-any.whl#sha256=0">p</a><a href="/files/x">x</a>'
    try:
        found = await python_indexes(IndexSettings(env=index.env(tmp_path)), tmp_path)
    finally:
        del index.pages["pip"]
    assert found.ways == {Way("localhost", index.port, True), Way("files.test", 443, False)}


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("http://index.test/simple", id="not encrypted"),
        pytest.param("https://10.0.0.1/simple", id="address"),
        pytest.param("https://index.test:99999/simple", id="odd port"),
        pytest.param("ftp://index.test/simple", id="another protocol"),
    ],
)
async def test_indexes_that_cannot_be_used(index: PackageIndex, tmp_path: Path, address: str) -> None:
    with pytest.raises(NoIndex, match="only https"):
        await python_indexes(IndexSettings(address, env=index.env(tmp_path)), tmp_path)


async def test_the_operators_index_replaces_what_pip_is_set_to(index: PackageIndex, tmp_path: Path) -> None:
    env = index.env(tmp_path) | {"PIP_EXTRA_INDEX_URL": "https://b.test/simple"}
    found = await python_indexes(IndexSettings("https://localhost:1/simple", env=env), tmp_path)
    lines = found.configuration().splitlines()
    assert "index-url = https://localhost:1/simple" in lines
    assert "extra-index-url = " in lines, "an empty value keeps pip from what other files say"
    assert f"cert = {index.certificate}" in lines


def test_no_key_of_ours_is_handed_on() -> None:
    env = {"PATH": "/bin", "PIP_INDEX_URL": "x", "npm_config_registry": "y", "ANTHROPIC_API_KEY": "k", "GH_TOKEN": "t"}
    assert set(operators(env)) == {"PATH", "PIP_INDEX_URL", "npm_config_registry"}
