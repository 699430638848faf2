"""The filter, run instruction by instruction as the kernel would."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pytest

from infra.sandbox.seccomp import build

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, EAFNOSUPPORT = 0x00050001, 0x00050026, 0x00050061
X86, ARM, I386 = 0xC000003E, 0xC00000B7, 0x40000003


@dataclass(frozen=True)
class Call:
    """A system call as seccomp sees it."""

    arch: int
    number: int
    arguments: tuple[int, ...] = ()


def verdict(machine: str, call: Call) -> int:
    """What the filter answers: a small interpreter for the five instructions in use."""
    padded = (*call.arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<iIQ6Q", call.number, call.arch, 0, *padded)
    raw = build(machine)
    program = [struct.unpack("<HBBI", raw[at : at + 8]) for at in range(0, len(raw), 8)]
    place, held = 0, 0
    for _ in range(len(program)):
        code, yes, no, value = program[place]
        place += 1
        if code == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            place += yes if holds else no
    raise AssertionError("the filter does not return")


CASES = [
    pytest.param("x86_64", Call(X86, 0), ALLOW, id="read"),
    pytest.param("x86_64", Call(X86, 59), ALLOW, id="execve"),
    pytest.param("x86_64", Call(I386, 0), KILL, id="32-bit"),
    pytest.param("x86_64", Call(X86, 0x40000000 | 101), KILL, id="x32"),
    pytest.param("x86_64", Call(X86, 101), EPERM, id="ptrace"),
    pytest.param("x86_64", Call(X86, 165), EPERM, id="mount"),
    pytest.param("x86_64", Call(X86, 272), EPERM, id="unshare"),
    pytest.param("x86_64", Call(X86, 321), EPERM, id="bpf"),
    pytest.param("x86_64", Call(X86, 425), EPERM, id="io_uring"),
    pytest.param("x86_64", Call(X86, 435), ENOSYS, id="clone3"),
    pytest.param("x86_64", Call(X86, 56, (0x01200011,)), ALLOW, id="fork"),
    pytest.param("x86_64", Call(X86, 56, (0x003D0F00,)), ALLOW, id="thread"),
    pytest.param("x86_64", Call(X86, 56, (0x10000000,)), EPERM, id="clone-newuser"),
    pytest.param("x86_64", Call(X86, 56, (0x00020000,)), EPERM, id="clone-newns"),
    pytest.param("x86_64", Call(X86, 56, (0x00000080,)), EPERM, id="clone-newtime"),
    pytest.param("x86_64", Call(X86, 41, (1,)), ALLOW, id="unix"),
    pytest.param("x86_64", Call(X86, 41, (2,)), ALLOW, id="inet"),
    pytest.param("x86_64", Call(X86, 41, (10,)), ALLOW, id="inet6"),
    pytest.param("x86_64", Call(X86, 41, (16,)), EAFNOSUPPORT, id="netlink"),
    pytest.param("x86_64", Call(X86, 41, (17,)), EAFNOSUPPORT, id="packet"),
    pytest.param("x86_64", Call(X86, 41, (38,)), EAFNOSUPPORT, id="alg"),
    pytest.param("x86_64", Call(X86, 41, (40,)), EAFNOSUPPORT, id="vsock"),
    pytest.param("x86_64", Call(X86, 41, (0x1_0000_0028,)), EAFNOSUPPORT, id="vsock-high-bits"),
    pytest.param("x86_64", Call(X86, 16, (0, 0x5412)), EPERM, id="tiocsti"),
    pytest.param("x86_64", Call(X86, 16, (0, 0x1_0000_5412)), EPERM, id="tiocsti-high-bits"),
    pytest.param("x86_64", Call(X86, 16, (0, 0x541C)), EPERM, id="tioclinux"),
    pytest.param("x86_64", Call(X86, 16, (0, 0x5413)), ALLOW, id="window-size"),
    pytest.param("aarch64", Call(ARM, 63), ALLOW, id="arm-read"),
    pytest.param("aarch64", Call(X86, 63), KILL, id="arm-other-architecture"),
    pytest.param("aarch64", Call(ARM, 117), EPERM, id="arm-ptrace"),
    pytest.param("aarch64", Call(ARM, 97), EPERM, id="arm-unshare"),
    pytest.param("aarch64", Call(ARM, 198, (38,)), EAFNOSUPPORT, id="arm-alg"),
    pytest.param("aarch64", Call(ARM, 198, (1,)), ALLOW, id="arm-unix"),
    pytest.param("aarch64", Call(ARM, 220, (0x10000000,)), EPERM, id="arm-clone-newuser"),
    pytest.param("aarch64", Call(ARM, 29, (0, 0x5412)), EPERM, id="arm-tiocsti"),
]


@pytest.mark.parametrize(("machine", "call", "expected"), CASES)
def test_verdict(machine: str, call: Call, expected: int) -> None:
    assert hex(verdict(machine, call)) == hex(expected)


def test_unknown_processor_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"riscv64.*aarch64, x86_64"):
        build("riscv64")
