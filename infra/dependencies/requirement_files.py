"""Requirements files, read by us: pip never sees them.

Source: pip's "Requirements File Format": comments, continued lines, `-r`, `-c`, `-e` and `--hash`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from infra.dependencies.found import Found, Tree

MAX_LINES = 5_000
_DEEPEST = 5
_COMMENT = re.compile(r"(?:^|\s+)#.*$")
_INCLUDE = re.compile(r"(?:-r|-c|--requirement|--constraint)(?:\s*=\s*|\s*)(?P<path>\S.*)\Z")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=\s*|\s+)(?P<what>\S.*)\Z")
_HASH = re.compile(r"\s--hash[=\s]\s*(?P<kind>\w+):(?P<digest>[0-9A-Fa-f]+)(?=\s|\Z)")


def read(tree: Tree, path: str, found: Found) -> None:
    """Take everything that a requirements file asks for, files of the same repository that it includes as well."""
    _read(tree, path, found, constrain=False, above=())


def read_lines(tree: Tree, where: str, text: str, found: Found) -> None:
    """Take the lines of a requirements file that stand in the file `where`."""
    _take_all(tree, (where, text), found, constrain=False, above=())


def _read(tree: Tree, path: str, found: Found, constrain: bool, above: tuple[str, ...]) -> None:
    text = tree.read(path)
    if text is None:
        found.refuse(path, path, "cannot be read as text")
        return
    _take_all(tree, (path, text), found, constrain, above)


def _take_all(tree: Tree, given: tuple[str, str], found: Found, constrain: bool, above: tuple[str, ...]) -> None:
    path, text = given
    for number, line in enumerate(_logical(text)):
        if number >= MAX_LINES:
            found.refuse(path, line, f"over the limit of {MAX_LINES:,} lines")
            return
        included = _INCLUDE.match(line)
        if included is not None:
            is_constraint = constrain or line.startswith(("-c", "--constraint"))
            _include(tree, line, included["path"], found, (is_constraint, (*above, path)))
        else:
            take(path, line, found, constrain)


def take(where: str, line: str, found: Found, constrain: bool = False) -> None:
    """Take one line that includes no other file."""
    editable = _EDITABLE.match(line)
    if editable is not None:
        if not found.is_own(editable["what"]):
            found.refuse(where, line, "an editable path")
        return
    if found.is_own(line):
        return
    digests = {(match["kind"].lower(), match["digest"].lower()) for match in _HASH.finditer(line)}
    bare = _HASH.sub("", line).strip()
    if " --" in bare:
        found.refuse(where, line, "an option")
        return
    wanted = found.want(where, bare, constrain)
    good = {digest for kind, digest in digests if kind == "sha256" and len(digest) == 64}
    if wanted is None or not digests:
        return
    exact = [one.version for one in wanted.specifier if one.operator == "=="]
    if good and len(exact) == 1 and not exact[0].endswith("*"):
        found.hashes.setdefault((canonicalize_name(wanted.name), exact[0]), set()).update(good)
    else:
        found.refuse(where, line, "a hash that is not SHA-256, or of no exact version: installed unchecked")


def _include(tree: Tree, line: str, named: str, found: Found, how: tuple[bool, tuple[str, ...]]) -> None:
    constrain, above = how
    where = above[-1]
    named = named.strip().strip("\"'")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(where), named))
    if "://" in named:
        found.refuse(where, line, "a URL")
    elif named.startswith(("/", "~")) or path.startswith("../") or path == "..":
        found.refuse(where, line, "leads out of the repository")
    elif path in above or len(above) > _DEEPEST:
        found.refuse(where, line, "includes itself, or files too deep")
    elif path not in tree.paths:
        found.refuse(where, line, "no such file in the repository")
    else:
        _read(tree, path, found, constrain, above)


def _logical(text: str) -> Iterator[str]:
    """Lines with their continuations joined, without comments and blank ones."""
    joined = ""
    for raw in text.removeprefix("\ufeff").splitlines():
        # A comment's line ends the line before it, continued or not.
        if raw.lstrip().startswith("#"):
            raw = ""
        if raw.endswith("\\"):
            joined += raw[:-1] + " "
            continue
        line = _COMMENT.sub("", joined + raw).strip()
        joined = ""
        if line:
            yield line
    if joined.strip():
        yield _COMMENT.sub("", joined).strip()
