"""The bubblewrap profile: which mounts, in which order, and the one script that starts every job.

Order matters: later mounts cover earlier ones, and the root is made read-only last.
Source of the options: bubblewrap's manual page (bwrap(1)).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.sandbox.spec import SOURCE, WORK, Spec

READY_FD = 3

# Runs inside: copy the tree to where it may be changed, tell the host that the job starts, drop that line, start it.
START = f'cp -RP {SOURCE}/. {WORK} || exit 1\nprintf r >&{READY_FD} || exit 1\nexec {READY_FD}>&-\nexec "$@"\n'

_FILES: Mapping[str, str] = {
    "/etc/passwd": "nobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "/etc/group": "nogroup:x:65534:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
}
_FROM_ETC = ("/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Bind:
    """A directory of the host, shown at `target`."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Profile:
    """Options for bwrap (before the binds, the binds, behind them), small generated files, and the command."""

    head: tuple[str, ...]
    binds: tuple[Bind, ...]
    tail: tuple[str, ...]
    files: Mapping[str, str]
    command: tuple[str, ...]


def build(spec: Spec) -> Profile:
    """The whole profile for one job."""
    limits = spec.limits
    head = (
        *("--unshare-user", "--unshare-all", "--disable-userns", "--uid", "65534", "--gid", "65534"),
        *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"),
        *_system_directories(),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", _mib(limits.shm_mb), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--size", _mib(limits.tmp_mb), "--tmpfs", "/tmp"),
        *("--size", _mib(limits.work_mb), "--tmpfs", WORK),
    )
    binds = (
        *(Bind(str(path), str(path)) for path in spec.toolchain.paths_ro),
        *(Bind(str(mount.source), mount.target, mount.writable) for mount in spec.mounts),
        Bind(str(spec.source), SOURCE),
    )
    tail = ("--remount-ro", "/", *_variables(spec), "--chdir", WORK)
    command = ("/bin/sh", "-c", START, "sandbox", *spec.argv)
    return Profile(head, binds, tail, _FILES, command)


def _system_directories() -> tuple[str, ...]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--dir", "/etc"]
    for source in _FROM_ETC:
        arguments += ["--ro-bind-try", source, source]
    return tuple(arguments)


def _variables(spec: Spec) -> tuple[str, ...]:
    fixed = {"PATH": spec.toolchain.path, "HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC", "CI": "1"}
    merged = {**fixed, **spec.toolchain.env, **spec.env}
    return tuple(word for name, value in merged.items() for word in ("--setenv", name, value))


def _mib(size: int) -> str:
    return str(size << 20)
