"""What is asked of the sandbox and what comes back."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

SOURCE = "/seconder/src"
WORK = "/seconder/work"
# Where a job finds what was prepared for it: a Python environment, Node's modules (which Node looks for beside every
# folder above the code), what a build may read, and the socket of the way out, if there is one.
ENVIRONMENT = "/seconder/environment"
MODULES = "/seconder/node_modules"
GIVEN = "/seconder/given"
EGRESS = "/seconder/egress"
SHELL = "/seconder/shell"
ISOLATION = "bubblewrap, no network"

# The variables that a job may set; what the toolchain needs besides is the operator's word and stands in Toolchain.
ALLOWED_ENV = frozenset(
    {
        "CARGO_NET_OFFLINE",
        "CI",
        "GOFLAGS",
        "GOPROXY",
        "NODE_PATH",
        "PYTHONHASHSEED",
        "PYTHONPATH",
        "npm_config_offline",
    }
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Places that the sandbox itself makes: a toolchain mounted on one of them, or above it, would undo that.
_OWN = ("/", "/proc", "/dev", "/dev/shm", "/tmp", "/etc", "/seconder", SOURCE, WORK)

Reason = Literal["exit", "timeout", "output_cap", "memory", "backend_error"]


class SandboxUnavailable(Exception):
    """Untrusted code cannot be run safely on this machine; `reason` says why and `fix` what would change that."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(f"{reason} {fix}")
        self.reason = reason
        self.fix = fix


@dataclass(frozen=True)
class Limits:
    """Bounds of one run. Seconds, MiB and bytes; `memory_mb` is per process, `total_memory_mb` for all together.

    `pids` is above what the launching user already has running, because the kernel counts per user.
    """

    wall_s: float = 300.0
    cpu_s: int = 300
    memory_mb: int = 2048
    total_memory_mb: int = 4096
    pids: int = 256
    file_mb: int = 64
    open_files: int = 1024
    work_mb: int = 512
    tmp_mb: int = 128
    shm_mb: int = 64
    output_bytes: int = 4 << 20


@dataclass(frozen=True)
class Toolchain:
    """What the code may use besides /usr: directories bound read-only at their own path, PATH, and variables.

    Raises `ValueError` for a directory that is missing, relative, or would cover a place of the sandbox's own.
    """

    paths_ro: tuple[Path, ...] = ()
    path: str = "/usr/local/bin:/usr/bin:/bin"
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.paths_ro:
            if not path.is_absolute() or str(path) != os.path.normpath(path):
                raise ValueError(f"toolchain path {path} must be absolute and without '..'")
            if str(path) in _OWN or path.is_relative_to("/seconder") or path.is_relative_to("/proc"):
                raise ValueError(f"toolchain path {path} would cover a place that the sandbox makes itself")
            if not path.is_dir():
                raise ValueError(f"toolchain path {path} is not a directory")
        _check_names(self.env)


def python_toolchain(prefix: Path, base_prefix: Path) -> Toolchain:
    """A toolchain in which `python` and `pytest` are those of an environment.

    `prefix` is the environment (`sys.prefix` there), `base_prefix` the interpreter that it was made from; inside
    /usr nothing needs binding. The same path twice is fine: that is an interpreter without an environment.
    """
    executable = prefix / "bin" / "python"
    real = Path(os.path.realpath(executable)).parent.parent if executable.exists() else base_prefix
    candidates = dict.fromkeys((prefix, base_prefix, real))
    bound = tuple(path for path in candidates if not path.is_relative_to("/usr"))
    search = [*(f"{path}/bin" for path in candidates), "/usr/local/bin", "/usr/bin", "/bin"]
    return Toolchain(bound, ":".join(dict.fromkeys(search)), {"PYTHONDONTWRITEBYTECODE": "1"})


def with_environments(toolchain: Toolchain, places: Collection[str]) -> Toolchain:
    """The toolchain for jobs that find a prepared environment at `places`: its programs come first, and where it
    brings a Python, nothing of another Python's packages is in sight."""
    found = python_toolchain(Path(sys.base_prefix), Path(sys.base_prefix)) if ENVIRONMENT in places else toolchain
    programs = {ENVIRONMENT: f"{ENVIRONMENT}/bin", MODULES: f"{MODULES}/.bin"}
    return replace(found, path=":".join([*(programs[one] for one in programs if one in places), found.path]))


def own_toolchain() -> Toolchain:
    """The interpreter and environment that Seconder itself runs in."""
    return python_toolchain(Path(sys.prefix), Path(sys.base_prefix))


@dataclass(frozen=True)
class Mount:
    """A directory of the host, shown at one of the places for what was prepared; read-only unless `writable`.

    Raises `ValueError` for another place, or a directory that is not there.
    """

    source: Path
    target: str
    writable: bool = False

    def __post_init__(self) -> None:
        if self.target not in (ENVIRONMENT, MODULES, GIVEN, EGRESS, SHELL):
            raise ValueError(f"nothing is mounted at {self.target} in the sandbox")
        if not self.source.is_absolute() or not self.source.is_dir():
            raise ValueError(f"{self.source}, for {self.target} in the sandbox, must be an existing directory")


@dataclass(frozen=True)
class Spec:
    """One job: `argv` runs in a copy of `source`, with no network, as nobody. `env` names must be in ALLOWED_ENV."""

    argv: tuple[str, ...]
    source: Path
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    toolchain: Toolchain = field(default_factory=Toolchain)
    mounts: tuple[Mount, ...] = ()

    def __post_init__(self) -> None:
        if not self.argv or any("\0" in argument for argument in self.argv):
            raise ValueError("the sandbox needs a command, and its words may hold no NUL")
        if not self.source.is_absolute() or not self.source.is_dir():
            raise ValueError(f"the sandbox's source {self.source} must be an existing directory, named absolutely")
        unknown = sorted(set(self.env) - ALLOWED_ENV)
        if unknown:
            raise ValueError(f"not on the sandbox's list of variables: {', '.join(unknown)}")
        _check_names(self.env)


@dataclass(frozen=True)
class SandboxResult:
    """What came of a job. `exit_code` is None unless `reason` is exit; `output` is stdout and stderr as they came."""

    exit_code: int | None
    reason: Reason
    output: bytes
    truncated: bool
    seconds: float


@dataclass(frozen=True)
class Capabilities:
    """What the probe found. `enforces` names the promises that were tried and held."""

    available: bool
    reason: str = ""
    fix: str = ""
    isolation: str = ISOLATION
    enforces: frozenset[str] = frozenset()


def _check_names(env: Mapping[str, str]) -> None:
    for name, value in env.items():
        if not _NAME.match(name) or "\0" in value:
            raise ValueError(f"{name!r} is no valid variable for the sandbox")
