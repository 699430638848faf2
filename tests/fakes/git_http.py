"""A small git server over HTTP (git's own http-backend behind it), and repositories to serve, hostile ones included."""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.test",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.test",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}


@dataclass(frozen=True)
class Item:
    """One entry of a tree to make: git's mode and the content (for a submodule, the commit's id)."""

    content: bytes | str
    mode: str = "100644"


@dataclass
class GitServer:
    """Serves the bare repositories below `root`.

    `token` (if set) must come as x-access-token; `redirect_to` sends everybody elsewhere; `delay_s` slows answers;
    `seen` collects (path, Authorization header) of every request.
    """

    root: Path
    token: str = ""
    redirect_to: str = ""
    delay_s: float = 0.0
    url: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    blobs: dict[tuple[Path, bytes], str] = field(default_factory=dict)

    def repository(self, full_name: str, items: Mapping[str, Item | bytes | str]) -> str:
        """Make (or add a commit to) a repository; returns the commit's SHA."""
        git_dir = self.root / f"{full_name}.git"
        if not git_dir.exists():
            git_dir.mkdir(parents=True)
            self.git(git_dir, "init", "--quiet", "--bare", "--template=", "-b", "main")
            self.git(git_dir, "config", "uploadpack.allowFilter", "true")
            self.git(git_dir, "config", "uploadpack.allowAnySHA1InWant", "true")
        made = {path: item if isinstance(item, Item) else Item(item) for path, item in items.items()}
        tree = self._tree(git_dir, made)
        return self.commit(git_dir, tree)

    def commit(self, git_dir: Path, tree: str) -> str:
        """A commit of a tree on main."""
        sha = self.git(git_dir, "commit-tree", "-m", "A commit", tree)
        self.git(git_dir, "update-ref", "refs/heads/main", sha)
        return sha

    def git(self, git_dir: Path, *words: str, stdin: bytes = b"") -> str:
        """Run git in a repository; returns what it printed, stripped."""
        done = subprocess.run(
            ["git", "--git-dir", str(git_dir), *words], input=stdin, env=_ENV, check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def blob(self, git_dir: Path, content: bytes | str) -> str:
        """Store a blob."""
        raw = content.encode() if isinstance(content, str) else content
        if (git_dir, raw) not in self.blobs:
            self.blobs[git_dir, raw] = self.git(git_dir, "hash-object", "-w", "--stdin", stdin=raw)
        return self.blobs[git_dir, raw]

    def _tree(self, git_dir: Path, items: Mapping[str, Item]) -> str:
        rows = []
        below: dict[str, dict[str, Item]] = {}
        for path, item in items.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = item
                continue
            is_submodule = item.mode == "160000"
            oid = str(item.content) if is_submodule else self.blob(git_dir, item.content)
            rows.append(f"{item.mode} {'commit' if is_submodule else 'blob'} {oid}\t{name}")
        rows += [f"040000 tree {self._tree(git_dir, inner)}\t{name}" for name, inner in below.items()]
        listing = "".join(f"{row}\0" for row in rows).encode("utf-8", "surrogateescape")
        return self.git(git_dir, "mktree", "-z", "--missing", stdin=listing)


@contextlib.contextmanager
def serving(root: Path) -> Iterator[GitServer]:
    """A server on a free loopback port, stopped at the end."""
    made = GitServer(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            _answer(self, made)

        def do_POST(self) -> None:
            _answer(self, made)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test's output is no place for an access log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _answer(request: BaseHTTPRequestHandler, server: GitServer) -> None:
    authorization = request.headers.get("Authorization", "")
    server.seen.append((request.path, authorization))
    time.sleep(server.delay_s)
    if server.redirect_to:
        request.send_response(301)
        request.send_header("Location", server.redirect_to + request.path)
        request.end_headers()
        return
    if server.token and authorization != f"Basic {_basic(server.token)}":
        request.send_response(401)
        request.send_header("WWW-Authenticate", 'Basic realm="GitHub"')
        request.end_headers()
        return
    _backend(request, server)


def _basic(token: str) -> str:

    return base64.b64encode(f"x-access-token:{token}".encode()).decode()


def _body(request: BaseHTTPRequestHandler) -> bytes:
    if request.headers.get("Transfer-Encoding", "") == "chunked":
        body = b""
        while size := int(request.rfile.readline().strip(), 16):
            body += request.rfile.read(size)
            request.rfile.readline()
        request.rfile.readline()
        return body
    return request.rfile.read(int(request.headers.get("Content-Length", "0")))


def _backend(request: BaseHTTPRequestHandler, server: GitServer) -> None:
    parts = urlsplit(request.path)
    env = {
        **_ENV,
        "GIT_PROJECT_ROOT": str(server.root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "REQUEST_METHOD": request.command,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(["git", "http-backend"], input=_body(request), env=env, capture_output=True, check=False)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    fields = [line.decode().partition(": ")[::2] for line in head.split(b"\r\n") if line]
    status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
    request.send_response(status)
    for name, value in fields:
        if name != "Status":
            request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        request.wfile.write(body)


def processes_showing(text: str) -> list[str]:
    """The command lines on this machine in which a text stands."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                line = Path("/proc", name, "cmdline").read_bytes().decode("utf-8", "replace")
                if text in line:
                    found.append(line)
    return found
