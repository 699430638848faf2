"""What a Node project's lock file says, and the installation of just that: `npm ci` in the sandbox, no script run.

Source: npm's "package-lock.json" page (lockfileVersion 2 and 3) and `npm ci`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from infra.dependencies.about import table
from infra.dependencies.found import Found, Refusal, Tree
from infra.dependencies.indexes import IndexSettings, NodeRegistry, node_registry, operators
from infra.dependencies.making import Builder, Made, Unmade, built
from infra.dependencies.processes import run
from infra.dependencies.proxy import Caps, serving
from infra.dependencies.shelf import settle

LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
_OTHER_LOCKS = ("yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb")
MAX_PACKAGES = 5_000
_FORMAT = 1
_FETCH_S = 900.0
_WANTED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_ABOUT = ("name", "version", *_WANTED, "overrides")
_ENTRY = (
    *("name", "version", "integrity", "dev", "optional", "devOptional", "peer", "inBundle", "bin", "os", "cpu", "libc"),
    *("dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bundleDependencies"),
)
_PLACE = re.compile(r"node_modules/(?:@[\w.~-]+/)?[\w.~-]+(?:/node_modules/(?:@[\w.~-]+/)?[\w.~-]+)*\Z")
_INTEGRITY = re.compile(r"(?:sha(?:1|256|384|512)-[A-Za-z0-9+/]+=*\s?)+\Z")
_TARBALL = re.compile(r"/((?:@[\w.~-]+/|@[\w.~-]+%2[fF])?[\w.~-]+/-/[\w.~-]+\.tgz)\Z")
_INSTALL = (
    'cp "{given}"/package.json "{given}"/package-lock.json "{into}" && cd "{into}" && '
    'if [ -e "{given}/ca.pem" ]; then export NODE_EXTRA_CA_CERTS="{given}/ca.pem"; fi && '
    "npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --no-progress --loglevel=error "
    '--registry="$0" --cache="{into}/.cache" && mkdir -p node_modules && rm -rf .cache package.json package-lock.json'
)


@dataclass(frozen=True)
class NodePlan:
    """The parts of package.json and of its lock that name packages, as JSON objects; `problem` says why they are not
    used."""

    package: Mapping[str, object]
    lock: Mapping[str, object]
    sources: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    problem: str = ""


def node_plan(tree: Tree) -> NodePlan | None:
    """What the tests of a Node project need, or None for one that asks for nothing."""
    found = Found()
    package = _json(tree, "package.json", found)
    if package is None or not any(table(package.get(key)) for key in _WANTED[:3]):
        return None
    name = next((name for name in LOCKS if name in tree.paths), None)
    if name is None:
        other = next((one for one in _OTHER_LOCKS if one in tree.paths), None)
        why = f"{other} is not a lock file of npm's" if other else "there is no package-lock.json"
        return NodePlan({}, {}, ("package.json",), problem=f"its packages could not be fetched: {why}")
    lock = _json(tree, name, found) or {}
    packages = table(lock.get("packages"))
    if not packages:
        old = "it is of version 1; `npm install` with npm 7 or newer writes a newer one"
        found.refuse(name, name, old if "dependencies" in lock else "it names no packages")
    kept = {place: _entry(name, place, entry, found) for place, entry in list(packages.items())[:MAX_PACKAGES] if place}
    if len(packages) > MAX_PACKAGES:
        found.refuse(name, f"{len(packages):,} packages", f"over the limit of {MAX_PACKAGES:,}")
    about = {key: package[key] for key in _ABOUT if key in package}
    whole = {"": {key: one for key, one in table(packages.get("")).items() if key in _ABOUT}, **kept}
    first = f"its packages could not be fetched: {found.refused[0]}" if found.refused else ""
    return NodePlan(
        package=about,
        lock={"name": "x", "lockfileVersion": 3, "requires": True, "packages": whole},
        sources=("package.json", name),
        refused=tuple(found.refused),
        problem=first,
    )


def _json(tree: Tree, path: str, found: Found) -> dict[str, object] | None:
    text = tree.read(path) if path in tree.paths else None
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        found.refuse(path, path, "not valid JSON")
        return None
    return table(value)


def _entry(where: str, place: str, given: object, found: Found) -> dict[str, object]:
    """One package of the lock, by the fields that say what it is; a place of its own is refused."""
    entry = table(given)
    resolved, integrity = entry.get("resolved"), entry.get("integrity")
    kept = {key: entry[key] for key in _ENTRY if key in entry}
    if entry.get("link") or not _PLACE.match(place) or ".." in place.split("/"):
        found.refuse(where, place, "a workspace or a link")
    elif entry.get("inBundle") is True:
        return kept
    elif not isinstance(integrity, str) or not _INTEGRITY.match(integrity):
        found.refuse(where, f"{place} {resolved or ''}", "version control or a path" if resolved else "without a hash")
    elif resolved is not None:
        match = _TARBALL.search(urlsplit(resolved).path) if isinstance(resolved, str) else None
        if match is None or not str(resolved).startswith("https://"):
            found.refuse(where, f"{place} {resolved}", "a URL outside a registry")
        else:
            kept["resolved"] = match[1]
    return kept


class NodeMaker:
    """Makes Node's modules of a plan, below a workshop's directory."""

    def __init__(self, builder: Builder, indexes: IndexSettings, cap_bytes: int) -> None:
        self._builder = builder
        self._settings = indexes
        self._cap = cap_bytes
        self._found: tuple[NodeRegistry, str] | None = None

    def key(self, plan: NodePlan) -> str:
        """A digest of everything that decides what is made of a plan."""
        return _digest([_FORMAT, self._settings.npm, plan.package, plan.lock])

    async def make(self, plan: NodePlan, workshop: Path, known: Collection[str]) -> Made:
        """Fetch and install, in the sandbox. Raises `Unmade`, `TooLarge`, `NoIndex`."""
        registry, version = await self._here(workshop)
        packages = tuple(
            sorted(_named(place, entry) for place, entry in table(plan.lock.get("packages")).items() if place)
        )
        digest = _digest([_FORMAT, version, plan.package, plan.lock])
        if digest in known:
            return Made(digest, None, packages)
        given, into = (workshop / name for name in ("given", "files"))
        for folder in (given, into):
            folder.mkdir(mode=0o755)
        self._write(plan, registry, given)
        caps = Caps(down_bytes=2 * self._cap, total_s=_FETCH_S)
        with _short_path() as socket:
            async with serving(registry.ways, socket, caps) as proxy:
                job = (("sh", "-c", _INSTALL, registry.url), into, given, socket)
                ran = await built(self._builder, job, self._cap)
        blocked = tuple(proxy.blocked)
        if ran.code != 0:
            hosts = f" (refused hosts: {', '.join(blocked)})" if blocked else ""
            raise Unmade(f"its packages could not be fetched: {ran.errors}{hosts}", blocked)
        try:
            size = settle(into, Path("/nowhere"), self._cap)
        except ValueError as error:
            raise Unmade(f"its packages may not be installed: {error}", blocked) from None
        return Made(digest, into, packages, size, blocked)

    async def _here(self, scratch: Path) -> tuple[NodeRegistry, str]:
        if self._found is None:
            registry = await node_registry(self._settings, scratch)
            ran = await run(("node", "--version"), operators(self._settings.env), scratch, 60.0)
            self._found = (registry, ran.last_line)
        return self._found

    def _write(self, plan: NodePlan, registry: NodeRegistry, given: Path) -> None:
        packages = {place: dict(table(entry)) for place, entry in table(plan.lock.get("packages")).items()}
        for entry in packages.values():
            if "resolved" in entry:
                # Whichever registry the lock was made with: the operator's is asked, and the hash decides.
                entry["resolved"] = f"{registry.url.rstrip('/')}/{entry['resolved']}"
        (given / "package.json").write_text(json.dumps(plan.package), "utf-8")
        (given / "package-lock.json").write_text(json.dumps({**plan.lock, "packages": packages}), "utf-8")
        if registry.ca_file is not None and registry.ca_file.is_file():
            shutil.copyfile(registry.ca_file, given / "ca.pem")
        for path in given.iterdir():
            path.chmod(0o644)


@contextlib.contextmanager
def _short_path() -> Iterator[Path]:
    """Where a socket can be: unix(7) allows its path about a hundred characters. The sandbox's user may enter only the
    inner folder, which is shown to it."""
    with tempfile.TemporaryDirectory(prefix="seconder-way-") as home:
        inner = Path(home, "way")
        inner.mkdir(mode=0o755)
        yield inner / "p"


def _named(place: str, entry: object) -> str:
    return f"{place.rpartition('node_modules/')[2]}=={table(entry).get('version', '?')}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=dict).encode()).hexdigest()
