"""What a repository asks of changes, read from its files: commit style, sign-off, checks; and what is not followed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from infra.workspace.needs import Entry

_COMMITLINT = re.compile(r"(?:\.commitlintrc(?:\.\w+)?|commitlint\.config\.\w+|\.cz\.toml|cz\.(?:json|yaml)|\.czrc)\Z")
_CHANGELOG = re.compile(r"(?:docs/)?(?:CHANGELOG|CHANGES|HISTORY|NEWS)(?:\.\w+)?\Z", re.IGNORECASE)
_FRAGMENTS = re.compile(r"((?:changelog\.d|newsfragments|\.changeset|changes\.d|news)/)")
_ASKS_SIGN_OFF = re.compile(
    r"developer certificate of origin|\bDCO\b|signed-off-by:|git commit (?:-s\b|--signoff)", re.IGNORECASE
)
_CONVENTIONAL = re.compile(r"conventional commits|conventionalcommits", re.IGNORECASE)
_LFS = re.compile(r"^(\S+)[^\n]*\bfilter=lfs\b", re.MULTILINE)
_SHOWN = 5

FILES = (".gitattributes", ".github/dco.yml")
"""Files whose text is looked at besides the guidance."""


def sign_off(paths: Collection[str], guidance: Mapping[str, str]) -> bool:
    """Whether commits have to bear a `Signed-off-by` line (developercertificate.org; GitHub's DCO app)."""
    return ".github/dco.yml" in paths or any(_ASKS_SIGN_OFF.search(text) for text in guidance.values())


def customs(paths: Collection[str], guidance: Mapping[str, str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Customs that a change has to keep, one a line."""
    found = []
    commitlint = next((path for path in sorted(paths) if _COMMITLINT.match(path)), None)
    source = commitlint or next((path for path, text in guidance.items() if _CONVENTIONAL.search(text)), None)
    if source is not None:
        found.append(f"commit messages and titles follow Conventional Commits (`fix: …`, `feat: …`), from {source}")
    if sign_off(paths, guidance):
        found.append("commits are signed off (DCO); that is added by Seconder")
    fragments = next((match[1] for path in sorted(paths) if (match := _FRAGMENTS.match(path))), None)
    changelog = next((path for path in sorted(paths) if _CHANGELOG.match(path)), None)
    if fragments is not None:
        found.append(f"changes for users are announced by a file in {fragments}")
    elif changelog is not None:
        found.append(f"changes for users are announced in {changelog}")
    project = texts.get("pyproject.toml", "")
    checks = [name for name in ("ruff", "black", "isort", "mypy", "pyright") if f"[tool.{name}" in project]
    if checks:
        found.append(f"checked by {', '.join(checks)} as pyproject.toml configures")
    return tuple(found)


def not_followed(entries: Sequence[Entry], texts: Mapping[str, str]) -> tuple[str, ...]:
    """What of the repository the team does not see the content of, one a line."""
    notes = []
    for mode, words in (("160000", "submodules, which are empty here"), ("120000", "symbolic links, not followed")):
        paths = sorted(entry.path for entry in entries if entry.mode == mode)
        if paths:
            more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
            notes.append(f"{words}: {', '.join(paths[:_SHOWN])}{more}")
    patterns = _LFS.findall(texts.get(".gitattributes", ""))
    if patterns:
        notes.append(f"files under Git LFS are pointers here, without their content: {', '.join(patterns[:_SHOWN])}")
    return tuple(notes)
