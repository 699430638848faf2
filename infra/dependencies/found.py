"""What the manifests ask for, collected under one set of rules, whoever wrote them.

A requirement is a name, extras, versions and a marker, and nothing else: what names a place (a URL, a path, a
repository) or sets an option is refused with the reason. What is kept is written anew from its parts, so that nothing
of a manifest's own text reaches a tool's command line or files. Sources: PEP 508 and the dependency specifiers page of
the Python packaging user guide; pip's "Requirements File Format".
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

MAX_REQUIREMENTS = 2_000
MAX_REFUSED = 40
_SHOWN = 120
_CHARACTERS = 1_000
_PLAIN = re.compile(r"[ -~]*\Z")
_ODD = re.compile(r"[\\$`]")
_CREDENTIALS = re.compile(r"(://)[^/@\s]*@")
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar|tgz|tar\.\w{1,4})(?:\s|$)", re.IGNORECASE)
_OWN = re.compile(r"(?:file:)?\./?(?:\[([A-Za-z0-9._,\s-]*)\])?\Z")


class Tree(Protocol):
    """The files of a repository: their paths, and the text of one, or None when it cannot be read as text."""

    @property
    def paths(self) -> Collection[str]: ...

    def read(self, path: str) -> str | None: ...


@dataclass(frozen=True)
class Refusal:
    """A line of a manifest that is not acted on: which file, the line as far as it may be shown, and why."""

    where: str
    line: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.line} ({self.why})"


@dataclass
class Found:
    """Collects requirements while manifests are read. `own_name` is the project's own, in normal form.

    `own_extras` are extras of the project itself that a manifest asks for; `elsewhere` are names that the project takes
    from places of its own: they are never asked of an index, where anybody could have registered them.
    """

    own_name: str = ""
    requirements: dict[str, None] = field(default_factory=dict)
    constraints: dict[str, None] = field(default_factory=dict)
    hashes: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    own_extras: set[str] = field(default_factory=set)
    elsewhere: dict[str, str] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    left_out: int = 0

    def refuse(self, where: str, line: object, why: str) -> None:
        """Note a line that is not acted on; the first 40 are kept, the others counted."""
        if len(self.refused) >= MAX_REFUSED:
            self.left_out += 1
            return
        text = _CREDENTIALS.sub(r"\1…@", " ".join(str(line)[: 2 * _SHOWN].split()))
        shown = "".join(character for character in text if character.isprintable())
        refusal = Refusal(where, shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…", why)
        if refusal not in self.refused:
            self.refused.append(refusal)

    def want(self, where: str, text: object, constrain: bool = False) -> Requirement | None:
        """Take one requirement (or constraint), or refuse it. Returns it when it was taken."""
        parsed = self.parsed(where, text)
        if parsed is None:
            return None
        name = canonicalize_name(parsed.name)
        if name == self.own_name:
            if not constrain:
                self.own_extras |= {canonicalize_name(extra) for extra in parsed.extras}
            return None
        if name in self.elsewhere:
            self.refuse(where, text, self.elsewhere[name])
            return None
        kept = self.constraints if constrain else self.requirements
        if len(kept) >= MAX_REQUIREMENTS:
            self.refuse(where, text, f"over the limit of {MAX_REQUIREMENTS:,} requirements")
            return None
        kept[_written(parsed, without_extras=constrain)] = None
        return parsed

    def parsed(self, where: str, text: object) -> Requirement | None:
        """A requirement that names no place and hides nothing, or None: then it is among the refused."""
        why = _objection(text)
        if why is None:
            try:
                parsed = Requirement(str(text))
            except InvalidRequirement:
                why = "not a requirement"
            else:
                if parsed.url is None:
                    return parsed
                why = _place(parsed.url)
        self.refuse(where, text, why)
        return None

    def is_own(self, text: str) -> bool:
        """Whether this names the project itself, as in `-e .[test]`; its extras are noted."""
        match = _OWN.match(text.strip())
        if match is None:
            return False
        self.own_extras |= {canonicalize_name(extra.strip()) for extra in (match[1] or "").split(",") if extra.strip()}
        return True


def pin(found: Found, where: str, name: str, version: str) -> None:
    """Hold a package at the version that a lock names."""
    found.want(where, f"{name}=={version}", constrain=True)


def _objection(text: object) -> str | None:
    if not isinstance(text, str):
        return "not a text"
    if len(text) > _CHARACTERS:
        return f"longer than {_CHARACTERS:,} characters"
    if not _PLAIN.match(text) or _ODD.search(text):
        return "holds characters that no requirement has"
    bare = text.strip()
    if bare.startswith("-"):
        return "an option"
    if re.match(r"(?:git|hg|svn|bzr)\+", bare):
        return "version control"
    if "@" not in bare and (bare.startswith((".", "/", "~")) or _ARCHIVE.search(bare) or "/" in bare.split(";")[0]):
        return "a URL" if "://" in bare else "a path"
    return None


def _place(url: str) -> str:
    if re.match(r"(?:git|hg|svn|bzr)\+", url):
        return "version control"
    return "a path" if url.startswith(("file:", "/", ".")) else "a URL"


def _written(parsed: Requirement, without_extras: bool) -> str:
    extras = "" if without_extras or not parsed.extras else f"[{','.join(sorted(parsed.extras))}]"
    marker = f" ; {parsed.marker}" if parsed.marker is not None else ""
    return f"{canonicalize_name(parsed.name)}{extras}{parsed.specifier}{marker}"
