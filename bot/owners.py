"""`seconder owners`: who owns paths by a CODEOWNERS file, as the quality gate reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gates.codeowners import parse


def owners_of(codeowners: Path, paths: list[str]) -> dict[str, Any]:
    """For each path its owners (none: nobody's) and the line that decides; and the lines that GitHub leaves out.

    Paths are meant from the repository's root; a leading `./` or `/` is dropped. Raises `OSError`.
    """
    read = parse(codeowners.read_bytes())
    found = []
    for path in paths:
        rule = read.rule_for(path.removeprefix("./").removeprefix("/"))
        found.append(
            {
                "path": path,
                "owners": [owner.text for owner in rule.owners] if rule else [],
                "line": rule.line if rule else None,
                "pattern": rule.pattern if rule else None,
            }
        )
    problems = [{"line": one.line, "text": one.text, "why": one.why} for one in read.problems]
    return {"paths": found, "problems": problems}


def in_words(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = []
    for one in report["paths"]:
        where = f"  (line {one['line']}: {one['pattern']})" if one["line"] else ""
        lines.append(f"{one['path']}: {' '.join(one['owners']) or 'nobody'}{where}")
    for one in report["problems"]:
        lines.append(f"line {one['line']} is left out: {one['why']}" if one["line"] else one["why"])
    return "\n".join(lines)
