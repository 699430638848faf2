"""A package index on this machine: the simple API over TLS, with wheels that are made here.

Source: the simple repository API (PEP 503).
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import io
import json
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def wheel(folder: Path, name: str, version: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> Path:
    """A wheel of these files, by their path in it."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    parts = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in parts.items():
            archive.writestr(place, text)
    return path


@dataclass
class PackageIndex:
    """A running index. `files` are those of its packages; `pages` replaces a project's page; `tarballs` are Node's.

    `asked` are the paths of requests.
    """

    folder: Path
    certificate: Path
    port: int = 0
    files: dict[str, Path] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    tarballs: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def add_node(self, name: str, version: str, files: Mapping[str, str]) -> str:
        """Publish a package of Node's by its tarball; its integrity, as a lock file has it."""
        about = {"package.json": json.dumps({"name": name, "version": version, "scripts": {"install": "touch /evil"}})}
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w:gz") as archive:
            for path, text in {**about, **files}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        self.tarballs[f"/{name}/-/{name}-{version}.tgz"] = raw.getvalue()
        return "sha512-" + base64.b64encode(hashlib.sha512(raw.getvalue()).digest()).decode()

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/simple"

    def add(self, name: str, version: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> str:
        """Publish a wheel; its SHA-256."""
        path = wheel(self.folder, name, version, files, requires)
        self.files[path.name] = path
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def answer(self, path: str) -> bytes | None:
        """What is at a path, or None."""
        self.asked.append(path)
        words = [word for word in path.split("/") if word]
        if path in self.tarballs:
            return self.tarballs[path]
        if words[:1] == ["files"] and words[-1] in self.files:
            return self.files[words[-1]].read_bytes()
        if len(words) == 2 and words[0] == "simple":
            if words[1] in self.pages:
                return self.pages[words[1]].encode()
            names = [name for name in self.files if name.split("-")[0].replace("_", "-") == words[1]]
            links = "".join(f'<a href="/files/{name}">{name}</a>' for name in names)
            return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if names else None
        return None

    def env(self, home: Path) -> dict[str, str]:
        """The environment in which pip's own settings name this index and nothing else."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_INDEX_URL": self.url,
            "PIP_CERT": str(self.certificate),
            "NODE_EXTRA_CA_CERTS": str(self.certificate),
            "npm_config_registry": f"https://localhost:{self.port}/",
        }


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[PackageIndex]:
    """A running index whose files are below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    index = PackageIndex(folder, folder / "certificate.pem")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = index.answer(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html" if "/simple/" in self.path else "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *words: object) -> None:
            """Nothing on standard error."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_certified(index.certificate))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    index.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certified(path: Path) -> tuple[Path, Path]:
    """A certificate for localhost that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = path.with_suffix(".key")
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path, private
