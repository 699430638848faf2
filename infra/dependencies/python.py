"""Makes Python environments: pip fetches wheels on the host, and installs them in the sandbox.

Sources: pip's `pip download` and `pip install` pages (`--only-binary`, `--no-index`, `--no-deps`, `--python`), venv.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import sysconfig
from collections.abc import Collection, Iterable
from pathlib import Path

from packaging.requirements import Requirement

from infra.dependencies.about import normal
from infra.dependencies.indexes import IndexSettings, PythonIndexes, answers, operators, python_indexes
from infra.dependencies.making import Builder, Made, Unmade, built
from infra.dependencies.plan import PythonPlan
from infra.dependencies.processes import Ran, cleaned, pip, run
from infra.dependencies.proxy import Caps, Proxy, serving
from infra.dependencies.shelf import check_size, settle
from infra.dependencies.wheels import BadWheel, Wheel, fetched, write_own, write_project

FETCH_S = 900.0
_TLS = ("SSL_CERT_FILE", "SSL_CERT_DIR", "PATH")
_MOST_MISSING = 6
_NO_WHEEL = re.compile(
    r"satisfies the requirement (?P<name>[A-Za-z0-9][\w.-]*)[^\n(]*(?:\(from (?!versions:)(?P<above>[^)]*)\))?"
)
# Raise it when what is made of the same wheels changes.
_FORMAT = 1
_INSTALL = (
    'python -m venv --without-pip "{into}" && '
    'python -m pip --python "{into}/bin/python" install --quiet --no-input --disable-pip-version-check --no-color '
    '--no-cache-dir --no-index --no-deps "{given}"/*.whl'
)


def here() -> tuple[str, str]:
    """The Python and the platform that environments are made for."""
    return platform.python_version(), sysconfig.get_platform()


class PythonMaker:
    """Makes an environment of a plan, below a workshop's directory."""

    def __init__(self, builder: Builder, indexes: IndexSettings, cap_bytes: int) -> None:
        self._builder = builder
        self._settings = indexes
        self._cap = cap_bytes
        self._indexes: PythonIndexes | None = None

    def key(self, plan: PythonPlan) -> str:
        """A digest of everything that decides what is made of a plan, but for what the index has at the time."""
        return _digest([_FORMAT, here(), self._settings.python, plan.canonical()])

    async def make(self, plan: PythonPlan, workshop: Path, known: Collection[str]) -> Made:
        """Fetch and install. `known` says which digests are there already. Raises `Unmade`, `TooLarge`, `NoIndex`."""
        wheels = workshop / "wheels"
        wheels.mkdir(mode=0o755)
        blocked, missing = await self._fetch(plan, workshop, wheels) if plan.requirements else ((), ())
        try:
            found = self._completed(plan, wheels)
        except BadWheel as error:
            raise Unmade(str(error), blocked) from None
        check_size(sum(wheel.unpacked for wheel in found), self._cap)
        digest = _digest([_FORMAT, here(), [(wheel.name, wheel.version, wheel.sha256) for wheel in found]])
        own = normal(plan.project.name) if plan.project is not None else ""
        packages = tuple(f"{wheel.name}=={wheel.version}" for wheel in found if wheel.name != own)
        if digest in known:
            return Made(digest, None, packages, 0, blocked, missing)
        into, size = await self._installed(workshop, wheels, blocked)
        return Made(digest, into, packages, size, blocked, missing)

    async def _fetch(self, plan: PythonPlan, workshop: Path, wheels: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Bring the wheels in; returns hosts that were refused, and what there is no wheel of, where tests alone ask
        for it."""
        if self._indexes is None:
            self._indexes = await python_indexes(self._settings, workshop)
        home = workshop / "home"
        home.mkdir(mode=0o700)
        (home / "constraints.txt").write_text("".join(f"{line}\n" for line in plan.constraints), "utf-8")
        configuration = home / "pip.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(self._indexes.configuration(), "utf-8")
        env = {name: value for name, value in operators(self._settings.env).items() if name in _TLS}
        env |= {"HOME": str(home), "XDG_CONFIG_DIRS": str(home), "PIP_CONFIG_FILE": str(configuration)}
        words = ("--requirement", str(home / "requirements.txt"), "--constraint", str(home / "constraints.txt"))
        async with serving(self._indexes.ways, caps=Caps(down_bytes=2 * self._cap, total_s=FETCH_S)) as proxy:
            way = ("--proxy", proxy.url, "--no-cache-dir", "--only-binary", ":all:", "--dest", str(wheels))
            command = pip("download", "--quiet", "--retries", "1", *way, *words)
            wanted, missing = list(plan.requirements), []
            for _ in range(_MOST_MISSING):
                (home / "requirements.txt").write_text("".join(f"{line}\n" for line in wanted), "utf-8")
                ran = await run(command, env, home, FETCH_S) if wanted else Ran(0, b"")
                gone = _gone(ran, wanted, plan.spare)
                asked = [answers(self._indexes, name, self._settings.env, proxy.url) for name in set(gone.values())]
                if not gone or not all([await one for one in asked]):
                    break
                missing += [f"{line}: no wheel of {name} fits" for line, name in sorted(gone.items())]
                wanted = [line for line in wanted if line not in gone]
        check_size(proxy.down if proxy.is_spent else 0, self._cap)
        if ran.code != 0:
            raise Unmade(_why(ran, proxy), tuple(proxy.blocked))
        return tuple(proxy.blocked), tuple(missing)

    def _completed(self, plan: PythonPlan, wheels: Path) -> tuple[Wheel, ...]:
        """What was fetched, checked, with the project's own word on itself, and with a pytest."""
        hashes = {(name, version): some for name, version, some in plan.hashes}
        own = normal(plan.project.name) if plan.project is not None else ""
        names = set()
        for wheel in fetched(wheels, hashes):
            if wheel.name == own:
                # A package that needs the project brought it along; what is tested is the one in the tree.
                (wheels / wheel.file).unlink()
            else:
                names.add(wheel.name)
        made = [write_project(wheels, plan.project)] if plan.project is not None else []
        if "pytest" not in names and own != "pytest":
            made += write_own(wheels, "pytest", names | {own})
        for path in wheels.iterdir():
            path.chmod(0o644)
        return fetched(wheels, {})

    async def _installed(self, workshop: Path, wheels: Path, blocked: tuple[str, ...]) -> tuple[Path, int]:
        into = workshop / "files"
        into.mkdir(mode=0o755)
        ran = await built(self._builder, (("sh", "-c", _INSTALL), into, wheels, None), self._cap)
        if ran.code != 0:
            raise Unmade(f"its packages could not be installed: {ran.errors}", blocked)
        try:
            size = settle(into, Path(sys.base_prefix, "bin"), self._cap)
        except ValueError as error:
            raise Unmade(f"its packages may not be installed: {error}", blocked) from None
        return into, size


def _gone(ran: Ran, wanted: Iterable[str], spare: Collection[str]) -> dict[str, str]:
    """Requirements that tests alone ask for and that cannot be had, with the package of which there is no wheel, by
    pip's own words."""
    found = {}
    for match in _NO_WHEEL.finditer(cleaned(ran.output)) if ran.code != 0 else ():
        names = [re.match(r"[\w.-]*", part.strip()) for part in re.split(r"->|,", match["above"] or "")]
        for name in (match["name"], *(one[0] for one in names if one is not None and one[0])):
            found[normal(name)] = normal(match["name"])
    named = {line: normal(Requirement(line).name) for line in wanted}
    return {line: found[name] for line, name in named.items() if name in found and name in spare}


def _why(ran: Ran, proxy: Proxy) -> str:
    hosts = f" (refused hosts: {', '.join(proxy.blocked)})" if proxy.blocked else ""
    none = "; only wheels are used, and none fits" if "No matching distribution" in ran.errors else ""
    return f"its packages could not be fetched: {ran.errors}{none}{hosts}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
