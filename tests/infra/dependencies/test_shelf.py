"""Environments on disk: whole or not there, also after a kill; what is in use stays."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from infra.dependencies.shelf import About, Busy, Known, Shelf, TooLarge, settle

A, B, C = "a" * 64, "b" * 64, "c" * 64


def put(shelf: Shelf, digest: str, size: int = 100) -> None:
    files = shelf.workshop(digest) / "files"
    files.mkdir()
    (files / "x").write_bytes(b"x" * size)
    shelf.keep(files, digest, About(("dep==1",), size, 1.0))
    shelf.clear(digest)


async def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 1_000)
    async with shelf.used(A) as nothing:
        assert nothing is None
    assert shelf.known(B, 60) is None
    known = Known(A, ("evil.test",), ("dep: no wheel",))
    put(shelf, A)
    put(shelf, A)
    shelf.note(B, known)
    assert (shelf.known(B, 60), shelf.known(B, -1)) == (known, None)
    assert shelf.about(A) == About(("dep==1",), 100, 1.0)
    shelf.note(B, Known(C))
    assert shelf.known(B, 60) is None, "an environment that has gone is not known"
    async with shelf.used(A) as folder:
        assert folder is not None
        assert (folder / "x").read_bytes() == b"x" * 100


async def test_the_longest_unused_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 250)
    for age, digest in enumerate((C, B, A)):
        put(shelf, digest)
        os.utime(tmp_path / digest, (1_000 + age, 1_000 + age))
    async with Shelf(tmp_path, 250).used(C):
        os.utime(tmp_path / C, (1_000, 1_000))
        assert shelf.evict() == 1
    assert shelf.digests() == {C, A}
    assert Shelf(tmp_path, 0).evict(spared=A) == 1
    assert shelf.digests() == {A}
    assert shelf.evict() == 0


CHILD = """
import asyncio, sys
from pathlib import Path
from infra.dependencies.shelf import Shelf
async def main():
    shelf = Shelf(Path(sys.argv[1]), 1000)
    async with shelf.alone(sys.argv[2], 1):
        files = shelf.workshop(sys.argv[2]) / "files"
        files.mkdir()
        (files / "half").write_text("x")
        print("ready", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_a_killed_worker_leaves_neither_a_lock_nor_half_an_environment(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 1_000)
    words = (sys.executable, "-c", CHILD, str(tmp_path), A)
    pipe, root = asyncio.subprocess.PIPE, Path(__file__).parents[3]
    child = await asyncio.create_subprocess_exec(*words, stdout=pipe, cwd=root)
    assert child.stdout is not None
    assert await child.stdout.readline() == b"ready\n"
    with pytest.raises(Busy):
        async with shelf.alone(A, 0.1):
            pass
    child.kill()
    await child.wait()
    assert shelf.digests() == frozenset()
    async with shelf.alone(A, 5):
        assert list(shelf.workshop(A).iterdir()) == []
    os.utime(tmp_path / f"new-{A}", (1, 1))
    shelf.sweep()
    assert list(tmp_path.glob("new-*")) == []


def test_what_a_sandbox_wrote_is_made_plain(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir(mode=0o777)
    (tmp_path / "bin" / "tool").write_bytes(b"1234")
    (tmp_path / "bin" / "tool").chmod(0o6777)
    (tmp_path / "bin" / "python").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    (tmp_path / "lib64").symlink_to("bin")
    assert settle(tmp_path, Path(sys.base_prefix, "bin"), 100) == 4
    assert (tmp_path / "bin" / "tool").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "bin").stat().st_mode & 0o7777 == 0o755
    with pytest.raises(TooLarge, match="over the limit"):
        settle(tmp_path, Path(sys.base_prefix, "bin"), 3)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        pytest.param("link", "/etc/passwd", id="link to a file"),
        pytest.param("link", "../../other", id="link above"),
        pytest.param("link", f"{sys.base_prefix}/lib", id="link beside the programs"),
        pytest.param("fifo", "", id="pipe"),
    ],
)
def test_what_leads_out_is_refused(tmp_path: Path, kind: str, target: str) -> None:
    if kind == "link":
        (tmp_path / "x").symlink_to(target)
    else:
        os.mkfifo(tmp_path / "x")
    with pytest.raises(ValueError, match="x is"):
        settle(tmp_path, Path(sys.base_prefix, "bin"), 100)


@pytest.mark.parametrize("digest", ["", "..", "a" * 63, "A" * 64, f"../{A}"])
def test_only_digests_name_environments(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="no digest"):
        Shelf(tmp_path, 1).about(digest)
