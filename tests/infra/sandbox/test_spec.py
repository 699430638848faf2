"""What may be asked of the sandbox."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infra.sandbox.spec import Spec, Toolchain, own_toolchain, python_toolchain


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/", id="root"),
        pytest.param("/proc", id="proc"),
        pytest.param("/proc/self", id="below-proc"),
        pytest.param("/tmp", id="tmp"),
        pytest.param("/etc", id="etc"),
        pytest.param("/seconder/work", id="work"),
        pytest.param("relative", id="relative"),
        pytest.param("/usr/../etc", id="dots"),
        pytest.param("/no/such/directory", id="missing"),
        pytest.param("/etc/passwd", id="file"),
    ],
)
def test_toolchain_path_that_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="toolchain path"):
        Toolchain((Path(path),))


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "A=B", ""])
def test_variable_that_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not on the sandbox's list"):
        Spec(("true",), tmp_path, {name: "x"})


def test_job_that_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a command"):
        Spec((), tmp_path)
    with pytest.raises(ValueError, match="NUL"):
        Spec(("a\0b",), tmp_path)
    with pytest.raises(ValueError, match="existing directory"):
        Spec(("true",), tmp_path / "none")
    with pytest.raises(ValueError, match="no valid variable"):
        Spec(("true",), tmp_path, {"PYTHONPATH": "a\0b"})


def test_own_toolchain_finds_python_in_the_environment() -> None:
    made = own_toolchain()
    assert made.path.split(":")[0] == f"{sys.prefix}/bin"
    assert all(not path.is_relative_to("/usr") for path in made.paths_ro)


def test_python_below_usr_needs_no_binding() -> None:
    assert python_toolchain(Path("/usr"), Path("/usr")).paths_ro == ()
