"""How much a tree of processes uses, read from /proc.

Limits of the kernel's are per process, or pass over shared memory; this sums up all processes of one sandbox.
A process that leaves its parent stays in the tree: inside a process namespace it becomes a child of that namespace's
first process. Source: proc(5), /proc/[pid]/status.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class _Process:
    parent: int
    uid: int
    threads: int
    kib: int


def tree_memory_mb(root: int) -> int:
    """Anonymous and shared memory (MiB) of a process and all its descendants; 0 when it is gone."""
    processes = _processes()
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        if pid in processes:
            total += processes[pid].kib
    return total >> 10


def tasks_of(uid: int) -> int:
    """Number of tasks (threads included) that a user has running: what RLIMIT_NPROC is counted against."""
    return sum(process.threads for process in _processes().values() if process.uid == uid)


def _processes() -> dict[int, _Process]:
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            text = Path("/proc", name, "status").read_text("utf-8", "replace")
        except OSError:
            continue  # it ended between the listing and the reading
        found[int(name)] = _parse(text)
    return found


def _parse(status: str) -> _Process:
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)

    def number(name: str) -> int:
        words = fields.get(name, "").split()
        return int(words[0]) if words else 0

    return _Process(number("PPid"), number("Uid"), number("Threads"), number("RssAnon") + number("RssShmem"))
