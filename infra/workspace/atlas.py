"""A map of a repository's code from its texts alone: which names each file defines, the most used first, within a size.

Names are found line by line, so that no text can make it slow or deep; nothing of the repository is executed. A file
ranks by how many other files mention a name that it defines.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infra.workspace.needs import Entry

VERSION = 1
"""Raise it when the same texts would give another map."""

MAX_FILES = 3_000
MAX_BYTES = 24 << 20
MAX_FILE_BYTES = 200_000
_LINE = 400
_SHOWN = 100
_PER_FILE = 12
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e)/|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec))\.\w+$"
)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_COMMON = 0.5  # a name that half of all files mention says nothing about a file

_PYTHON = re.compile(r"(?:    )?(?:async )?(?:def|class) (\w+)")
_SCRIPT = re.compile(
    r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|enum) (\w+)"
    r"|export (?:const|let) (\w+)|(?:module\.)?exports\.(\w+) ="
)
_GO = re.compile(r"func (?:\([^)]{1,80}\) )?(\w+)|type (\w+)")
_RUST = re.compile(r"\s{0,4}(?:pub(?:\([^)]{1,20}\))? )?(?:async )?(?:fn|struct|enum|trait|mod) (\w+)")
_JAVA = re.compile(
    r"\s{0,4}(?:(?:public|protected|abstract|final|static|data|sealed) )*(?:class|interface|enum|record) (\w+)"
)
_RUBY = re.compile(r"\s{0,4}(?:def|class|module) (?:self\.)?(\w+)")
_C = re.compile(
    r"(?!return|else|if|for|while|switch)[A-Za-z_][\w *:<>,]{1,80}[ *:](\w+)\([^;]*$|(?:class|struct) (\w+)"
)
_PHP = re.compile(r"\s{0,4}(?:(?:public|protected|static|final|abstract) )*(?:function|class|interface|trait) (\w+)")
_LANGUAGES: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys((".py", ".pyi"), _PYTHON),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), _SCRIPT),
    **dict.fromkeys((".java", ".kt", ".cs", ".scala", ".swift"), _JAVA),
    **dict.fromkeys((".c", ".cc", ".cpp", ".h", ".hpp"), _C),
    ".go": _GO,
    ".rs": _RUST,
    ".rb": _RUBY,
    ".php": _PHP,
}


@dataclass(frozen=True)
class _File:
    path: str
    names: tuple[tuple[str, str], ...]
    score: int


def is_code(path: str) -> bool:
    """Whether a file is in a language that the map knows."""
    return posixpath.splitext(path)[1] in _LANGUAGES


def chosen(entries: Sequence[Entry]) -> list[Entry]:
    """The files to read for a map, the shallow ones first, within the bounds."""
    code = [one for one in entries if is_code(one.path) and one.size <= MAX_FILE_BYTES]
    kept: list[Entry] = []
    size = 0
    for one in sorted(code, key=lambda entry: (entry.path.count("/"), entry.path))[:MAX_FILES]:
        size += one.size
        if size > MAX_BYTES:
            break
        kept.append(one)
    return kept


def outline(texts: Mapping[str, str], limit: int) -> tuple[tuple[str, str], ...]:
    """The files that define names, the most used first: path, and the path with its most used lines as text.

    All texts together have at most `limit` characters; a last one, without a path, counts what is left out. Tests are
    no part of it; what they mention counts.
    """
    mentioned: Counter[str] = Counter()
    for text in texts.values():
        mentioned.update(set(_WORD.findall(text)))
    most = max(3, round(len(texts) * _COMMON))
    files = [_file(path, text, mentioned, most) for path, text in texts.items() if not _TEST.search(path)]
    ranked = sorted((one for one in files if one.names), key=lambda one: (-one.score, one.path))
    shown: list[tuple[str, str]] = []
    size = 0
    for one in ranked:
        part = "\n".join([f"{one.path}:", *(f"  {line}" for _, line in one.names)])
        if size + len(part) + 1 > limit:
            shown.append(("", f"[{len(ranked) - len(shown)} more files; search_codebase finds what they define]"))
            break
        size += len(part) + 1
        shown.append((one.path, part))
    return tuple(shown)


def _file(path: str, text: str, mentioned: Counter[str], most: int) -> _File:
    """Its defining lines, the most mentioned kept, in the order of the file."""
    pattern = _LANGUAGES.get(posixpath.splitext(path)[1])
    found = list(_definitions(pattern, text)) if pattern is not None else []
    worth = {name: mentioned[name] - 1 if mentioned[name] <= most else 0 for name, _ in found}
    kept = sorted(found, key=lambda one: (one[0].startswith("_"), -worth[one[0]]))[:_PER_FILE]
    chosen = set(kept)
    names = tuple(one for one in dict.fromkeys(found) if one in chosen)
    return _File(path, names, sum(sorted(worth.values(), reverse=True)[:_PER_FILE]))


def _definitions(pattern: re.Pattern[str], text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        match = pattern.match(line[:_LINE])
        if match is not None:
            name = next((group for group in match.groups() if group), "")
            if name and not (name.startswith("__") and name != "__init__"):
                yield name, line.rstrip(" {:\r")[:_SHOWN]
