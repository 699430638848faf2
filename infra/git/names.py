"""Which names may reach git: repositories, commits, refs and paths; and where a repository is fetched from.

Git's own `check-ref-format` accepts `refs/heads/-x` and `$(...)`, so refs have a narrower list here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_PATH_BYTES = 1024
MAX_DEPTH = 64

_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})\Z")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}\Z")
_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}\Z")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
# Characters that HFS+ ignores in names (git: utf8.c, is_hfs_dotgit).
_IGNORED_BY_HFS = frozenset(map(chr, (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)))


class BadName(ValueError):
    """A name that must not reach git; the text says which and why."""


def checked_full_name(full_name: str) -> str:
    """`owner/name` unchanged. Raises `BadName`."""
    owner, _, name = full_name.partition("/")
    if not _OWNER.match(owner) or not _REPOSITORY.match(name) or name in (".", ".."):
        raise BadName(f"{full_name!r} is no GitHub repository name (owner/name)")
    return full_name


def checked_sha(sha: str) -> str:
    """A full object id in lower-case hex, unchanged. Raises `BadName`."""
    if not _SHA.match(sha):
        raise BadName(f"{sha[:80]!r} is no full object id (40 or 64 hex digits, lower case)")
    return sha


def checked_ref(ref: str) -> str:
    """A branch name of letters, digits and `. _ / -`, unchanged. Raises `BadName`."""
    bad_part = any(part in ("", ".", "..") or part.endswith(".lock") or part[0] == "." for part in ref.split("/"))
    if not _REF.match(ref) or bad_part or ".." in ref or ref[-1] in "/.":
        raise BadName(f"{ref[:80]!r} is no branch name that Seconder works with")
    return ref


def is_git_name(part: str) -> bool:
    """Whether a path component is `.git`, or some file system would take it for `.git`.

    Case, Unicode form, characters that HFS+ ignores, and NTFS short names, trailing dots, blanks and streams count.
    """
    plain = "".join(character for character in part if character not in _IGNORED_BY_HFS)
    folded = unicodedata.normalize("NFC", plain).casefold().split(":", 1)[0].rstrip(". ")
    return folded in (".git", "git~1")


def path_problem(path: str) -> str | None:
    """Why a path inside a repository is refused, or None. Paths are relative, POSIX, already decoded."""
    if not path:
        return "it is empty"
    if path.startswith("/"):
        return "it is absolute"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in path):
        return "it holds control characters or is not UTF-8"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES:,} bytes"
    parts = path.split("/")
    if len(parts) > MAX_DEPTH:
        return f"it is deeper than {MAX_DEPTH} directories"
    if any(part in ("", ".", "..") for part in parts):
        return "it has empty, '.' or '..' components"
    if any("\\" in part for part in parts):
        return "it holds a backslash"
    if any(is_git_name(part) for part in parts):
        return "it names a git directory"
    return None


@dataclass(frozen=True)
class Remote:
    """Where repositories are fetched from: the web base, and the only protocol that git may speak."""

    web: str
    protocol: str

    def url(self, full_name: str) -> str:
        """The fetch URL of `owner/name`. Raises `BadName`."""
        return f"{self.web}/{checked_full_name(full_name)}.git"


def remote_for(api_url: str) -> Remote:
    """The git side of a GitHub API base URL.

    `https://api.github.com` is github.com, `https://api.x.ghe.com` is x.ghe.com, `https://HOST/api/v3` is HOST.
    Plain http is taken on loopback only, for the local GitHub. Raises `BadName`.
    """
    parts = urlsplit(api_url)
    host = parts.hostname or ""
    if parts.username or parts.password or parts.query or parts.fragment or not re.match(r"[A-Za-z0-9.:-]+\Z", host):
        raise BadName(f"{api_url!r} is no API base URL: it needs a host, and no user, query or fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
        raise BadName(f"{api_url!r}: git needs https (http only on loopback)")
    if host == "api.github.com" or (host.startswith("api.") and host.endswith(".ghe.com")):
        return Remote(f"https://{host.removeprefix('api.')}", "https")
    path = parts.path.rstrip("/").removesuffix("/api/v3").rstrip("/")
    return Remote(f"{parts.scheme}://{parts.netloc}{path}", parts.scheme)
