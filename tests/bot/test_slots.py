"""Workers' names: stable, one each, free again when the process is gone."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bot.slots import NameTaken, worker_name

HOST = socket.gethostname()[:48]


def test_each_has_a_name_of_its_own_and_the_first_free_number_comes_again(tmp_path: Path) -> None:
    with worker_name(tmp_path) as first:
        with worker_name(tmp_path) as second:
            assert (first, second) == (f"{HOST}-1", f"{HOST}-2")
        with worker_name(tmp_path) as again:
            assert again == second
    with worker_name(tmp_path) as restarted:
        assert restarted == first


def test_a_wanted_name_is_held_once(tmp_path: Path) -> None:
    with worker_name(tmp_path, "left") as name, worker_name(tmp_path, "right"):
        assert name == "left"
        with (
            pytest.raises(NameTaken, match=r"called left already\. Leave SECONDER_WORKER_NAME out"),
            worker_name(tmp_path, "left"),
        ):
            pytest.fail("two workers of one name")
    with worker_name(tmp_path, "left"):
        assert (tmp_path / "workers" / "left").stat().st_mode & 0o777 == 0o600


def test_a_killed_process_lets_its_name_go(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from bot.slots import worker_name\n"
        f"with worker_name(pathlib.Path({str(tmp_path)!r}), 'w') as name:\n"
        "    print(name, flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == b"w\n"
    with pytest.raises(NameTaken), worker_name(tmp_path, "w"):
        pytest.fail("two workers of one name")
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    with worker_name(tmp_path, "w") as name:
        assert name == "w"
