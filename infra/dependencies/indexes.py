"""Which package indexes there are, by the operator's settings or by what this machine's own pip and npm are set to.

A repository never has a say in it. Sources: pip's "Configuration" page (`pip config list`, PIP_CONFIG_FILE); the simple
repository API (PEP 503, PEP 691); npm's "config" page.
"""

from __future__ import annotations

import ast
import json
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from infra.dependencies.processes import pip, run
from infra.dependencies.proxy import Way, is_name, serving

# What is taken from pip's configuration: where packages are and whom to trust. Anything else stays out.
_KEYS = ("index-url", "extra-index-url", "find-links", "no-index", "cert", "client-cert", "constraint", "timeout")
_SECTIONS = ("global", "download", ":env:")
_PAGE_BYTES = 8 << 20
_MOST_HOSTS = 4
_DEFAULT = re.compile(r"--index-url <url>.*?\(default\s+(https://\S+?)\)", re.DOTALL)
_FROM_PAGE = re.compile(r"""href=["']([^"'#\s]{1,2000})""")
_JSON = "application/vnd.pypi.simple.v1+json"


class NoIndex(Exception):
    """No index can be used; the text says why and what would help."""


@dataclass(frozen=True)
class PythonIndexes:
    """pip's settings for fetching, as `pip.conf` has them, and the hosts that may be reached for it."""

    options: Mapping[str, str] = field(default_factory=dict)
    ways: frozenset[Way] = frozenset()

    def configuration(self) -> str:
        """The text of a pip.conf that holds these settings."""
        # Every key is written: an empty one keeps pip from what another of this machine's files says there.
        lines = [f"{key} = {' '.join(self.options.get(key, '').split())}" for key in _KEYS]
        return "\n".join(["[global]", *lines, ""])


@dataclass(frozen=True)
class NodeRegistry:
    """npm's registry (its URL), a file with further certificate authorities if there is one, and the hosts to reach."""

    url: str
    ca_file: Path | None
    ways: frozenset[Way]


@dataclass(frozen=True)
class IndexSettings:
    """The operator's word: an index for Python, a registry for npm, further hosts (`host` or `host:port`), and the
    environment of the process, from which pip's and npm's own settings are read. Empty: as this machine is set."""

    python: str = ""
    npm: str = ""
    hosts: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


async def python_indexes(settings: IndexSettings, scratch: Path) -> PythonIndexes:
    """pip's indexes. Raises `NoIndex`."""
    options = await _pip_options(settings, scratch)
    if settings.python:
        options = {
            key: value for key, value in options.items() if key not in ("extra-index-url", "find-links", "no-index")
        }
        options["index-url"] = settings.python
    if "index-url" not in options and "no-index" not in options:
        options["index-url"] = await _pips_default(settings, scratch)
    urls = [url for key in ("index-url", "extra-index-url", "find-links") for url in options.get(key, "").split()]
    named = {_way(url) for url in urls if "://" in url and not url.startswith("file:")}
    ways = frozenset({*named, *_further(settings.hosts)})
    if "no-index" not in options and options["index-url"].startswith("https:"):
        ways |= await _file_hosts(options["index-url"], ways, _trusted(options.get("cert"), settings.env))
    return PythonIndexes(options, ways)


async def node_registry(settings: IndexSettings, scratch: Path) -> NodeRegistry:
    """npm's registry. Raises `NoIndex`."""
    url = settings.npm
    if not url:
        # Asked where no project is, so that only the operator's own files count.
        ran = await run(("npm", "config", "get", "registry"), operators(settings.env), scratch, 60.0)
        if ran.code != 0:
            raise NoIndex(f"npm does not say its registry ({ran.last_line}); set SECONDER_NPM_REGISTRY")
        url = ran.last_line
    ca_file = settings.env.get("NODE_EXTRA_CA_CERTS") or settings.env.get("SSL_CERT_FILE")
    return NodeRegistry(url, Path(ca_file) if ca_file else None, frozenset({_way(url), *_further(settings.hosts)}))


def operators(env: Mapping[str, str]) -> dict[str, str]:
    """The part of our own environment that pip and npm read their settings from; no key of ours is among it."""
    names = ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "SSL_CERT_FILE", "SSL_CERT_DIR")
    wanted = [name for name in env if name in names or name.upper().startswith(("PIP_", "NPM_CONFIG_"))]
    return {name: env[name] for name in wanted}


