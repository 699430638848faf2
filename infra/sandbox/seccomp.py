"""A seccomp filter in classic BPF, assembled here so that no libseccomp is needed.

It denies rather than allows: test suites use most system calls, and namespaces already hide the rest of the machine.
What is denied is what reaches past namespaces: other address families, new namespaces, tracing, mounting, kernel
keyrings, io_uring, and pushing characters into a terminal. Sources: Linux `include/uapi/linux/seccomp.h`,
`arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
# Offsets into struct seccomp_data; arguments are 64 bits wide, little-endian: the offset names the low half.
_NUMBER, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24
_X32_BIT = 0x40000000
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_NEW_NAMESPACES = 0x7E020080  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME

# Numbers that are the same on every architecture since the tables were joined (Linux 5.1).
_COMMON_DENIED: Mapping[str, int] = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
}


@dataclass(frozen=True)
class _Machine:
    """One architecture: its audit number and its numbers for the calls that the filter looks at."""

    audit: int
    socket: int
    ioctl: int
    clone: int
    clone3: int
    denied: Mapping[str, int]
    x32: bool


_X86_64 = _Machine(
    audit=0xC000003E,
    socket=41,
    ioctl=16,
    clone=56,
    clone3=435,
    x32=True,
    denied={
        "ptrace": 101,
        "syslog": 103,
        "personality": 135,
        "vhangup": 153,
        "modify_ldt": 154,
        "pivot_root": 155,
        "adjtimex": 159,
        "chroot": 161,
        "acct": 163,
        "settimeofday": 164,
        "mount": 165,
        "umount2": 166,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "sethostname": 170,
        "setdomainname": 171,
        "iopl": 172,
        "ioperm": 173,
        "init_module": 175,
        "delete_module": 176,
        "quotactl": 179,
        "lookup_dcookie": 212,
        "clock_settime": 227,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "fanotify_init": 300,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
        "clock_adjtime": 305,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "kcmp": 312,
        "finit_module": 313,
        "kexec_file_load": 320,
        "bpf": 321,
        "userfaultfd": 323,
    },
)

_AARCH64 = _Machine(
    audit=0xC00000B7,
    socket=198,
    ioctl=29,
    clone=220,
    clone3=435,
    x32=False,
    denied={
        "lookup_dcookie": 18,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "vhangup": 58,
        "quotactl": 60,
        "acct": 89,
        "personality": 92,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "clock_settime": 112,
        "syslog": 116,
        "ptrace": 117,
        "reboot": 142,
        "sethostname": 161,
        "setdomainname": 162,
        "settimeofday": 170,
        "adjtimex": 171,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "swapon": 224,
        "swapoff": 225,
        "perf_event_open": 241,
        "fanotify_init": 262,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
        "clock_adjtime": 266,
        "setns": 268,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "kcmp": 272,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
        "kexec_file_load": 294,
    },
)

_MACHINES: Mapping[str, _Machine] = {"x86_64": _X86_64, "aarch64": _AARCH64}

_Instruction = tuple[int, int, int, int]


def build(machine: str) -> bytes:
    """The filter as the kernel's `sock_filter` array (8 bytes an instruction).

    `machine` is what `platform.machine()` says. Raises `ValueError` for an architecture that we have no numbers for.
    """
    if machine not in _MACHINES:
        raise ValueError(f"no seccomp filter for {machine!r}; known: {', '.join(sorted(_MACHINES))}")
    target = _MACHINES[machine]
    program = [*_right_architecture(target)]
    for number in sorted({*target.denied.values(), *_COMMON_DENIED.values()}):
        program += _refuse(number, _EPERM)
    # The flags of clone3 are behind a pointer, out of a filter's sight; glibc falls back to clone on ENOSYS.
    program += _refuse(target.clone3, _ENOSYS)
    program += _no_new_namespaces(target.clone)
    program += _known_families(target.socket)
    program += _no_terminal_injection(target.ioctl)
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _right_architecture(target: _Machine) -> list[_Instruction]:
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, target.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if target.x32:
        program += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL)]
    return program


def _refuse(number: int, errno: int) -> list[_Instruction]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno)]


def _no_new_namespaces(clone: int) -> list[_Instruction]:
    return [
        (_EQUAL, 0, 4, clone),
        (_LOAD, 0, 0, _ARG0),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _known_families(socket: int) -> list[_Instruction]:
    count = len(_FAMILIES)
    checks: list[_Instruction] = [(_EQUAL, count - place, 0, family) for place, family in enumerate(_FAMILIES)]
    return [
        (_EQUAL, 0, count + 3, socket),
        (_LOAD, 0, 0, _ARG0),
        *checks,
        (_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _no_terminal_injection(ioctl: int) -> list[_Instruction]:
    # The kernel reads only the low 32 bits of the request, so only they are compared: CVE-2019-10063.
    sti, linux = _TERMINAL_INJECTION
    return [
        (_EQUAL, 0, 4, ioctl),
        (_LOAD, 0, 0, _ARG1),
        (_EQUAL, 1, 0, sti),
        (_EQUAL, 0, 1, linux),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
    ]
