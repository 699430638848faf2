"""The process that has bandit loaded: it answers one question after the other, each in a child that ends with it.

Started by file name with `-I`, so nothing of the working directory is imported; the environment is empty. It reads from
standard input and writes to standard output: four bytes of length, then that much (source in, JSON out). Whatever the
source does to the parser happens in the child, which has little memory, little time, and may write no file.
Source: bandit's own `BanditManager` (docs: "Bandit documentation"), fed through standard input as by `bandit -`.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import sys
import tempfile
import time

SECONDS, MEMORY, ANSWER = 10, 1 << 30, 1 << 20
"""Bounds of one look: seconds, bytes of data, bytes of answer."""


def main() -> None:
    """Answer until standard input ends, which it does with whoever started this."""
    import bandit.core.manager  # noqa: F401 - the children shall have it

    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = questions.read(4)
        if len(head) < 4:
            return
        said = _ask_a_child(questions.read(struct.unpack(">I", head)[0]))
        answers.write(struct.pack(">I", len(said)) + said)
        answers.flush()


def _ask_a_child(source: bytes) -> bytes:
    """What a child says about a source; a problem instead when it says nothing, too much, or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_the_child(source, writing)
    os.close(writing)
    try:
        said = _read(reading, time.monotonic() + SECONDS)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        _, ended = os.waitpid(child, 0)
    if isinstance(said, str):
        return json.dumps({"problem": said}).encode()
    if not said:
        return json.dumps({"problem": f"the scanner broke off ({ended})"}).encode()
    return said


def _read(pipe: int, until: float) -> bytes | str:
    """Everything that comes through a pipe, or why not."""
    parts: list[bytes] = []
    while (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        if sum(map(len, parts)) > ANSWER:
            return f"the scanner said more than {ANSWER:,} bytes"
    return f"the scanner took longer than {SECONDS} s"


def _be_the_child(source: bytes, writing: int) -> None:
    """Look, answer, and end; never returns."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(source)
            file.seek(0)
            os.dup2(file.fileno(), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        for limit, bound in (
            (resource.RLIMIT_CPU, SECONDS),
            (resource.RLIMIT_DATA, MEMORY),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (bound, bound))
        with open(writing, "wb", buffering=0) as answer:
            answer.write(json.dumps(look()).encode())
    finally:
        os._exit(0)


def look() -> dict[str, object]:
    """Bandit's findings in what stands on standard input, whatever its comments say."""
    from bandit.core.config import BanditConfig
    from bandit.core.manager import BanditManager

    manager = BanditManager(BanditConfig(), "file", quiet=True, ignore_nosec=True)
    manager.files_list = ["-"]
    manager.run_tests()
    if manager.skipped:
        return {"problem": str(manager.skipped[0][1]), "readable": False}
    found = [
        {
            "line": int(issue.lineno),
            "last": max([int(issue.lineno), *map(int, issue.linerange or ())]),
            "test": str(issue.test_id),
            "severity": str(issue.severity).lower(),
            "confidence": str(issue.confidence).lower(),
            "text": str(issue.text)[:500],
        }
        for issue in manager.get_issue_list()
    ]
    return {"found": found}


if __name__ == "__main__":
    main()