async def _pip_options(settings: IndexSettings, scratch: Path) -> dict[str, str]:
    ran = await run(pip("config", "list"), operators(settings.env), scratch, 60.0)
    if ran.code != 0:
        raise NoIndex(f"pip cannot read its own configuration: {ran.last_line}")
    found: dict[str, str] = {}
    by_section: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for line in ran.output.decode("utf-8", "replace").splitlines():
        section, _, rest = line.partition(".")
        key, _, shown = rest.partition("=")
        key = "timeout" if key == "default-timeout" else key
        if section in by_section and key in _KEYS:
            by_section[section][key] = _unquoted(shown)
    for section in _SECTIONS:
        found.update(by_section[section])
    if found.get("no-index", "").lower() in ("", "0", "false", "no", "off"):
        found.pop("no-index", None)
    return {key: value for key, value in found.items() if value}


async def _pips_default(settings: IndexSettings, scratch: Path) -> str:
    """The index that pip itself uses when nothing is set, as its help says."""
    ran = await run(pip("download", "--help"), {**operators(settings.env), "COLUMNS": "400"}, scratch, 60.0)
    match = _DEFAULT.search(ran.output.decode("utf-8", "replace"))
    if match is None:
        raise NoIndex("no package index is set; set SECONDER_PYTHON_INDEX to its address")
    return match[1]


async def answers(indexes: PythonIndexes, name: str, env: Mapping[str, str], proxy: str) -> bool:
    """Whether the index says something definite of a package, even that there is none: pip's own words are the same
    for that and for an index that cannot be reached."""
    index = indexes.options.get("index-url", "")
    if "no-index" in indexes.options or not index.startswith("https:"):
        return True
    try:
        trusted, page = _trusted(indexes.options.get("cert"), env), f"{index.rstrip('/')}/{name}/"
        async with _client(proxy, trusted) as client, client.stream("GET", page) as response:
            return response.status_code in (200, 404)
    except (httpx.HTTPError, OSError):
        return False


async def _file_hosts(index: str, ways: frozenset[Way], trusted: ssl.SSLContext) -> frozenset[Way]:
    """Where an index keeps its files, which may be another host: asked of the index, by its page for pip itself."""
    page = f"{index.rstrip('/')}/pip/"
    try:
        async with serving(ways) as proxy, _client(proxy.url, trusted) as client:
            text = await _fetched(client, page)
    except (httpx.HTTPError, OSError):
        return frozenset()  # what is really missing is said by pip, and the host that is then blocked is listed
    hosts = dict.fromkeys(urlsplit(urljoin(page, link)).netloc for link in _links(text) if "://" in link)
    learned = [
        Way(name, int(port or 443))
        for name, _, port in (host.lower().partition(":") for host in hosts)
        if is_name(name)
    ]
    known = {(way.host, way.port) for way in ways}
    return frozenset([way for way in learned if (way.host, way.port) not in known][:_MOST_HOSTS])


def _client(proxy: str, trusted: ssl.SSLContext) -> httpx.AsyncClient:
    return httpx.AsyncClient(proxy=proxy, verify=trusted, trust_env=False, timeout=30.0)


async def _fetched(client: httpx.AsyncClient, page: str) -> str:
    async with client.stream("GET", page, headers={"Accept": f"{_JSON}, text/html;q=0.1"}) as response:
        if response.status_code != 200:
            return ""
        raw = b""
        async for chunk in response.aiter_bytes():
            raw += chunk
            if len(raw) > _PAGE_BYTES:
                break
    return raw.decode("utf-8", "replace")


def _links(text: str) -> Iterable[str]:
    try:
        files = json.loads(text).get("files", [])
        return [str(one["url"]) for one in files if str(one.get("url", "")).startswith("https://")]
    except (ValueError, RecursionError, AttributeError, TypeError):
        return [link for link in _FROM_PAGE.findall(text) if link.startswith("https://")]


def _trusted(cert: str | None, env: Mapping[str, str]) -> ssl.SSLContext:
    named = cert or env.get("PIP_CERT") or env.get("SSL_CERT_FILE")
    try:
        return ssl.create_default_context(cafile=named or None)
    except (OSError, ssl.SSLError) as error:
        raise NoIndex(f"the certificates in {named} cannot be read: {error}") from None


def _way(url: str) -> Way:
    parts = urlsplit(url)
    try:
        port = parts.port or 443
    except ValueError:
        port = 0
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme != "https" or not is_name(host) or not port:
        raise NoIndex(f"the index {parts.scheme}://{host} cannot be used: only https and a host's name are")
    return Way(host, port, inside=True)


def _further(hosts: Iterable[str]) -> set[Way]:
    return {_way(f"https://{host}") for host in hosts}


def _unquoted(shown: str) -> str:
    try:
        return str(ast.literal_eval(shown))
    except (ValueError, SyntaxError):
        return shown
