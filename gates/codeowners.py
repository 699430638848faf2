"""Who owns a path by a CODEOWNERS file, as GitHub reads it (GitHub Docs, "About code owners").

The last line that matches a path decides alone; one without owners makes the path nobody's. Patterns are those of
gitignore without `!`, `[ ]` and a `#` behind a backslash, and with one level only behind a closing `/*`. Lines that
cannot be read are left out, and a file of 3 MB or more is no file at all. Paths are case-sensitive, names are not.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

LOCATIONS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks on the base branch; the first that exists is the only one."""
SIZE_LIMIT = 3 * 1024 * 1024
"""Bytes; a file has to stay under it."""

_USER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]*")
_TEAM = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_][A-Za-z0-9_.-]*")
_EMAIL = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+")
_TOKEN = re.compile(r"(?:\\.|[^\s\\])+\\?|\\")
DEEP = "**"


@dataclass(frozen=True)
class Owner:
    """One owner as it is written: `@login`, `@org/team` or an e-mail address."""

    kind: Literal["user", "team", "email"]
    text: str

    @property
    def key(self) -> str:
        """What tells owners apart: GitHub's names are the same in any case."""
        return self.text.casefold()


@dataclass(frozen=True)
class Rule:
    """A line that could be read: its number (from 1), its pattern as written, its owners (any one of them suffices)."""

    line: int
    pattern: str
    owners: tuple[Owner, ...]

    @cached_property
    def shape(self) -> Shape:
        """The pattern in parts, made once."""
        return _shape(self.pattern)

    def matches(self, path: str) -> bool:
        """Whether a file's path (from the root, with `/`, no leading one) falls under the pattern."""
        names = path.split("/")
        return self.shape.holds(names, frozenset(names))


@dataclass(frozen=True)
class Problem:
    """A line that GitHub leaves out, or (line 0) why it does not load the file."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Need:
    """Paths of a change whose owners stand in one line: somebody among them has to agree."""

    rule: Rule
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Codeowners:
    """A file that was read: its rules in order, and what was left out."""

    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def too_large(self) -> bool:
        """Whether GitHub does not load it for its size."""
        return any(problem.line == 0 for problem in self.problems)

    def rule_for(self, path: str) -> Rule | None:
        """The line that decides about a path: the last that matches, or None."""
        names = path.split("/")
        known = frozenset(names)
        return next((rule for rule in reversed(self.rules) if rule.shape.holds(names, known)), None)

    def needs(self, paths: Iterable[str]) -> tuple[Need, ...]:
        """The owners that a change of these paths needs, one entry per deciding line with owners, by line."""
        found: dict[int, tuple[Rule, list[str]]] = {}
        for path in dict.fromkeys(paths):
            rule = self.rule_for(path)
            if rule is not None and rule.owners:
                found.setdefault(rule.line, (rule, []))[1].append(path)
        return tuple(Need(rule, tuple(below)) for _, (rule, below) in sorted(found.items()))


def location(present: Container[str]) -> str | None:
    """Which of the files that exist GitHub reads, or None when there is none."""
    return next((path for path in LOCATIONS if path in present), None)


def parse(content: bytes) -> Codeowners:
    """Read a CODEOWNERS file. Never raises: what GitHub would leave out is among the problems."""
    if len(content) >= SIZE_LIMIT:
        return Codeowners((), (Problem(0, "", f"the file has {len(content)} bytes; GitHub loads it under 3 MB only"),))
    rules: list[Rule] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.decode("utf-8-sig", "replace").split("\n"), 1):
        tokens = _tokens(line)
        if not tokens:
            continue
        owners = [_owner(token) for token in tokens[1:]]
        why = pattern_fault(tokens[0])
        wrong = next((token for token, owner in zip(tokens[1:], owners, strict=True) if owner is None), None)
        if why is None and wrong is not None:
            why = f"{wrong} is no owner: write @login, @org/team or an e-mail address"
        if why is None:
            rules.append(Rule(number, tokens[0], tuple(owner for owner in owners if owner is not None)))
        else:
            problems.append(Problem(number, line.strip(), why))
    return Codeowners(tuple(rules), tuple(problems))


def _tokens(line: str) -> list[str]:
    """Pattern and owners of a line, without what stands behind a `#` that begins a word."""
    tokens: list[str] = []
    for token in _TOKEN.findall(line):
        if token.startswith("#"):
            break
        tokens.append(token)
    return tokens


def pattern_fault(pattern: str) -> str | None:
    """Why GitHub does not take a pattern, or None."""
    if pattern.startswith("!"):
        return "`!` does not work in CODEOWNERS: give the path a later line without owners"
    if "[" in pattern or "]" in pattern:
        return "`[ ]` does not work in CODEOWNERS, neither as a range nor as a section"
    if pattern.startswith("\\#"):
        return "a pattern cannot begin with `#`, not even behind a backslash"
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        return "the pattern ends in a backslash"
    return None


def _owner(token: str) -> Owner | None:
    if _TEAM.fullmatch(token):
        return Owner("team", token)
    if _USER.fullmatch(token):
        return Owner("user", token)
    return Owner("email", token) if _EMAIL.fullmatch(token) else None


@dataclass(frozen=True)
class Shape:
    """A pattern in parts. `end`: the match is the file itself, the file or all below it, or only what is below."""

    parts: tuple[str, ...]
    end: Literal["itself", "and below", "below"]

    @cached_property
    def _words(self) -> frozenset[str]:
        """The parts that stand for nothing but themselves: a path without one of them cannot match."""
        return frozenset(part for part in self.parts if not set(part) & set("*?\\"))

    def holds(self, names: list[str], known: frozenset[str]) -> bool:
        """Whether a path of these names (`known`: the same as a set) matches.

        All positions are followed at once: the work is bounded by parts times names, whatever the pattern.
        """
        if not self._words <= known:
            return False
        reached = {0}
        for part in self.parts:
            if part == DEEP:
                reached = set(range(min(reached), len(names) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(names) and _name_matches(part, names[at])}
            if not reached:
                return False
        if self.end == "itself":
            return len(names) in reached
        return any(at < len(names) for at in reached) or (self.end == "and below" and len(names) in reached)


def _shape(pattern: str) -> Shape:
    body, folder = pattern.removeprefix("/"), pattern.endswith("/")
    parts = body.removesuffix("/").split("/")
    if not pattern.startswith("/") and len(parts) == 1 and parts[0] != DEEP:
        parts.insert(0, DEEP)
    if parts[-1] == DEEP:
        return Shape(tuple(parts[:-1]), "below")
    if folder:
        return Shape(tuple(parts), "below")
    return Shape(tuple(parts), "itself" if set(parts[-1]) == {"*"} else "and below")


def _name_matches(part: str, name: str) -> bool:
    """One path segment against a pattern of literals, `*`, `?` and backslashes; no more steps than part times name."""
    tokens = re.findall(r"\\.|.", part, re.DOTALL)
    reached = {0}
    for token in tokens:
        if token == "*":
            reached = set(range(min(reached), len(name) + 1))
        elif token == "?":
            reached = {at + 1 for at in reached if at < len(name)}
        else:
            reached = {at + 1 for at in reached if name[at : at + 1] == token[-1]}
        if not reached:
            return False
    return len(name) in reached
