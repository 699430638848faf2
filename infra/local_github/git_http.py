"""Git over HTTP: token auth, limits, `git http-backend` as the server, and what a push sets off."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

from starlette.types import Message, Receive, Scope, Send

from infra.local_github.api import Call
from infra.local_github.auth import Actor, Needs, check_repo, identify
from infra.local_github.errors import ApiError, not_found
from infra.local_github.git_store import ZERO, end, environment, valid_ref
from infra.local_github.pull_state import moved
from infra.local_github.records import Repo
from infra.local_github.routes_git import direct_push_refused
from infra.local_github.world import World

PATH = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)")
READ = Needs(("contents",))
PUSH = Needs(("contents",), "write", "write")
_BODY_LIMIT = 512 * 2**20
_TIMEOUT = 120.0
_CHUNK = 65_536


@dataclass(frozen=True)
class Push:
    """One line of a push: move `ref` from `old` to `new`."""

    ref: str
    old: str
    new: str


class GitHttp:
    """The ASGI side of git's smart HTTP protocol (git: http-backend, pack-protocol)."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one git request; refusals are plain text, since git prints them."""
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        found = PATH.fullmatch(scope["path"])
        query = scope["query_string"].decode("latin-1")
        try:
            if found is None:
                raise not_found()
            owner, name, what = found.groups()
            service = query.removeprefix("service=") if what == "info/refs" else what
            if service not in ("git-upload-pack", "git-receive-pack"):
                raise ApiError(403, "Please use git's smart HTTP protocol.")
            actor, repo = self._admit(f"{owner}/{name}", headers, service)
            with tempfile.TemporaryFile() as body:
                size = await _spool(receive, headers, body)
                request = {
                    "REQUEST_METHOD": scope["method"],
                    "PATH_INFO": f"/{repo.id}.git/{what}",
                    "QUERY_STRING": query,
                    "CONTENT_TYPE": headers.get("content-type", ""),
                    "CONTENT_LENGTH": str(size),
                    "GIT_PROTOCOL": headers.get("git-protocol", ""),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_PROJECT_ROOT": str(self.world.git.root.resolve()),
                    "REMOTE_USER": actor.user.login if actor.user else "anonymous",
                }
                if what == "git-receive-pack":
                    await self._push(Call(self.world, actor, found_repo=repo), body, request, send)
                else:
                    await _backend(request, body, send)
        except ApiError as refused:
            await _refuse(send, refused)

    def _admit(self, full_name: str, headers: Mapping[str, str], service: str) -> tuple[Actor, Repo]:
        actor = identify(self.world, headers.get("authorization", ""))
        repo = self.world.repo(full_name)
        needs = PUSH if service == "git-receive-pack" else READ
        if repo is None or (actor.user is None and (repo.private or needs is PUSH)):
            if actor.user is None:  # git asks for credentials only after a 401
                raise ApiError(401, "Authentication required")
            raise ApiError(404, "Repository not found.")
        check_repo(self.world, actor, repo, needs)
        return actor, repo

    async def _push(self, call: Call, body: IO[bytes], request: dict[str, str], send: Send) -> None:
        async with self.world.lock:
            for push in _commands(body):
                await self._check(call, push)
            before = await call.git.refs(call.repo.id)
            held: list[Message] = []

            async def hold(message: Message) -> None:
                held.append(message)

            await _backend(request, body, hold)
            after = await call.git.refs(call.repo.id)
            for name in sorted(before.keys() | after.keys()):
                old, new = before.get(name, ZERO), after.get(name, ZERO)
                if old != new:
                    await moved(call, name, old, new)
            self.world.commit()
        for message in held:  # git is told only when everything that its push sets off is done
            await send(message)

    async def _check(self, call: Call, push: Push) -> None:
        if push.ref.startswith("refs/pull/") or not valid_ref(push.ref):
            raise ApiError(403, f"{push.ref} cannot be pushed to.")
        rules = call.repo.protection.get(push.ref.removeprefix("refs/heads/"))
        if rules is None or not push.ref.startswith("refs/heads/") or push.old == ZERO:
            return
        forced = push.new == ZERO
        if not forced and await call.git.kind(call.repo.id, push.new) == "commit":
            forced = not await call.git.is_ancestor(call.repo.id, push.old, push.new)
        if direct_push_refused(call, rules, forced):
            raise ApiError(403, f"GH006: Protected branch update failed for {push.ref}.")


def _commands(body: IO[bytes]) -> list[Push]:
    """The ref updates at the start of a push (git: pack-protocol, pkt-line)."""
    body.seek(0)
    pushes: list[Push] = []
    while True:
        head = body.read(4)
        size = int(head, 16) if re.fullmatch(rb"[0-9a-fA-F]{4}", head) else 0
        if size < 5:
            return pushes
        line = body.read(size - 4).partition(b"\0")[0].decode("utf-8", "replace").strip()
        parts = line.split(" ", 2)
        if len(parts) == 3 and len(parts[0]) == 40:
            pushes.append(Push(parts[2], parts[0], parts[1]))


async def _spool(receive: Receive, headers: Mapping[str, str], body: IO[bytes]) -> int:
    """Take the request's body, unpacked, into a file; returns its size."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > _BODY_LIMIT:
        raise ApiError(413, "The pack is too large.")
    coding = headers.get("content-encoding", "")
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise ApiError(415, f"Unsupported content encoding {coding!r}; use gzip.")
    unpack = zlib.decompressobj(31) if "gzip" in coding else None
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "The connection was closed.")
        chunk, more = message.get("body", b""), message.get("more_body", False)
        try:
            chunk = unpack.decompress(chunk, _BODY_LIMIT - size + 1) if unpack else chunk
        except zlib.error:
            raise ApiError(400, "The body is not valid gzip.") from None
        size += len(chunk)
        if size > _BODY_LIMIT:
            raise ApiError(413, "The pack is too large.")
        body.write(chunk)
    body.flush()
    return size


async def _backend(request: dict[str, str], body: IO[bytes], send: Send) -> None:
    """Run `git http-backend` and stream its CGI answer."""
    os.lseek(body.fileno(), 0, os.SEEK_SET)  # the child reads the descriptor, whose place a buffered seek may not move
    child = await asyncio.create_subprocess_exec(
        "git",
        "http-backend",
        env=environment(request),
        stdin=body,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    if child.stdout is None:
        raise ApiError(500, "git http-backend gave no output.")
    try:
        async with asyncio.timeout(_TIMEOUT):
            status, headers = await _cgi_head(child.stdout)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            while chunk := await child.stdout.read(_CHUNK):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            await child.wait()
    finally:
        await end(child)


async def _cgi_head(out: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
    status, headers = 200, []
    while line := (await out.readline()).strip():
        key, _, value = line.partition(b":")
        if key.lower() == b"status":
            status = int(value.split()[0])
        else:
            headers.append((key.strip().lower(), value.strip()))
    if not headers:
        raise ApiError(500, "git http-backend gave no answer.")
    return status, headers


async def _refuse(send: Send, refused: ApiError) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if refused.status == 401:
        headers.append((b"www-authenticate", b'Basic realm="local GitHub"'))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{refused.message}\n".encode()})
