"""Becomes bubblewrap: runs as a process of its own, sets the limits, gives up root, and executes bwrap.

It is started as a script (`python -I -S launcher.py READY_FD`), so it may import nothing but the standard library. Its
orders come as JSON on standard input, so that no path shows in a process list, and the environment that it hands on is
empty: bubblewrap's own environment would be readable as /proc/1/environ inside.

As root it first makes a private mount namespace and binds what the job needs below a directory that anybody may enter
(a home directory of mode 700 would stop the unprivileged user), then drops to that user for good.
Sources: mount(2), unshare(2), setrlimit(2), bwrap(1).
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import sys
from typing import NoReturn

_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_STAGE = "/tmp"
_READY = 3
_FAILED = 125


def main() -> NoReturn:
    """Read the orders, prepare, and execute bwrap; whatever fails is said on standard error with exit code 125."""
    ready = int(sys.argv[1])
    orders = json.load(sys.stdin)
    if ready != _READY:
        os.dup2(ready, _READY, inheritable=True)
        os.close(ready)
    else:
        os.set_inheritable(_READY, True)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    try:
        _become(orders)
    except OSError as error:
        print(f"sandbox launcher: {error}", file=sys.stderr, flush=True)
        os._exit(_FAILED)


def _become(orders: dict[str, object]) -> NoReturn:
    binds = [(option, source, target) for option, source, target in map(_words, _items(orders["binds"]))]
    bwrap = str(orders["bwrap"])
    uid = orders["uid"]
    if isinstance(uid, int):
        bwrap, binds = _stage(bwrap, binds)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    os.chdir("/")
    os.umask(0o022)
    words = [*_words(orders["head"])]
    for bind in binds:
        words += bind
    for path, text in _pairs(orders["files"]):
        words += ["--ro-bind-data", str(_memory_file(str(text).encode())), str(path)]
    words += ["--seccomp", str(_memory_file(base64.b64decode(str(orders["seccomp"]))))]
    words += _words(orders["tail"])
    arguments = _memory_file("\0".join(words).encode())
    for name, limit in _pairs(orders["limits"]):
        _lower(getattr(resource, str(name)), int(str(limit)))
    # bwrap takes its options from the file, so no host path shows in a process list; the command has to be here.
    os.execve(bwrap, ["bwrap", "--args", str(arguments), "--", *_words(orders["command"])], {})


def _stage(bwrap: str, binds: list[tuple[str, str, str]]) -> tuple[str, list[tuple[str, str, str]]]:
    """Show bwrap and every source below a fresh tmpfs; returns where they are now."""
    _check(_libc().unshare(_CLONE_NEWNS), "cannot make a private mount namespace")
    _mount("none", "/", _MS_REC | _MS_PRIVATE)
    package = os.path.dirname(os.path.dirname(bwrap))
    # Opened before the tmpfs covers them: a source may be in the very directory that the stage hides.
    opened = [os.open(source, os.O_PATH | os.O_CLOEXEC) for _, source, _ in binds]
    parts = [path for path in (package, f"{package}.libs") if os.path.isdir(path)]
    opened_parts = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in parts]
    _check(_libc().mount(b"tmpfs", _STAGE.encode(), b"tmpfs", 0, b"mode=755,size=1m"), "cannot mount a tmpfs")
    for path, handle in zip(parts, opened_parts, strict=True):
        _show(handle, f"{_STAGE}/{os.path.basename(path)}")
    staged = []
    for place, (handle, (option, _, target)) in enumerate(zip(opened, binds, strict=True)):
        _show(handle, f"{_STAGE}/{place}")
        staged.append((option, f"{_STAGE}/{place}", target))
    relative = os.path.relpath(bwrap, os.path.dirname(package))
    return f"{_STAGE}/{relative}", staged


def _lower(kind: int, value: int) -> None:
    """Set a limit, or keep the one that is there where it is stricter: only root could raise it."""
    _, hard = resource.getrlimit(kind)
    strictest = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (strictest, strictest))


def _show(handle: int, target: str) -> None:
    os.mkdir(target, 0o755)
    _mount(f"/proc/self/fd/{handle}", target, _MS_BIND | _MS_REC)


def _mount(source: str, target: str, flags: int) -> None:
    result = _libc().mount(os.fsencode(source), os.fsencode(target), None, flags, None)
    _check(result, f"cannot mount on {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
    return libc


def _memory_file(data: bytes) -> int:
    """An inheritable descriptor of an anonymous file that holds `data`, at its start."""
    handle = os.memfd_create("sandbox", 0)
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise OSError(f"malformed orders: {type(value).__name__} where a list belongs")
    return value


def _pairs(value: object) -> list[list[str]]:
    return [_words(pair) for pair in _items(value)]


def _words(value: object) -> list[str]:
    return [str(word) for word in _items(value)]


if __name__ == "__main__":
    main()
