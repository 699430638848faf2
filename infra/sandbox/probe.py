"""The probe: code that tries to get out, run in the sandbox before anything else is.

It prints one JSON object of attempts that succeeded; anything in it but an empty list means that this machine cannot
hold untrusted code. It must run on any Python from 3.8 on.
"""

from __future__ import annotations

import json

from infra.sandbox.spec import SOURCE, WORK

PROMISES = frozenset({"user", "seccomp", "network", "files", "processes", "environment", "descriptors"})

SCRIPT = f"""
import ctypes, json, os, platform, socket
broken = []
def refused(promise, what, attempt):
    try:
        attempt()
    except (OSError, ValueError):
        return
    broken.append([promise, what])
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def connect():
    with socket.socket() as line:
        line.settimeout(2)
        line.connect(("192.0.2.1", 80))
def write(path):
    return lambda: open(path, "w").close()
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
if int(status["CapEff"], 16): broken.append(["user", "capabilities"])
if status["NoNewPrivs"].strip() != "1": broken.append(["user", "new privileges"])
if status["Seccomp"].strip() != "2": broken.append(["seccomp", "no filter"])
if os.getuid() != 65534: broken.append(["user", "uid"])
for family, name in ((40, "vsock"), (16, "netlink"), (17, "packet"), (38, "alg")):
    for kind in (socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        refused("seccomp", "socket " + name, lambda: socket.socket(family, kind).close())
x86 = platform.machine() == "x86_64"
for name, on_x86, on_arm in (("unshare", 272, 97), ("mount", 165, 40), ("ptrace", 101, 117), ("bpf", 321, 280),
                             ("io_uring", 425, 425), ("keyctl", 250, 219), ("userfaultfd", 323, 282)):
    refused("seccomp", name, lambda: call(on_x86 if x86 else on_arm, 0, 0, 0, 0))
refused("seccomp", "unshare user", lambda: call(272 if x86 else 97, 0x10000000))
refused("seccomp", "TIOCSTI", lambda: call(16 if x86 else 29, 0, ctypes.c_ulong(0x100005412), b"x"))
refused("network", "connect", connect)
for path in ("/usr/seconder-probe", "/seconder-probe", "/dev/seconder-probe", "{SOURCE}/seconder-probe",
             "/etc/passwd", "/proc/sys/kernel/hostname"):
    refused("files", "write " + path, write(path))
for path in ("/etc/shadow", "/proc/kcore", "/sys/kernel", "/var/run/docker.sock", "/run/docker.sock", "/home"):
    if os.access(path, os.R_OK): broken.append(["files", "read " + path])
if len([name for name in os.listdir("/proc") if name.isdigit()]) > 3: broken.append(["processes", "visible"])
if open("/proc/1/environ", "rb").read(): broken.append(["environment", "of process 1"])
known = {{"PATH", "HOME", "LANG", "TZ", "CI", "PWD", "OLDPWD", "SHLVL", "_", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE"}}
for name in sorted(set(os.environ) - known): broken.append(["environment", name])
for name in os.listdir("/proc/self/fd"):
    if int(name) > 2 and os.path.exists("/proc/self/fd/" + name): broken.append(["descriptors", name])
with open("{WORK}/seconder-probe", "w") as file: file.write("w")
print(json.dumps({{"broken": broken}}))
"""


def broken_promises(output: bytes) -> tuple[str, ...] | None:
    """What the probe got away with, in words; None when the output is not the probe's."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    try:
        found = json.loads(lines[-1])["broken"] if lines else None
    except (ValueError, KeyError, TypeError):
        return None
    return None if found is None else tuple(f"{promise}: {what}" for promise, what in found)


def explain(output: str) -> tuple[str, str]:
    """Why bubblewrap did not start, and the way out, from what it printed."""
    said = " ".join(output.split())[:300]
    if "private mount namespace" in output or "cannot mount" in output:
        return (
            f"Running as root, the sandbox could not prepare its files ({said}).",
            "Start Seconder as an ordinary user, or give the container CAP_SYS_ADMIN.",
        )
    if "uid map" in output or "namespace" in output:
        return (
            f"This machine does not let ordinary users make user namespaces ({said}).",
            "On Ubuntu, allow them for bwrap with an AppArmor profile that grants `userns`; in Docker, run with a "
            "seccomp profile that allows unshare and mount; on other systems set user.max_user_namespaces above 0.",
        )
    return (
        f"Bubblewrap did not start ({said or 'it said nothing'}).",
        "Try it by hand: `bwrap --unshare-all --ro-bind / / true`.",
    )
